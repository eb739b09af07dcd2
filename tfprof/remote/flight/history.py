"""The steps of a worker over many snapshots, including the ones that a snapshot cut.

A snapshot cuts the step that is under way: its mark is lost. What is left are the steps before and
after it, and what ``tfprof.capture.step`` leaves at its end if it took 2 ms or more: how long.
Where nothing was recorded for a while, numbers tell how many steps there were, and the time how
slow one of them was.

A history is a value: ``after`` makes the next one from a window, and reports the steps of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.claims import Claim, Detail
from tfprof.remote.flight.snapshots import NO_STEPS, Steps

T = TypeVar("T")

MOST_BEFORE = 1000
"""Steps that a step is compared with, and times between steps."""
MOST_KINDS = 16
"""Kinds of steps with a past; those that came last stay."""
FEWEST_BEFORE = 10
"""With fewer steps, the usual step time is unknown."""

_MOST_CUTS, _FEWEST_CUTS = 20, 3
_SPREAD = 3.0
"""A snapshot may delay the steps that it cuts by this multiple of its median delay."""

_USUAL = 3.0
"""Up to this multiple of the median, a step counts as usual."""

_SAME_NS = 1_000_000

Baseline = Mapping[str, "float | None"]
"""What steps are compared with, in seconds: ``median``, ``mean`` and ``p99`` of those before."""


class Window(NamedTuple):
    """The steps of one snapshot.

    Attributes:
        steps: Its steps.
        start_ns: When it began.
        stop_ns: When it ended.
        answer_seconds: How long the program took to send the snapshot. It is slower meanwhile,
            which must not count against the steps that this snapshot cuts.
    """

    steps: Steps
    start_ns: int
    stop_ns: int
    answer_seconds: float = 0.0


class StepSeen(NamedTuple):
    """A step, or what is left of it.

    Attributes:
        first: Its number; of a cut one the first number that it may have. -1 without numbers.
        last: Its number; of a cut one the last number that it may have. -1 while it goes on and
            its number is not certain.
        seconds: How long it took, or has taken so far. Of a cut one without its end this is what
            its neighbours leave for it, if others took as long as usual.
        least: The same if what lies between steps was as long as it ever was, and the snapshot
            delayed the program: so long it took for certain.
        is_whole: Whether the snapshot has its mark.
        is_exact: Whether ``seconds`` comes from its own marks.
        is_open: Whether the step is still running.
        is_unseen: Whether nothing was recorded while it ran: it is one of several, or something
            between them.
        begin_ns: When it began at the earliest.
        end_ns: When it ended at the latest, or the snapshot did.
        kind: Its name in the program, without digits.
        before: The steps before it.
    """

    first: int
    last: int
    seconds: float
    least: float
    is_whole: bool
    is_exact: bool
    is_open: bool
    begin_ns: int
    end_ns: int
    kind: str
    before: Baseline
    is_unseen: bool = False

    def is_same(self, other: StepSeen) -> bool:
        """Whether this may be the step that another snapshot has shown before it ended."""
        if self.kind != other.kind:
            return False
        if self.is_exact and other.is_exact:
            return self.first == other.first and abs(self.begin_ns - other.begin_ns) < _SAME_NS
        return self.begin_ns < other.end_ns and other.begin_ns < self.end_ns

    @property
    def claim(self) -> Claim:
        """How long it took, or has taken so far."""
        which, took = "a step" if self.first < 0 else "step {first:.0f}", "took {value:.3g} s"
        if self.is_open and self.last < 0:  # the program may have made its last step
            which = "no step" if self.first < 0 else "no step from {first:.0f} on"
            took = "has ended for {value:.3g} s"
        elif self.is_open:
            took = "has taken {value:.3g} s so far"
        elif not self.is_exact:
            took = "took about {value:.3g} s"
            if self.last > self.first:
                which = "one of the steps {first:.0f} to {last:.0f}"
            if self.is_unseen:
                which += ", or what lies between them,"
        details: dict[str, Detail] = {"first": self.first, "last": self.last, "kind": self.kind}
        details |= {f"{name}_s": one for name, one in self.before.items() if one is not None}
        return Claim(
            "step", "step_time", self.seconds, "s", self.least, details=details,
            basis="its own mark" if self.is_exact else "what the steps around it leave",
            words=f"{which} {took}",
        )  # fmt: skip

    def __str__(self) -> str:
        return self.claim.text


@dataclass(frozen=True, slots=True)
class History:
    """The steps of all snapshots so far.

    Attributes:
        kinds: The past of each kind of step, by name.
        are_marked: Whether the program marks its steps.
        n_steps: Steps whose time is known.
    """

    kinds: Mapping[str, _Past] = field(default_factory=dict)
    are_marked: bool = False
    n_steps: int = 0

    def after(self, window: Window) -> tuple[History, list[StepSeen]]:
        """The history with another window, and the steps of that window in order of time."""
        steps = window.steps
        if self.are_marked and not steps.are_marked:
            steps = NO_STEPS
        kinds = dict(self.kinds)
        if steps.are_marked and not self.are_marked:  # what was guessed before were not steps
            kinds = {}
        is_silent = not len(steps)
        seen: list[StepSeen] = []
        for name in dict.fromkeys([*kinds, *steps.kinds]):
            past, found = kinds.get(name, _Past()).after(
                name, window._replace(steps=steps.of(name)), is_silent=is_silent
            )
            kinds[name] = past
            seen += found
        if len(kinds) > MOST_KINDS:  # names with a hash in them, of programs that run for days
            latest = sorted(kinds, key=lambda name: (kinds[name].last or (0, 0))[1])[-MOST_KINDS:]
            kinds = {name: kinds[name] for name in kinds if name in set(latest)}
        seen.sort(key=lambda step: (step.begin_ns, step.end_ns))
        is_marked = self.are_marked or steps.are_marked
        return History(kinds, is_marked, self.n_steps + len(steps)), seen

    def interrupted(self) -> History:
        """The history after a pause without a session, in which the program went on."""
        kinds = {
            name: replace(past, was_paused=True, n_cuts=0, answers=0.0)
            for name, past in self.kinds.items()
        }
        return replace(self, kinds=kinds)

    @property
    def usual_seconds(self) -> float | None:
        """The longest usual time of a step, of all kinds; None if it is unknown."""
        medians = [
            float(np.median(past.durations))
            for past in self.kinds.values()
            if len(past.durations) >= FEWEST_BEFORE
        ]
        return max(medians, default=None)


@dataclass(frozen=True, slots=True)
class _Past:
    """What is left of the steps of one kind before a window.

    Attributes:
        durations: Of the latest steps, in seconds.
        gaps: Between steps that follow each other, in seconds.
        strides: Differences of their numbers.
        delays: Of the latest cuts: time too much, as a share of the time of the answer.
        last: Number and end of the latest step whose end is known.
        has_ends: Whether the program records how long a cut step took, unless it was short.
        n_cuts: Snapshots since the end of the latest step.
        answers: How long their answers took, in seconds.
        was_paused: Nothing was recorded for a while after the latest step.
    """

    durations: tuple[float, ...] = ()
    gaps: tuple[float, ...] = ()
    strides: tuple[int, ...] = ()
    delays: tuple[float, ...] = ()
    last: tuple[int, int] | None = None
    has_ends: bool = False
    n_cuts: int = 0
    answers: float = 0.0
    was_paused: bool = False

    def after(self, kind: str, window: Window, *, is_silent: bool) -> tuple[_Past, list[StepSeen]]:
        """This past with another window.

        Args:
            kind: Their name.
            window: With steps of this kind only.
            is_silent: No step of any kind has ended in it.
        """
        steps, before = window.steps, self._baseline(window.steps)
        past, found = self, list[StepSeen]()
        if len(steps):
            starts = steps.starts_ns + window.start_ns
            past, found = self._with_steps(kind, steps, starts, before)
        if is_silent:
            found += past._silence(kind, window, before)
        return past._with_border(window, before["median"]), found

    def _with_steps(
        self, kind: str, steps: Steps, starts_ns: Int64Array, before: Baseline
    ) -> tuple[_Past, list[StepSeen]]:
        ends_ns = starts_ns + steps.durations_ns
        seconds = (steps.durations_ns / 1e9).tolist()
        past = self._with_gaps(steps.numbers, starts_ns, ends_ns)
        past = replace(past, has_ends=self.has_ends or bool(steps.has_ended.any()))
        number, start_ns = int(steps.numbers[0]), int(starts_ns[0])
        if self.was_paused:
            found = past._unseen(kind, number, start_ns, before)
        else:
            past, found = past._with_cut(kind, number, start_ns, before)
        found += [
            StepSeen(number, number, took, took, not cut, True, False, start, end, kind, before)
            for number, took, cut, start, end in zip(
                steps.numbers.tolist() if steps.are_marked else [-1] * len(steps), seconds,
                steps.has_ended.tolist(), starts_ns.tolist(), ends_ns.tolist(), strict=True,
            )
        ]  # fmt: skip
        return replace(
            past, durations=_latest(past.durations, seconds), n_cuts=0, answers=0.0,
            was_paused=False,
            last=(int(steps.numbers[-1]), int(ends_ns[-1])) if steps.are_marked else None,
        ), found  # fmt: skip

    def _baseline(self, now: Steps) -> Baseline:
        """Statistics of the steps before; of these steps themselves where too few came before."""
        seconds = np.array(self.durations)
        if len(seconds) < FEWEST_BEFORE:
            seconds = np.concatenate([seconds, now.durations_ns / 1e9])
        if len(seconds) < FEWEST_BEFORE:
            return {"median": None, "mean": None, "p99": None}
        return {
            "median": float(np.median(seconds)),
            "mean": float(seconds.mean()),
            "p99": float(np.quantile(seconds, 0.99)),
        }

    def _with_gaps(self, numbers: Int64Array, starts: Int64Array, ends: Int64Array) -> _Past:
        """Usual time between consecutive steps, also across a snapshot."""
        if self.last is not None and not self.was_paused:
            numbers = np.concatenate([[self.last[0]], numbers])
            starts = np.concatenate([[self.last[1]], starts])
            ends = np.concatenate([[self.last[1]], ends])
        strides = np.diff(numbers)
        known = strides[strides > 0].tolist()
        past = replace(self, strides=_latest(self.strides, known))
        follows = strides == past._stride
        gaps = np.maximum(starts[1:] - ends[:-1], 0)[follows] / 1e9
        return replace(past, gaps=_latest(self.gaps, gaps.tolist()))

    @property
    def _stride(self) -> int:
        return int(np.median(self.strides)) if self.strides else 1

    @property
    def _usual_gap(self) -> float:
        return float(np.median(self.gaps)) if self.gaps else 0.0

    @property
    def _longer_gap(self) -> float:
        """How much longer than usual one gap may be."""
        return max(self.gaps) - self._usual_gap if self.gaps else 0.0

    @property
    def _usual_delay(self) -> float:
        return float(np.median(self.delays)) if len(self.delays) >= _FEWEST_CUTS else 1.0

    def _with_cut(
        self, kind: str, number: int, start_ns: int, before: Baseline
    ) -> tuple[_Past, list[StepSeen]]:
        """The steps between the latest one and the next one, across snapshots."""
        usual = before["median"]
        n_cut, between = self._passed(number, start_ns)
        if usual is None or self.has_ends or not n_cut:
            return self, []
        excess = between - n_cut * usual - (n_cut + 1) * self._usual_gap
        seconds = usual + excess - self._usual_delay * self.answers
        spread = _SPREAD * np.sqrt(n_cut - 1) * _deviation(self.durations)
        delay = (min(_SPREAD * self._usual_delay, 1.0) - self._usual_delay) * self.answers
        least = seconds - self._longer_gap - delay - spread
        past = self
        if self.answers > 0:
            share = min(max(excess / self.answers, 0.0), 1.0)
            past = replace(self, delays=_latest(self.delays, [share], _MOST_CUTS))
        last = number - self._stride
        return past, self._guessed(last, max(seconds, 0.0), float(least), start_ns, kind, before)

    def _passed(self, number: int, start_ns: int) -> tuple[int, float]:
        """How many steps lie between the latest one and another, in how many seconds.

        0 steps if there are none, or it is not known how many.
        """
        if self.last is None:
            return 0, 0.0
        n_steps, rest = divmod(number - self.last[0], self._stride)
        seconds = (start_ns - self.last[1]) / 1e9
        return (0 if rest or seconds <= 0 else max(n_steps - 1, 0)), seconds

    def _guessed(
        self, last: int, seconds: float, least: float, end_ns: int, kind: str, before: Baseline,
        *, is_open: bool = False, is_unseen: bool = False,
    ) -> list[StepSeen]:  # fmt: skip
        """A step after the latest one, of which there is no mark."""
        assert self.last is not None
        number, begin_ns = self.last
        return [
            StepSeen(
                number + self._stride, last, seconds, max(least, 0.0), False, False, is_open,
                begin_ns, end_ns, kind, before, is_unseen,
            )
        ]  # fmt: skip

    def _unseen(self, kind: str, number: int, start_ns: int, before: Baseline) -> list[StepSeen]:
        """The steps between the latest one and the next one in a time without recording.

        Any one of them may have caused the whole delay, so they are reported as one step.
        """
        median = before["median"]
        n_unseen, between = self._passed(number, start_ns)
        if median is None or not n_unseen:
            return []
        usual = np.array([took for took in self.durations if took <= _USUAL * median] or [median])
        gaps = np.array(self.gaps or [0.0])
        excess = between - n_unseen * float(usual.mean()) - (n_unseen + 1) * float(gaps.mean())
        seconds = float(usual.mean()) + excess
        spread = _SPREAD * np.sqrt(n_unseen * (usual.var() + gaps.var()))
        least = seconds - self._longer_gap - float(spread)
        last = number - self._stride
        return self._guessed(last, max(seconds, 0.0), least, start_ns, kind, before, is_unseen=True)

    def _with_border(self, window: Window, usual: float | None) -> _Past:
        """This past after the end of a snapshot, which may cut a step.

        A window between two cut steps has at most a part of each and what lies between them. A
        longer one without steps is part of one step, which was cut already.
        """
        seconds = (window.stop_ns - window.start_ns) / 1e9
        longest = 2 * (usual or 0.0) + self._usual_gap + self._longer_gap
        is_inside = not len(window.steps) and seconds > longest
        return replace(
            self,
            n_cuts=max(self.n_cuts if is_inside else self.n_cuts + 1, 1),
            answers=self.answers + window.answer_seconds,
        )

    def _silence(self, kind: str, window: Window, before: Baseline) -> list[StepSeen]:
        """A whole snapshot in which no step has ended: one may go on."""
        usual = before["median"]
        if self.last is None or usual is None or self.last[1] > window.start_ns or self.was_paused:
            return []
        n_ended = self.n_cuts  # each snapshot may have cut one
        passed = (window.stop_ns - self.last[1]) / 1e9
        seconds = passed - self._usual_gap
        least = seconds - n_ended * (usual + self._usual_gap) - self._longer_gap - self.answers
        return self._guessed(-1, seconds, least, window.stop_ns, kind, before, is_open=True)


def _latest(old: tuple[T, ...], new: Sequence[T], most: int = MOST_BEFORE) -> tuple[T, ...]:
    return (*old, *new)[-most:]


def _deviation(seconds: tuple[float, ...]) -> float:
    """Standard deviation of most values; a few outliers do not change it."""
    low, high = np.quantile(seconds, [0.25, 0.75]) if seconds else (0.0, 0.0)
    return float(high - low) / 1.349
