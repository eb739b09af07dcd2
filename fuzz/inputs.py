"""Which input is put to which question: the same ones for the same seed, in batches.

A batch is about one format and the questions of one part. Its number and the seed decide it, so
that any process can make it, and make it again from any place on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from fuzz.case import Format, Question
from fuzz.catalogue import LEARNED, formats, questions_of
from fuzz.formats.messages import with_hostile_value
from tests.core.wire.random_messages import mutated
from tfprof.core.wire import messages as pb

MAX_BYTES = 1_000_000
BATCH = 100
"""Executions of a batch."""
SHARES = {"wire": 20, "readers": 20, "tools": 4, "engines": 2}
"""How often a part comes up; all others have a share of 1. Readers answer in microseconds."""
_DAMAGED = 4
"""Inputs with damaged bytes that are made of one whole input."""
_DAMAGED_BYTES = 1 << 16
_ASKED = 8
"""Questions that one input is put to, if there are more."""
CORPUS = Path(__file__).parent / "corpus"


class Batch(NamedTuple):
    """Executions about one format.

    Attributes:
        number: Its place in the series of the seed.
        format: Its format's name.
        part: The part of its questions.
        size: Number of executions.
    """

    number: int
    format: str
    part: str
    size: int


class Series:
    """All inputs of a seed.

    Args:
        seed: Other seeds make other inputs.
        only: Keeps to a format, a question, or ``FORMAT/QUESTION``.

    Raises:
        ValueError: There is no such format or question.
    """

    def __init__(self, seed: int, only: str = "") -> None:
        self._seed = seed
        self._asked: dict[tuple[str, str], list[Question]] = {}
        for form in formats().values():
            for one in questions_of(form, only):
                self._asked.setdefault((form.name, one.part), []).append(one)
        if not self._asked:
            raise ValueError(f"no format and no question {only!r}")
        self._seeds = {name: _seeds(name) for name, _ in self._asked}

    def batches(self, count: int | None = None) -> Iterator[Batch]:
        """Batches with so many executions in all; endless without a number."""
        parts = sorted({part for _, part in self._asked})
        shares = [SHARES.get(part, 1) for part in parts]
        number = 0
        while count is None or count > 0:
            chance = random.Random(f"{self._seed}/{number}")
            (part,) = chance.choices(parts, shares)
            form = chance.choice(sorted(name for name, of in self._asked if of == part))
            size = BATCH if count is None else min(BATCH, count)
            yield Batch(number, form, part, size)
            number += 1
            count = None if count is None else count - size

    def questions(self, batch: Batch) -> list[Question]:
        """All questions of a batch."""
        return self._asked[batch.format, batch.part]

    def executions(self, batch: Batch) -> Iterator[tuple[bytes, Question]]:
        """Each input of a batch, with each question that it is put to."""
        chance = random.Random(f"{self._seed}/{batch.number}/inputs")
        asked, left = self.questions(batch), batch.size
        for data in _made(chance, formats()[batch.format], self._seeds[batch.format]):
            for one in asked if len(asked) <= _ASKED else chance.sample(asked, _ASKED):
                yield data, one
                left -= 1
                if not left:
                    return


def _seeds(name: str) -> list[bytes]:
    """What inputs are made of: those of the format, reproducers, and what coverage has found."""
    kept = [path for folder in (CORPUS, Path(LEARNED)) for path in files_of(folder / name)]
    return [*formats()[name].seeds(), *(path.read_bytes() for path in kept)]


def files_of(folder: Path) -> list[Path]:
    """Files of a folder in order; none if it does not exist."""
    return sorted(path for path in folder.glob("*") if path.is_file())


def _made(chance: random.Random, form: Format, seeds: Sequence[bytes]) -> Iterator[bytes]:
    while True:
        whole = chance.choice(seeds)
        kind = chance.random()
        if kind < 0.2 and (hostile := _hostile(chance, form, whole)) is not None:
            whole = hostile
        elif kind < 0.9:
            whole = form.changed(chance, whole)
        whole = whole[:MAX_BYTES]
        yield whole
        if len(whole) <= _DAMAGED_BYTES:
            for _ in range(_DAMAGED):
                yield mutated(chance, whole, seeds)[:MAX_BYTES]


def _hostile(chance: random.Random, form: Format, whole: bytes) -> bytes | None:
    """The same message with hostile values; None for other bytes than a message."""
    if form.message is None:
        return None
    try:
        message = getattr(pb, form.message).FromString(whole)
    except (DecodeError, RuntimeWarning):
        return None
    return with_hostile_value(chance, message)
