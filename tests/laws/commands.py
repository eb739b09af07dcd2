"""What all commands write about a run in the working folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from tfprof.cli.answer_cache import AnswerCache
from tfprof.cli.program import cli
from tfprof.cli.registry import COMMANDS, find_command
from tfprof.errors import TfprofError
from tfprof.files.cache import Cache

NOT_ABOUT_FILES = frozenset(("run", "capture", "record", "top", "ui", "mcp", "shell", "completion",
                             "demo", "doctor"))  # fmt: skip
"""Commands that record, serve, or answer about something else."""
TO_FILES = frozenset(("timeline", "pprof", "convert", "trace", "slice", "report", "dot", "history"))
"""Commands whose answer is a file."""
BUDGET = "budget.toml"
MORE_WORDS = {
    "check": ["--budget", BUDGET],
    "diff": ["other"],
    "query": ["select host, count(*), sum(self_ps) from events group by host order by host"],
}


class OnlyKept(AnswerCache):
    """A cache whose commands fail if their answer is not in it."""

    def answer(self, ctx: click.Context, run: Any) -> Any:
        """The kept answer."""

        def refused(ctx: click.Context) -> None:
            raise TfprofError("there is no kept answer")

        return super().answer(ctx, refused)


def cache_of(kind: type[AnswerCache] = AnswerCache) -> AnswerCache:
    """The cache in the working folder."""
    return kind(Cache(Path("cache").absolute(), 64 << 20), os.environ)


def names_of_commands() -> list[str]:
    """Commands that answer about files; a new one is among them."""
    return [name for name in COMMANDS if name not in NOT_ABOUT_FILES | TO_FILES]


def has_engine(name: str) -> bool:
    """Whether a command has ``--engine``."""
    command = find_command(name)
    assert command is not None
    return any("--engine" in one.opts for one in command.params)


def written_by(
    name: str, cache: AnswerCache | None = None, more: Sequence[str] = ()
) -> tuple[int, str]:
    """The exit code of a command about ``run``, and what it writes."""
    words = [name, "run", *MORE_WORDS.get(name, ()), *more]
    done = CliRunner().invoke(cli, words, obj=cache)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output
