"""Command lines: what ``tfprof`` does with a file, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from fuzz.case import Question
from tfprof.cli.program import cli

OUT = "written"
"""How the names begin of files that a command is to write."""


def commands(formats: Iterable[str], lines: Iterable[str]) -> list[Question]:
    """A question for each command line.

    Args:
        formats: Names of formats.
        lines: Command lines without the program; the file's path takes the place of ``FILE``.
    """
    return [
        Question(f"tfprof {line}", frozenset(formats), _asks(line.split()), "commands")
        for line in lines
    ]


def _asks(words: list[str]) -> Callable[[Path], None]:
    def ask(path: Path) -> None:
        try:
            run_command([str(path) if word == "FILE" else word for word in words])
        finally:
            for written in Path().glob(f"{OUT}*"):
                _remove(written)

    return ask


def run_command(words: list[str]) -> None:
    """Run a command as the program does, but for the exit.

    Raises:
        TfprofError: What the program reports in one line.
    """
    with contextlib.suppress(click.ClickException, click.exceptions.Exit):
        cli.main(words, prog_name="tfprof", standalone_mode=False)


def _remove(path: Path) -> None:
    if path.is_dir():
        for inside in path.iterdir():
            _remove(inside)
        path.rmdir()
    else:
        path.unlink()
