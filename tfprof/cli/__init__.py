"""The ``tfprof`` command line. Until a command runs, only click and the options are imported."""
