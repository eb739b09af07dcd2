"""The ``tfprof`` command line. Until a command runs, only click and the options are imported."""

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""

COMPLETE_VARIABLE = "_TFPROF_COMPLETE"
"""Set by a shell that requests completions, by click's protocol."""
