"""What a drawn program knows of itself, as ranges that a true statement falls into.

A range has two ends where a statement may rightly mean one of several things (the mean or the
median of the steps, with the unusual ones or without), or where the program has only bounds.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.truth.gym.grammar import Term, from_json
from tests.truth.own_clock import CAPTURE, FAILURE, TRUTH


class Range(NamedTuple):
    """From the least to the most that is true."""

    low: float
    high: float

    def holds(self, value: float, part: float = 0.0, amount: float = 0.0) -> bool:
        """Whether a value is inside, or outside by no more than a part and an amount."""
        return self.low * (1 - part) - amount <= value <= self.high * (1 + part) + amount

    def joined(self, other: Range) -> Range:
        """The least range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def central(values: Sequence[float]) -> Range:
    """The mean and the median, with and without the unusual values."""
    usual = [one for one in values if one <= 3 * statistics.median(values)] or list(values)
    found = [function(some) for some in (values, usual)
             for function in (statistics.fmean, statistics.median)]  # fmt: skip
    return Range(min(found), max(found))


def shares(parts: Sequence[float], wholes: Sequence[float]) -> Range:
    """The parts of the wholes, with and without the largest wholes, parts, and other parts."""
    found = []
    rows = sorted(zip(wholes, parts, strict=True))
    for left_out in (0, 1, 2, len(rows) // 5):
        kept = rows[: len(rows) - left_out]
        found.append(sum(part for _, part in kept) / max(sum(whole for whole, _ in kept), 1e-9))
    rest = statistics.median(whole - part for whole, part in rows)
    usual = [row for row in rows if row[0] - row[1] <= 3 * rest] or rows
    found.append(sum(part for _, part in usual) / max(sum(whole for whole, _ in usual), 1e-9))
    ratios = [part / max(whole, 1e-9) for whole, part in rows]
    found += [statistics.median(ratios), statistics.fmean(ratios)]
    return Range(max(0.0, min(found)), min(1.0, max(found)))


NOTHING = Range(0.0, 0.0)

_CALL_MS = 0.5
"""What Python takes at most to call an iterator, as far as the quickest call shows it: the clock is
around the call, and not all of it is waiting."""


@dataclass(frozen=True)
class Truth:
    """One recorded program.

    Attributes:
        folder: Of the program.
    """

    folder: Path

    @property
    def capture(self) -> Path:
        """What it recorded."""
        return self.folder / CAPTURE

    @cached_property
    def failure(self) -> str:
        """Why there is no capture; empty if there is one."""
        for name in (FAILURE, TRUTH):
            path = self.folder / name
            if name == FAILURE and path.is_file():
                return path.read_text("utf-8")
            if name == TRUTH and not path.is_file():
                return "nothing was recorded"
        return ""

    @cached_property
    def term(self) -> Term:
        """The program."""
        return from_json((self.folder / "term.json").read_text("utf-8"))

    @cached_property
    def _known(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / TRUTH).read_text("utf-8"))
        return found

    def fact(self, name: str, default: Any = None) -> Any:
        """A count or a name that the program noted."""
        return self._known["facts"].get(name, default)

    def ms(self, span: str) -> list[float]:
        """How long each of its spans took."""
        found: list[float] = self._known["spans_ms"].get(span, [])
        return found

    def begun(self, span: str) -> list[float]:
        """When each of them began."""
        found: list[float] = self._known["begun_ms"].get(span, [])
        return found

    # Steps

    @property
    def is_keras_loop(self) -> bool:
        """Whether the loop is Keras' own."""
        return self.term.framework == "keras" and self.term.body != "train_on_batch"

    @property
    def is_jax(self) -> bool:
        """Whether a call returns before it has computed."""
        return "jax" in (self.term.framework, self.term.backend)

    @property
    def records_threads(self) -> bool:
        """Whether the capture holds what threads did."""
        return self.term.host_tracer > 0

    @property
    def records_ops(self) -> bool:
        """Whether the capture holds ops: of TensorFlow by the usual level only."""
        return self.term.host_tracer > (0 if self.is_jax else 1)

    @property
    def is_marked(self) -> bool:
        """Whether the program marks its steps."""
        return self.term.marks != "none"

    @cached_property
    def step_span(self) -> str:
        """The span that is a step: the mark, or the call if there is none."""
        return "call" if self.is_keras_loop else "mark" if self.is_marked else "launch"

    @cached_property
    def n_steps(self) -> int:
        """Steps of training."""
        return len(self.ms(self.step_span))

    @cached_property
    def steps_ms(self) -> list[float]:
        """How long each mark or call took."""
        return self.ms(self.step_span)

    @cached_property
    def periods_ms(self) -> list[float]:
        """From the start of a step to the start of the next; of the last, to its end."""
        begun = self.begun(self.step_span)
        return [after - before for before, after in pairwise(begun)] or self.steps_ms

    def row_ms(self, place: int) -> Range:
        """How long a step took on any process, without and with the time until the next."""
        found = self.ms("launch")[:1] if place == 0 else []  # the first mark imports, and is not in
        evaluations = self.begun("eval_mark")
        for begun, took in self._of_processes:
            ended = begun[place] + took[place]
            later = [one for one in (*begun, *evaluations) if one >= ended]
            found += [took[place], min(later, default=ended) - begun[place]]
            if self.term.fetch == "late" and place + 1 < len(begun):  # there its work may end
                found.append(begun[place + 1] + took[place + 1] - begun[place])
        return Range(min(found), max(found))

    @cached_property
    def _of_processes(self) -> list[tuple[list[float], list[float]]]:
        """When steps began and how long they took, in each process that trains."""
        found = [(self.begun(self.step_span), self.steps_ms)]
        for path in sorted(self.folder.glob(f"*.{TRUTH}")):
            other = json.loads(path.read_text("utf-8"))
            found.append((other["begun_ms"][self.step_span], other["spans_ms"][self.step_span]))
        return found

    @cached_property
    def alone_ms(self) -> Range:
        """The work of a step with free input and nothing else, waited for."""
        if self.is_keras_loop:
            alone: list[float] = self.fact("alone_periods_ms")
            return Range(0.6 * min(alone), 2.0 * max(alone))
        measured = self.ms("alone")
        half = len(measured) // 2
        medians = map(statistics.median, (measured[:half], measured[half:]))
        return Range(min(measured), max(measured[half - 1], *medians))

    @cached_property
    def waits_in_step(self) -> bool:
        """Whether a step's mark or call holds its computation."""
        if not self.is_jax:
            return True
        if self.is_keras_loop or self.step_span == "launch":
            return False
        return self.term.fetch in ("now", "late") or self.term.framework == "keras"

    @cached_property
    def whole_ms(self) -> float:
        """From the start of the first step until all has been computed, for each step."""
        begun = self.begun("iteration") or self.begun(self.step_span)
        ends = [
            begin + took
            for span in ("iteration", "drain", self.step_span)
            for begin, took in zip(self.begun(span), self.ms(span), strict=True)
        ]
        return (max(ends) - begun[0]) / self.n_steps

    @cached_property
    def step_time_ms(self) -> list[Range]:
        """What "a step takes" may mean: the mark if it holds the work, the period, the work."""
        whole = Range(self.whole_ms, self.whole_ms)
        if self.waits_in_step:
            found = [whole]
            for begun, took in self._of_processes:
                found += [central(took), central([b - a for a, b in pairwise(begun)] or took)]
            return found
        if self.term.fetch == "never":  # several runs in a queue may slow each other down
            paces = [Range(self.alone_ms.low, 2 * self.alone_ms.high)]
            loop = central(self.periods_ms)
            return [loop, *paces] if loop.low >= self.alone_ms.low else paces
        return [whole, self.alone_ms.joined(whole)]

    @cached_property
    def extremes_ms(self) -> Range:
        """Between these lie all marks and periods."""
        all_of = [*self.steps_ms, *self.periods_ms, self.whole_ms, *self.alone_ms]
        if not self.waits_in_step:
            all_of = [one for one in all_of if one >= 0.5 * self.alone_ms.low]
        return Range(min(all_of), max(all_of))

    # Where the time goes

    def within_steps(self, span: str, *, whole_period: bool = False) -> list[float]:
        """How much of a span began in each step, or in each period."""
        begun = self.begun(self.step_span)
        ends = [b + d for b, d in zip(begun, self.steps_ms, strict=True)]
        if whole_period:
            ends = [*begun[1:], float("inf")]
        found = [0.0] * len(begun)
        for begin, took in zip(self.begun(span), self.ms(span), strict=True):
            for place, (low, high) in enumerate(zip(begun, ends, strict=True)):
                if low <= begin < high:
                    found[place] += took
        return found

    @cached_property
    def _is_input_clocked(self) -> bool:
        """Whether the program's own clock is around all of its waiting for input."""
        kind = self.term.input.kind
        return not self.is_keras_loop and kind != "in_function"

    @property
    def input_span(self) -> str:
        """The span of waiting for input."""
        return "made" if self.term.input.kind == "callback" else "input"

    @cached_property
    def input_in_step(self) -> Range:
        """Part of the marks, or calls, that waits for input; at most with all copies to devices."""
        if not self._is_input_clocked:
            return self._input_by_difference
        waited = self.within_steps(self.input_span)
        return self._not_hidden(self._with_copies(waited, self.steps_ms))

    @cached_property
    def input_in_period(self) -> Range:
        """Part of the time from step to step that does."""
        if not self._is_input_clocked:
            return self._input_by_difference
        waited = self.within_steps(self.input_span, whole_period=True)
        if self.term.marks in ("compute", "none") and self.input_span == "input":
            waited = self.ms("input")[1:]  # that of a step comes before it
        return self._not_hidden(self._with_copies(waited, self.periods_ms))

    def _with_copies(self, waited: Sequence[float], wholes: Sequence[float]) -> Range:
        copied = self.within_steps("copies")
        both = [one + other for one, other in zip(waited, copied, strict=False)]
        count = len(wholes)
        call_ms = min(*waited, _CALL_MS) if waited else 0.0
        within = [one - call_ms for one in waited[:count]]
        found = shares(waited[:count], wholes).joined(shares(within, wholes))
        return found.joined(shares(both[:count], wholes[: len(both)]))

    def _not_hidden(self, found: Range) -> Range:
        """While a program waits for input, devices may still work on the steps before."""
        if self.waits_in_step and self.term.fetch == "now":
            return found
        if not self.is_jax:
            return found
        idle = 1.0 - 1.2 * self.alone_ms.high / max(self.whole_ms, 1e-9)
        return Range(max(0.0, min(found.low, idle)), found.high)

    @cached_property
    def _input_by_difference(self) -> Range:
        """What is left of the steps when the work alone and other known spans are taken off."""
        given = self.term.input
        if given.kind == "none" or given.cost == "none" or given.cache:
            # Pipelines take a little in any case, and a loop makes its iterator anew in each step.
            return Range(0.0, 1.0 if given.kind == "in_function" else 0.25)
        periods = self.periods_ms if self.is_keras_loop else self.steps_ms
        known = [0.0] * len(periods)
        for span in ("callback", "checkpoint", "gc", "evaluation"):
            if self.is_keras_loop:
                more = self.within_steps(span, whole_period=True)
                known = [a + b for a, b in zip(known, more, strict=False)]
        rows = list(zip(periods, known, strict=True))
        undisturbed = [(took, other) for took, other in rows if other <= took / 2]
        ends = [
            max(0.0, sum(took - other for took, other in some) - len(some) * alone)
            / sum(took for took, _ in some)
            for some in (rows, undisturbed or rows)
            for alone in self.alone_ms
        ]
        low, high = min(ends), max(ends)
        if given.kind == "in_function":
            high = 1.0  # the work alone makes iterators, too
        if self.is_keras_loop and self.ms("made") and self._making_share < 0.85:
            low = 0.0  # Keras reads ahead: what is not always busy is mostly ready in time
        return Range(low, min(1.0, high))

    @cached_property
    def _making_share(self) -> float:
        """Part of the time of all steps in which batches are made."""
        begun, reached, busy = self.begun("made"), 0.0, 0.0
        for begin, took in sorted(zip(begun, self.ms("made"), strict=True)):
            busy += max(0.0, begin + took - max(begin, reached))
            reached = max(reached, begin + took)
        return busy / max(self.whole_ms * self.n_steps, 1e-9)

    @cached_property
    def idle_share(self) -> list[Range]:
        """Part of the marks, and of the periods, in which nothing computes.

        Input that its framework's profiler does not record may or may not count as such.
        """
        found = [self._idle(self.steps_ms, ("python", "slow_step"))] if self.waits_in_step else []
        idle = ("python", "slow_step", "callback", "checkpoint", "gc")
        whole = [*self.periods_ms, self.steps_ms[-1]]
        found.append(self._idle(whole, idle, whole_period=True))
        return found

    @property
    def idle_while_steps_last(self) -> Range:
        """Part of the periods in which nothing computes within the marks."""
        inside = self._idle(self.steps_ms, ("python", "slow_step"))
        part = sum(self.steps_ms) / max(sum(self.periods_ms) + self.steps_ms[-1], 1e-9)
        return Range(inside.low * min(part, 1.0), inside.high)

    def _idle(
        self, wholes: Sequence[float], spans: Sequence[str], *, whole_period: bool = False
    ) -> Range:
        slept = [
            sum(row)
            for row in zip(
                *(self.within_steps(span, whole_period=whole_period) for span in spans),
                strict=True,
            )
        ]
        low = shares(slept, wholes).low if self.waits_in_step else 0.0
        if not self.knows_work:
            return Range(low, 1.0)
        # What is measured alone has the overhead of a call, too: some of it counts as idle.
        whole = max(sum(wholes), self.whole_ms * self.n_steps * (not self.waits_in_step))
        usual = [one for one in wholes if one <= 3 * statistics.median(wholes)]
        busy = 0.6 * self.alone_ms.low * len(wholes)
        highs = [1.0 - busy / whole, 1.0 - 0.6 * self.alone_ms.low * len(usual) / sum(usual)]
        return Range(low, max(low, *highs))

    @property
    def knows_work(self) -> bool:
        """Whether a call of the step is computing, and hardly anything else."""
        term = self.term
        plain = term.framework in ("tf", "jax", "session") and term.body != "tiny"
        return plain and self.alone_ms.low > 1.5 and term.devices != "processes"

    @cached_property
    def compile_share(self) -> list[Range]:
        """Part of the marks, and of the periods, that traces or compiles."""
        inside = shares(self.within_steps("changed"), self.steps_ms)
        periods = [*self.periods_ms, self.steps_ms[-1]]
        of_periods = shares(self.within_steps("changed", whole_period=True), periods)
        if not self.is_jax:
            return [inside, of_periods]
        return [Range(0.4 * one.low, one.high) for one in (inside, of_periods)]

    @property
    def n_changed(self) -> int:
        """Steps in which something was traced or compiled."""
        return len(self.ms("changed"))

    @property
    def knows_gaps(self) -> bool:
        """Whether the time between two marks is all that lies between two steps."""
        alone = self.term.marks not in ("none", "eval") and self.term.devices != "processes"
        runs_on = self.is_jax and self.term.fetch == "late"  # work of a step, after its mark
        return alone and self.waits_in_step and not runs_on

    @cached_property
    def gaps_ms(self) -> list[float]:
        """From the end of a step to the start of the next."""
        begun = self.begun(self.step_span)
        return [
            after - before - took
            for (before, after), took in zip(pairwise(begun), self.steps_ms, strict=False)
        ]

    @cached_property
    def between_share(self) -> Range:
        """Part of the time from step to step that is in no step."""
        return shares(self.gaps_ms, self.periods_ms)

    # What is there

    @property
    def functions(self) -> set[str]:
        """Its functions that a framework may call, in parts of names."""
        return {
            "train_step", "eval_step", "scaled", "padded_step", "apply_update", "inner",
            "replica_step", "one_step_on", "multi_step", "test_step", "predict_step",
        }  # fmt: skip

    @property
    def uses_tf_data(self) -> bool:
        """Whether batches come from a pipeline of tf.data."""
        keras = self.is_keras_loop and not (self.is_jax and self.term.input.kind == "python")
        return keras or self.term.input.kind in ("tfdata", "in_function")

    @property
    def can_see_tf_data(self) -> bool:
        """Whether the profiler of its framework records the iterators of tf.data."""
        return self.uses_tf_data and not self.is_jax

    @property
    def n_collectives(self) -> int:
        """How often the program's steps communicate."""
        found: int = self.fact("n_collectives", 0)
        return found

    @property
    def has_collectives(self) -> bool:
        """Whether devices talk to each other."""
        return self.term.communicates
