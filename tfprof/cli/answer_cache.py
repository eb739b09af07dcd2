"""Answers of commands, kept so that the same question about the same files costs 0.1 s.

What is kept is what a command wrote, with the states of all files and folders that it read for that
(ADR 0043). An answer is given again only if the command, its options, the look of stdout, the code
and all of these states are the same. What was written to files, depends on other programs or
machines, or ended with an error is not kept.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import click

from tfprof.cli.output import RECORDED, Recorded, Target, is_pipe, is_terminal, note
from tfprof.errors import TfprofError
from tfprof.files.cache import Cache, cache_folder, digest_of
from tfprof.files.code_state import code_folders, states_of_code
from tfprof.files.remote.path import RemotePath
from tfprof.files.watched_reads import WatchedReads, state_of

FOLDER: Final = "TFPROF_CACHE"
"""Variable that names another folder; empty for no cache."""

MOST_BYTES: Final = 64 << 20
_FILES: Final = "tfprof.answer_files"
_MOST_OF_ONE: Final = 4 << 20

_VARIABLES: Final = (
    "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LINES", "NO_COLOR", "PYTHONIOENCODING",
    "PYTHONUTF8", "TERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TZ",
)  # fmt: skip
"""Variables that change what is written, besides those that begin with TFPROF and LC."""


class AnswerCache:
    """The cache of a process that runs one command.

    Args:
        cache: The files.
        environ: The environment.
    """

    def __init__(self, cache: Cache, environ: Mapping[str, str]) -> None:
        self._cache, self._environ = cache, environ

    def answer(self, ctx: click.Context, run: Callable[[click.Context], Any]) -> Any:
        """Write the kept answer of a command; or run the command, and keep what it writes."""
        if sys.stdout is None or any(isinstance(value, RemotePath) for value in _values(ctx)):
            return run(ctx)
        try:
            key = self._key(ctx)
        except OSError:  # the working folder is gone
            return run(ctx)
        parts = self._kept(key)
        if parts is not None:
            for part in parts:
                _write_again(part)
            return None
        recorded: list[Recorded | None] = []
        ctx.meta[RECORDED] = recorded
        ctx.meta[_FILES] = self._cache
        ignored = (*code_folders(), self._cache.folder)
        reads, began_ns = WatchedReads(ignored), time.time_ns()
        reads.begin()
        result = run(ctx)
        states = reads.end(began_ns)
        if states is not None and result is None and None not in recorded:
            self._keep(key, {"reads": states, "parts": recorded})
        return result

    def _key(self, ctx: click.Context) -> str:
        environ = {
            name: value for name, value in self._environ.items()
            if name in _VARIABLES or name.startswith(("TFPROF_", "LC_"))
        }  # fmt: skip
        size = os.get_terminal_size(sys.stdout.fileno()) if is_terminal(sys.stdout) else ()
        look = (*size, is_pipe(sys.stdout), getattr(sys.stdout, "encoding", ""))
        question = (ctx.command.name, sorted(ctx.params.items()), sorted(environ.items()), look)
        return digest_of((question, os.getcwd(), states_of_code()))  # noqa: PTH109

    def _kept(self, key: str) -> list[Recorded] | None:
        content = self._cache.content(key)
        if content is None:
            return None
        kept = json.loads(content)
        if all(state_of(path) == tuple(state) for path, state in kept["reads"].items()):
            parts: list[Recorded] = kept["parts"]
            return parts
        self._cache.forget(key)
        return None

    def _keep(self, key: str, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        if len(content) <= _MOST_OF_ONE:
            self._cache.keep_content(content, key)


def kept_files() -> Cache | None:
    """The cache of the command that runs; None if it keeps nothing."""
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_FILES)


def answer_cache(environ: Mapping[str, str]) -> AnswerCache | None:
    """The cache of this process; None if it is off or has no place."""
    files = answer_files(environ)
    return None if files is None else AnswerCache(files, environ)


def answer_files(environ: Mapping[str, str]) -> Cache | None:
    """The files of kept answers; None if none are to be kept, or there is no place for them."""
    with suppress(TfprofError):
        folder = cache_folder(environ, FOLDER, "answers")
        return None if folder is None else Cache(folder, MOST_BYTES)
    return None


def _write_again(part: Recorded) -> None:
    kind, text, *look = part
    if kind == "note":
        note(text, look[0])
    else:
        Target(colour=look[0], pager=look[1]).write(text)


def _values(ctx: click.Context) -> Iterator[object]:
    for value in ctx.params.values():
        yield from value if isinstance(value, tuple) else (value,)
