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
        # Here, as Ctrl-C may come meanwhile.
        from tfprof.cli.signals import clean_up_at_signals, end_at_signals

        clean_up_at_signals()
        from tfprof.cli.answer_cache import answer_cache
        from tfprof.cli.program import cli

        if COMPLETE_VARIABLE in os.environ:
            _register_shells()
        try:
            cli.main(
                prog_name="tfprof", complete_var=COMPLETE_VARIABLE, obj=answer_cache(os.environ)
            )
        finally:
            end_at_signals()
    except KeyboardInterrupt:  # also raised between the handlers of cli.main
        sys.exit(EXIT_INTERRUPTED)


def _register_shells() -> None:
    """Register our completer with click; this process only answers the shell."""
    from click.shell_completion import add_completion_class

    from tfprof.cli.completion.protocol import SHELLS

    for completer in SHELLS.values():
        add_completion_class(completer)
