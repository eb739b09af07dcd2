"""The entry point: runs the program, or answers a shell's request for completions."""

from __future__ import annotations

import gc
import os
import sys

from tfprof.cli import COMPLETE_VARIABLE, EXIT_INTERRUPTED


def main() -> None:
    """Run the command line of this process."""
    # The data stay until the process ends, and collecting garbage in them takes a tenth of the
    # time. What runs longer turns it on again.
    gc.disable()
    try:
        from tfprof.cli.answer_cache import answer_cache  # here, as Ctrl-C may come meanwhile
        from tfprof.cli.program import cli

        if COMPLETE_VARIABLE in os.environ:
            _register_shells()
        cli.main(prog_name="tfprof", complete_var=COMPLETE_VARIABLE, obj=answer_cache(os.environ))
    except KeyboardInterrupt:  # also raised between the handlers of cli.main
        sys.exit(EXIT_INTERRUPTED)


def _register_shells() -> None:
    """Register our completer with click; this process only answers the shell."""
    from click.shell_completion import add_completion_class

    from tfprof.cli.completion.protocol import SHELLS

    for completer in SHELLS.values():
        add_completion_class(completer)
