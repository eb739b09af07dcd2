"""Keeps documents of pages for the next server: the first page of a run that was open before."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from typing import Final

from tfprof.files.cache import Cache, digest_of
from tfprof.files.code_state import states_of_code
from tfprof.files.watched_reads import State, changed_lately, state_of
from tfprof.inputs.opened import Opened

_LEVEL: Final = 5
_MOST_OF_ONE: Final = 4 << 20


class DocumentCache:
    """Packed documents by what they show, the states of its files, and the code.

    Args:
        cache: The files.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache, self._code = cache, states_of_code()

    def packed(self, question: object, runs: Sequence[Opened], make: Callable[[], bytes]) -> bytes:
        """A document, kept or made.

        Args:
            question: Identifies it among all documents of these runs.
            runs: The runs that it shows.
            make: Makes it.
        """
        states = _states_of(runs)
        if not states:
            return packed(make())
        key = digest_of((question, states, self._code))
        kept = self._cache.content(key)
        if kept is not None:
            return kept
        document = packed(make())
        if len(document) <= _MOST_OF_ONE and _states_of(runs) == states:
            self._cache.keep_content(document, key)
        return document


def packed(document: bytes) -> bytes:
    """The document as browsers unpack it."""
    return gzip.compress(document, _LEVEL, mtime=0)


def _states_of(runs: Sequence[Opened]) -> dict[str, State]:
    """States of all files; none if they do not tell what the runs hold."""
    states: dict[str, State] = {}
    for run in runs:
        names = () if run.files is None else run.files.names
        found = {name: state_of(name) for name in names}
        if not found or not all(found.values()) or changed_lately(found.values()):
            return {}
        states |= found
    return states
