"""The part of a run in a cache: a further question about the same files reads none of them.

What one question has found of each host is enough for many others: after ``overview`` this is so
for ``op-stats``, ``pod`` and most other tools. A question that needs more reads the files, and its
facts are added.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from tfprof.captures.parts.part import Part
from tfprof.errors import MalformedProfileError
from tfprof.files.cache import Cache, digest_of
from tfprof.files.code_state import states_of_code
from tfprof.files.watched_reads import changed_lately, state_of

_MOST_BYTES = 32 << 20
"""Of a part; 45 kB for a host of 20 MB."""


class KeptPart:
    """The part of some files, in a cache.

    It is found by the states of all files in their folders, of the code, and by the variables of
    tfprof.

    Args:
        cache: The cache.
        paths: The files, on this machine.
        environ: The environment.

    Attributes:
        is_settled: Whether the states of files prove something, as none has changed lately.

    Raises:
        OSError: A folder cannot be listed.
    """

    def __init__(self, cache: Cache, paths: Sequence[str], environ: Mapping[str, str]) -> None:
        self._cache = cache
        folders = sorted({os.path.dirname(os.path.abspath(path)) for path in paths})  # noqa: PTH100, PTH120
        names = [*folders, *(entry.path for one in folders for entry in os.scandir(one))]
        self._names = sorted(names)
        states = {name: state_of(name) for name in self._names}
        variables = sorted(item for item in environ.items() if item[0].startswith("TFPROF_"))
        self.is_settled = not changed_lately(states.values())
        self._key = digest_of(("part", list(paths), states, variables, states_of_code()))

    def part(self) -> Part | None:
        """The kept part, if there is one."""
        content = self._cache.content(self._key) if self.is_settled else None
        if content is None:
            return None
        for name in self._names:
            sys.audit("open", name, "r", os.O_RDONLY)  # so that an answer depends on them
        try:
            return Part.from_bytes(content)
        except MalformedProfileError:
            return None

    def keep(self, part: Part) -> None:
        """Keep the part of all files, with the facts of the one that is kept."""
        if not self.is_settled:
            return
        before = self.part()
        content = (part if before is None else part.with_facts_of(before)).to_bytes()
        if len(content) <= _MOST_BYTES:
            self._cache.forget(self._key)
            self._cache.keep_content(content, self._key)
