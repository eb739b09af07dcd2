"""Servers' answers about files and folders, cached for a short time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

CHAIN = "::"
"""Between the parts of fsspec's chained URLs: ``zip://a::file://b.zip``."""

_PREFERRED_MARKS = ("etag", "md5hash", "content-md5", "checksum", "digest", "generation")
_TIMES = ("mtime", "updated", "lastmodified", "last-modified", "modified", "created")

_FRESH_SECONDS = 20.0
"""How long an answer of a server is valid, so that the same request is not repeated."""


class Details(NamedTuple):
    """A server's details of a file or folder.

    Attributes:
        is_folder: Whether it is a folder.
        size: Bytes; None if the server does not say.
        mark: Changes when the content does; empty if the server gives nothing of the kind.
        has_ranges: Whether the server is known to send parts.
    """

    is_folder: bool
    size: int | None
    mark: str
    has_ranges: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether all fields are known; lists of web servers have only names."""
        return self.is_folder or self.size is not None

    @property
    def st_size(self) -> int:
        """As in ``os.stat_result``; 0 if unknown."""
        return self.size or 0

    def differs(self, other: Details) -> bool:
        """Whether the known sizes or marks of both differ."""
        sizes, marks = {self.size, other.size} - {None}, {self.mark, other.mark} - {""}
        return len(sizes) > 1 or len(marks) > 1


def details_of(info: Mapping[str, Any], *, is_folder: bool) -> Details:
    """The details in fsspec's information on a file."""
    said = {str(key).lower(): value for key, value in info.items() if value not in (None, "")}
    key = next((key for key in (*_PREFERRED_MARKS, *_TIMES) if key in said), None)
    mark = "" if key is None else f"{key}={_text(said[key])}"
    size = said.get("size")
    return Details(is_folder, size, mark, said.get("partial") is not False)


def _text(value: Any) -> str:
    """One text for a time in either form: lists have a date, answers have seconds."""
    return str(value.timestamp() if isinstance(value, datetime) else value).strip('"')


class Known:
    """Answers about the files of a server, cached for some seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file_system: tuple[int, Any] = (-1, None)
        self._answers: dict[tuple[str, str], tuple[float, Any]] = {}

    def file_system(self, make: Callable[[], Any]) -> Any:
        """The file system of fsspec, for all threads: fsspec would make one for each."""
        with self._lock:
            if self._file_system[0] != os.getpid():  # a fork cannot use that of its parent
                self._file_system = (os.getpid(), make())
            return self._file_system[1]

    def once(self, what: str, address: str, ask: Callable[[], T]) -> T:
        """The answer to a question, from the cache or else from the server."""
        now = time.monotonic()
        asked, answer = self._answers.get((what, address), (-_FRESH_SECONDS, None))
        if now - asked >= _FRESH_SECONDS:
            answer = ask()
            self._answers[what, address] = (time.monotonic(), answer)
        found: T = answer
        return found

    def recent(self, what: str, address: str) -> Any:
        """The cached answer; None without one."""
        asked, answer = self._answers.get((what, address), (-_FRESH_SECONDS, None))
        return None if time.monotonic() - asked >= _FRESH_SECONDS else answer

    def forget(self) -> None:
        """Drop all answers."""
        self._answers.clear()
