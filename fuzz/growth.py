"""How time and memory grow with an input: doubled until it has 16 MB, or takes too long.

What grows faster than n log n is a finding, and so is what takes more than ``LIMIT_S``.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzz.budget import SLOWNESS, Budget, Finding
from fuzz.case import Format, Question
from fuzz.jail import Jail
from fuzz.workers import in_process, prepare

FIRST_BYTES, LAST_BYTES = 1 << 16, 1 << 24
LIMIT_S = 20.0
"""Processor time of one execution, whatever its size."""
_ENOUGH_S = 4.0
"""What takes longer is not doubled any more if it has grown evenly so far."""
BUDGET = Budget(
    cpu_s=LIMIT_S, wall_s=600, constant_bytes=3 << 30, bytes_per_byte=0, most_bytes=3 << 30,
    file_bytes=1 << 30,
)  # fmt: skip
_OF_MAKING = BUDGET._replace(cpu_s=300.0, most_bytes=8 << 30, constant_bytes=8 << 30)
STEEP = 1.35
"""Exponent beyond n log n, whose own is at most 1.08 in these sizes; the rest is noise."""
_LEAST_S, _LEAST_BYTES = 0.05, 32 << 20
"""Smaller figures are noise, or the same for all inputs."""
_POINTS = 4
"""Largest sizes that an exponent comes from."""


class Measure(NamedTuple):
    """One execution.

    Attributes:
        n_bytes: Size of the input.
        cpu_s: Processor time.
        memory_bytes: Peak of resident memory beside what was there before.
    """

    n_bytes: int
    cpu_s: float
    memory_bytes: int


class Curve(NamedTuple):
    """How one question grows with one thing.

    Attributes:
        format: The format's name.
        what: What grows.
        question: The question's name.
        measures: By size.
        finding: What went wrong; None for nothing.
    """

    format: str
    what: str
    question: str
    measures: Sequence[Measure]
    finding: Finding | None = None

    def exponents(self) -> tuple[float | None, float | None]:
        """Of time and of memory; None where there is too little to measure."""
        return (
            exponent([(one.n_bytes, one.cpu_s) for one in self.measures], _LEAST_S),
            exponent([(one.n_bytes, one.memory_bytes) for one in self.measures], _LEAST_BYTES),
        )

    def __str__(self) -> str:
        time_exponent, memory_exponent = self.exponents()
        last = self.measures[-1] if self.measures else Measure(0, 0.0, 0)
        cells = (
            self.format, self.what, self.question, f"{last.n_bytes / 1e6:.1f} MB",
            f"{last.cpu_s:.2f} s", _number(time_exponent),
            f"{last.memory_bytes / 1e6:.0f} MB", _number(memory_exponent),
            "" if self.finding is None else self.finding.kind,
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


HEAD = (
    "| format | grows | question | up to | time | exponent | memory | exponent | finding |\n"
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
)


def exponent(points: Sequence[tuple[int, float]], least: float) -> float | None:
    """The exponent of a power law by least squares; None for fewer than three points.

    Args:
        points: Sizes and figures.
        least: Smaller figures do not count.

    >>> round(exponent([(1, 3.0), (2, 12.0), (4, 48.0)], 1.0), 3)
    2.0
    """
    counted = [(size, figure) for size, figure in points if figure >= least][-_POINTS:]
    if len(counted) < 3:
        return None
    sizes, figures = np.log2(np.array(counted, float)).T
    return float(np.polyfit(sizes, figures, 1)[0])


def curves(form: Format, what: str, questions: Sequence[Question]) -> Iterator[Curve]:
    """How questions grow with one thing, each until it takes too long."""
    found: dict[Question, list[Measure]] = {one: [] for one in questions}
    going = dict.fromkeys(questions)
    prepare((one, form) for one in questions)
    for n_bytes in _sizes():
        if not going:
            break
        data = _made(form, what, n_bytes, questions[0])
        for one in list(going):
            measured = _measured(one, form, data)
            if isinstance(measured, Finding):
                kind = f"{measured.kind} of {what}"
                failed = measured._replace(kind=kind)
                yield Curve(form.name, what, one.name, found[one], failed)
                del going[one]
                continue
            found[one].append(measured)
            if measured.cpu_s > _ENOUGH_S * SLOWNESS:
                del going[one]
                yield _checked(form, what, one, found[one])
    for one in going:
        yield _checked(form, what, one, found[one])


def _sizes() -> Iterator[int]:
    return itertools.takewhile(
        lambda size: size <= LAST_BYTES, (FIRST_BYTES << place for place in itertools.count())
    )


def _checked(form: Format, what: str, question: Question, measures: list[Measure]) -> Curve:
    """The curve with its finding. A steep one is measured again: other programs may be running."""
    curve = Curve(form.name, what, question.name, measures)
    if not _steep(curve):
        return curve
    again, data = [], b""
    for one in measures[-_POINTS:]:
        data = _made(form, what, one.n_bytes, question)
        other = _measured(question, form, data)
        again.append(one if isinstance(other, Finding) else _least(one, other))
    curve = curve._replace(measures=[*measures[:-_POINTS], *again])
    if not (steep := _steep(curve)):
        return curve
    finding = Finding(question.name, f"{steep} of {what}", str(curve), form.name, data)
    return curve._replace(finding=finding)


def _made(form: Format, what: str, n_bytes: int, question: Question) -> bytes:
    """An input, made elsewhere: memory that is free here would hide what questions take."""
    made = in_process(_OF_MAKING, _make, question, form, b"", what, n_bytes)
    if isinstance(made, Finding):
        raise RuntimeError(f"{form.name}: no input of {n_bytes} bytes with {what}: {made.kind}")
    return bytes(made)


def _make(_: Jail, __: Question, form: Format, ___: bytes, what: str, n_bytes: int) -> bytes:
    return form.growing[what](n_bytes)


def _steep(curve: Curve) -> str:
    for figure, found in zip(("time", "memory"), curve.exponents(), strict=True):
        if found is not None and found > STEEP:
            return f"growth of {figure}"
    return ""


def _least(one: Measure, other: Measure) -> Measure:
    cpu_s, memory = min(one.cpu_s, other.cpu_s), min(one.memory_bytes, other.memory_bytes)
    return Measure(one.n_bytes, cpu_s, memory)


def _measured(question: Question, form: Format, data: bytes) -> Measure | Finding:
    result = in_process(BUDGET, _measure, question, form, data)
    if isinstance(result, Finding):
        return result
    return Measure(len(data), *result)


def _measure(
    jail: Jail, question: Question, form: Format, data: bytes
) -> tuple[float, int] | Finding:
    """Processor time in s and peak memory in bytes, or what went wrong."""
    jail.warm(question, form)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before, began = _resident("VmRSS"), time.process_time()
    found = jail.execute(question, form, data)
    spent = time.process_time() - began
    return found if found is not None else (spent, max(0, _resident("VmHWM") - before))


def _resident(field: str) -> int:
    """Bytes of resident memory, now or at most."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (found,) = re.findall(rf"{field}:\s+(\d+) kB", status)
    return int(found) * 1024


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
