"""Reads lines from a full terminal, a plain one, or a file, and runs them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.cli.output import is_terminal, note
from tfprof.cli.shell.shell import Shell

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PROMPT = "tfprof> "

_GREETING = "help lists the commands, Tab completes, Ctrl-D ends."


def run_shell(shell: Shell, history: Path | None, *, read_first: bool) -> int:
    """Run lines from stdin until it ends.

    Args:
        shell: Runs the lines.
        history: File for the typed lines; None saves none.
        read_first: Read the profile before the first prompt, not while it waits.

    Returns:
        0 at a terminal; else the exit code of the first line that failed, or 0.

    Raises:
        TfprofError: The profile cannot be read.
    """
    if read_first or not is_terminal(sys.stdin):
        shell.read()
    if not is_terminal(sys.stdin):
        run_lines(shell, sys.stdin or ())
        return shell.exit_code
    if is_terminal(sys.stdout):
        sys.stdout.write(f"{_GREETING}\n")
    if is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
        _run_terminal(shell, history, is_read=read_first)
    else:
        shell.read()
        _run_plain(shell)
    return 0


def run_lines(shell: Shell, lines: Iterable[str]) -> None:
    """Run the lines of a script; it goes on after an error."""
    for number, line in enumerate(lines):
        # Windows editors may begin a UTF-8 file with a byte order mark.
        shell.run(line if number else line.removeprefix("\ufeff"))
        if shell.is_over:
            return


def _run_plain(shell: Shell) -> None:
    while not shell.is_over:
        try:
            line = input(PROMPT)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            continue
        except EOFError:
            sys.stdout.write("\n")
            return
        shell.run(line)


def _run_terminal(shell: Shell, history: Path | None, *, is_read: bool) -> None:
    session = _prompt_session(shell, history)
    if is_read:
        _prepare_words(shell)
    while not shell.is_over:
        try:
            line = session.prompt(pre_run=None if is_read else lambda: _read_behind_prompt(shell))
        except KeyboardInterrupt:  # the line is dropped, the session goes on
            continue
        except EOFError:
            return
        finally:
            is_read = True
        run_lines(shell, line.splitlines() or [""])  # several, if they were pasted


def _read_behind_prompt(shell: Shell) -> None:
    """Read the profile while the prompt is shown; typed keys wait in the terminal.

    Messages of the reader are kept until the end, as they would disturb the line of the prompt.
    """
    from prompt_toolkit.application import get_app, run_in_terminal

    app = get_app()

    async def read() -> None:
        try:
            with contextlib.redirect_stderr(io.StringIO()) as messages:
                shell.read()
            _prepare_words(shell)
        except (Exception, KeyboardInterrupt) as error:
            app.exit(exception=error)
            return
        if messages.getvalue():
            await run_in_terminal(lambda: sys.stderr.write(messages.getvalue()))

    app.create_background_task(read())


def _prepare_words(shell: Shell) -> None:
    """Sort the words of the profile in the background, which the first Tab would wait for."""
    threading.Thread(target=shell.words.prepare, daemon=True).start()


def _prompt_session(shell: Shell, history: Path | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
    from prompt_toolkit.history import InMemoryHistory

    from tfprof.cli.shell.prompt import LineCompleter, open_history

    saved = None if history is None else open_history(history)
    if history is not None and saved is None:
        note(f"{history}: cannot be written, so the lines of this session are not saved")
    return PromptSession(
        PROMPT,
        history=saved or InMemoryHistory(),
        auto_suggest=AutoSuggestFromHistory(),
        completer=LineCompleter(shell.completer()),
        complete_in_thread=True,
        complete_while_typing=False,
        enable_history_search=True,
        enable_open_in_editor=False,
        enable_suspend=True,
    )
