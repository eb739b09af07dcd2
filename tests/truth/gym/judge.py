"""Compares tfprof's statements on a program with the program's own measurements.

Tolerances. A time may differ by 15 % and 0.3 ms: a clock read around a mark is that much late on a
busy machine, and profiling itself takes time in each event. A share may differ by 8 points: a
step of 3 ms has 0.25 ms at its borders that either side may count. What is stated of too little to
be sure of is compared with the ends of a ``Range``, which the truth itself cannot narrow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import tfprof
from tests.captures.facts.account import all_statements
from tests.truth.gym.claims import UNKNOWN, Claim, claims_of
from tests.truth.gym.grammar import CULPRITS
from tests.truth.gym.truth import Range, Truth, central

PART, AMOUNT_MS, POINTS = 0.15, 0.3, 0.08

DENIED, HIGHLY = 0.15, 0.10
"""From this part of waiting on, the input may not be called fast enough; below that one, it may not
be called what holds the program up most."""

EXCESS_MS = 4.0
"""Two processes that do the same on two busy cores differ by less: one of them gets what all sum up
later, and which the machine runs first the program does not know. A straggler sleeps 8 ms."""

REMARK = 0.05
"""A smaller share of the period is not a finding."""

Kind = Literal["ok", "false", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes:
        kind: ``ok``, ``false``, or ``unknown`` if tfprof says that it cannot tell.
        claim: What was stated.
        truth: What is so.
    """

    kind: Kind
    claim: Claim
    truth: str = ""


def judge(truth: Truth) -> list[Verdict]:
    """All verdicts on a recorded program."""
    found = []
    for claim in claims_of(truth.capture, budget_of(truth)):
        rule = RULES.get(claim.metric)
        if claim.value == UNKNOWN:
            found.append(Verdict("unknown", claim))
        elif rule is not None:
            problem = rule(truth, claim)
            if problem is not None:
                found.append(Verdict("false" if problem else "ok", claim, problem))
    differ = all_statements(tfprof.open_run(truth.capture)).disagreements
    together = Claim("all answers", "agreement", None, str(differ))
    found.append(Verdict("false" if differ else "ok", together, "they are about the same steps"))
    return found


Problem = str | None
"""What is so instead; empty if the claim is true, None if the program does not know."""


def _shown(ranges: list[Range], unit: str = "ms") -> str:
    ends = (f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g}–{high:.3g}"
            for low, high in ranges)  # fmt: skip
    return f"{' or '.join(ends)} {unit}"


# Steps


def _step_time(truth: Truth, claim: Claim) -> Problem:
    if truth.fact("batches_per_step", 1) > 1 and truth.is_keras_loop is False:
        return None if truth.term.framework == "jax" else _near(truth.step_time_ms, claim)
    if truth.step_span == "launch" and truth.term.body == "two":
        return None  # either function may count as a step
    return _near(truth.step_time_ms, claim)


def _near(ranges: list[Range], claim: Claim) -> str:
    if any(one.holds(claim.value, PART, AMOUNT_MS) for one in ranges):
        return ""
    return _shown(ranges)


def _n_steps(truth: Truth, claim: Claim) -> Problem:
    true = truth.n_steps
    if claim.value == 0:
        is_there = truth.is_marked and truth.records_threads and truth.term.fetch != "never"
        return f"{true} marked steps" if is_there else None
    if not truth.is_marked and (truth.is_jax or truth.term.framework == "eager"):
        return None
    if truth.term.body == "two" and not truth.is_marked and claim.value in (true, 2 * true):
        return ""
    few = max(3, true // 4)  # steps that are left out, which other sentences name
    if truth.term.fetch == "never":
        few = true - 1  # they may run after the capture
    slack = 1 if truth.is_keras_loop else 0
    return "" if true - few <= claim.value <= true + slack else f"{true} steps of training"


def _marked_steps(truth: Truth, claim: Claim) -> Problem:
    if not truth.is_marked or not truth.records_threads:
        return None
    evals, epochs = len(truth.ms("eval_mark")), len(truth.ms("epoch_mark"))
    if claim.value in {truth.n_steps, truth.n_steps + evals, truth.n_steps + epochs}:
        return ""
    return f"{truth.n_steps} steps of training, {evals} of evaluation, {epochs} epochs"


def _step_rows(truth: Truth, claim: Claim) -> Problem:
    """Each row of a step: its own mark, at most and about."""
    if not truth.is_marked:
        return None
    for name, took_ms in claim.value.items():
        word, _, number = name.rpartition(" ")
        if not number.isdigit() or (word and word != "train"):
            continue
        place = int(number)
        if place >= truth.n_steps:
            return f"{name}: there are {truth.n_steps} steps"
        if not truth.waits_in_step or truth.term.fetch == "late":
            if took_ms < 0.3 * truth.alone_ms.low:
                return f"{name}: {took_ms:.3g} ms, but {_shown(truth.step_time_ms)}"
            continue
        true = truth.row_ms(place)
        if not true.holds(took_ms, PART, 0.6):
            return f"{name}: {took_ms:.3g} ms, but {_shown([true])}"
    return ""


def _is_mostly_runtime(truth: Truth) -> bool:
    """Whether a call takes the runtime much longer than its ops, by a clock that is around both:
    it makes an iterator and its threads, or hands each trip of a loop to threads."""
    return truth.term.body == "while" or truth.term.input.kind == "in_function"


def _busy_rows(truth: Truth, claim: Claim) -> Problem:
    """In each row of a step that waits for its work, something runs as long as the work takes."""
    if not (truth.is_marked and truth.knows_work and truth.records_ops):
        return None
    if truth.term.fetch != "now":
        return None
    is_runtime, low = _is_mostly_runtime(truth), truth.alone_ms.low
    least = 0.02 * low if is_runtime else 0.6 * low - AMOUNT_MS
    for name, busy_ms in claim.value.items():
        ran_ms = busy_ms - claim.more["input"][name] if is_runtime else busy_ms
        word, _, number = name.rpartition(" ")
        if not number.isdigit() or (word and word != "train"):
            continue
        if ran_ms < least:
            return (
                f"{name}: busy for {ran_ms:.3g} ms, but its work takes {_shown([truth.alone_ms])}"
            )
        if truth.n_collectives and not claim.more["collectives"][name]:
            return f"{name}: no collective, but there is one in each step"
    return ""


def _unusual_step(truth: Truth, claim: Claim) -> Problem:
    number = claim.more["step"]
    if not truth.is_marked or "eval" in claim.more["name"] or not truth.waits_in_step:
        return None
    if not 0 <= number < truth.n_steps:
        return f"there are steps 0 to {truth.n_steps - 1}"
    took = truth.steps_ms[number]
    problem = _near([truth.row_ms(number)], claim)
    if problem:
        return f"step {number}: {problem}"
    for span, causes in _CAUSES.items():
        spent = truth.within_steps(span)[number]
        if spent > 0.6 * took:
            named = " or ".join(claim.more["causes"])
            if not re.search(causes, named):
                return f"{span}: {spent:.3g} of {took:.3g} ms, not {named}"
    return ""


_CAUSES = {
    "slow_step": "All others|no op|Python|nothing", "changed": "Compil|tracing|Host compute",
    "input": "[Ii]nput|All others|no op",
}  # fmt: skip
"""What one of the named parts of a step's additional time may be called, by what it is. Of a trace
anew, TensorFlow records a half as that: it optimises the graph after it."""


def _ops_in_steps(truth: Truth, claim: Claim) -> Problem:
    is_recorded = truth.records_ops and truth.term.fetch != "never"
    return "each step computes" if is_recorded else ""


def _step_function(truth: Truth, claim: Claim) -> Problem:
    name = claim.value
    wanted = {"scaled", "eval_step", "inner"}
    if truth.is_marked:
        return "steps are marked"
    if truth.step_span == "launch" and name in wanted:
        return "train_step is what each step calls"
    return "" if any(one in name for one in truth.functions) or name == "a session" else None


# Shares


def _input(truth: Truth, claim: Claim) -> Problem:
    share = truth.input_in_period
    if claim.value == "NOT":
        is_true = share.low < DENIED
    elif claim.value == "HIGHLY":
        is_true = max(share.high, truth.input_in_step.high) >= HIGHLY
    else:
        is_true = max(share.high, truth.input_in_step.high) >= 0.02 and share.low <= 0.4
    return "" if is_true else f"{_shown([share], 'of the period')} waits for input"


def _input_share(truth: Truth, claim: Claim) -> Problem:
    return _share([truth.input_in_step, truth.input_in_period], claim)


def _share(ranges: list[Range], claim: Claim) -> str:
    if any(one.holds(claim.value, 0.0, POINTS) for one in ranges):
        return ""
    return _shown(ranges, "is so")


def _idle_share(truth: Truth, claim: Claim) -> Problem:
    if not truth.is_marked and truth.term.body == "two":
        return None
    return _share(truth.idle_share, claim)


def _compile_share(truth: Truth, claim: Claim) -> Problem:
    return _share(truth.compile_share, claim)


def _collective_share(truth: Truth, claim: Claim) -> Problem:
    return "" if truth.has_collectives else "there is one device"


def _gap(truth: Truth, claim: Claim) -> Problem:
    if not truth.knows_gaps:
        return None
    gaps = central(truth.gaps_ms)
    return "" if gaps.holds(claim.value, PART, AMOUNT_MS) else f"{_shown([gaps])} between steps"


def _between_share(truth: Truth, claim: Claim) -> Problem:
    if not truth.knows_gaps:
        return None
    return _share([truth.between_share], claim)


def _other_steps(truth: Truth, claim: Claim) -> Problem:
    kind = claim.metric.split()[1]
    marks = truth.ms(f"{kind}_mark")
    if not marks or kind == "train":
        return f"there are no steps called {kind} beside those of training"
    if claim.more["count"] != len(marks):
        return f"{len(marks)} steps called {kind}"
    begun = truth.begun(f"{kind}_mark")
    every = sorted(truth.begun("mark") + begun)
    periods = [min((b for b in every if b > one), default=one + took) - one
               for one, took in zip(begun, marks, strict=True)]  # fmt: skip
    found = [central(marks), central(periods)]
    if truth.is_jax and truth.term.fetch != "now":  # the first waits for what is queued before it
        found.append(Range(min(marks), max(marks)))
    return _near(found, claim)


# Input


def _tf_data_seen(truth: Truth, claim: Claim) -> Problem:
    if truth.is_jax or not truth.records_ops:
        return None  # the profiler of JAX does not record TensorFlow
    return "there is a pipeline" if truth.uses_tf_data else ""


def _is_culprit(truth: Truth, name: str) -> bool:
    cost = truth.term.input.cost
    if truth.term.input.kind == "python":
        return name in ("Generator", "FlatMap")
    plain = re.sub(r"^Parallel|V\d+$", "", name)
    plain = {"MapAndBatch": "Map"}.get(plain, plain)
    return cost == "none" or plain in CULPRITS[cost]


def _slow_iterator(truth: Truth, claim: Claim) -> Problem:
    if not truth.uses_tf_data:
        return "there is no pipeline"
    if _is_culprit(truth, claim.value) or truth.input_in_period.high < REMARK:
        return ""
    if claim.value.startswith("Prefetch"):
        return ""  # a call waits for it; the statement says that it is not the cause
    if claim.value == "Root" and "That was the first" in claim.text:
        return ""  # it starts the threads of the others
    return f"{truth.term.input.cost} is what is slow"


def _advice_on_input(truth: Truth, claim: Claim) -> Problem:
    share = truth.input_in_period
    said = float(claim.value or 0.0)
    if share.high < REMARK and truth.input_in_step.high < REMARK:
        return f"{_shown([share], 'of the period')} waits for input"
    if not any(one.holds(said, 0.0, POINTS) for one in (share, truth.input_in_step)):
        return f"{_shown([truth.input_in_step, share], 'waits for input')}"
    op = str(claim.more["evidence"].get("op", ""))
    return _iterator_problem(truth, op, claim.text)


def _iterator_problem(truth: Truth, op: str, text: str) -> str:
    if not op:
        return ""
    if not truth.uses_tf_data:
        return "there is no pipeline of tf.data"
    if op == "MakeIterator":
        return "" if truth.term.input.anew else "one iterator is made"
    name = re.sub(r"\[.*\]$", "", op.rsplit("::", 1)[-1])
    is_named_below = "Below it" in text
    if not _is_culprit(truth, name) and not (name.startswith("Prefetch") and is_named_below):
        return f"{truth.term.input.cost} is what is slow, not {name}"
    if "cache()" in text and truth.term.input.cache:
        return "it is cached already"
    if re.search(r"Set num_parallel_calls", text) and truth.term.input.parallel > 1:
        return "its calls are parallel already"
    has_generator = truth.term.input.kind == "python" or truth.term.input.cost == "generator"
    if "TFRecord files instead" in text and not has_generator:
        return "no Python generator is in the pipeline"
    return ""


def _advice_prefetch(truth: Truth, claim: Claim) -> Problem:
    if truth.term.input.prefetch:
        return "it ends with a prefetch already"
    return "" if truth.uses_tf_data else "there is no pipeline of tf.data"


def _advice_slow_iterator(truth: Truth, claim: Claim) -> Problem:
    if truth.input_in_period.high < REMARK:
        return f"{_shown([truth.input_in_period], 'of the period')} waits for input"
    return _iterator_problem(truth, str(claim.more["evidence"].get("op", "")), claim.text)


# Advice


def _advice_python(truth: Truth, claim: Claim) -> Problem:
    if truth.is_marked or truth.term.body != "two":
        found = truth.idle_share
        if truth.waits_in_step:
            found = [*found, truth.idle_while_steps_last]
        wrong = _share(found, claim)
        if wrong:
            return wrong
    term = truth.term
    is_one_call = term.body in ("jit", "scan", "while", "products", "compiled", "nested", "asleep",
                                "pmap", "shard_map") and term.framework != "eager"  # fmt: skip
    others = [truth.within_steps(span) for span in ("input", "python", "copies", "tiny_ops")]
    slept = sum(map(sum, others)) / max(sum(truth.steps_ms), 1e-9)
    advises = re.search(r"whole step into one (jax\.jit|tf\.function)", claim.text)
    if advises and is_one_call and "tiny_ops" not in term.disturbances and slept > 0.25:
        return f"the step is one call; {slept:.0%} of it is the program's own code before it"
    return ""


def _advice_eager(truth: Truth, claim: Claim) -> Problem:
    if truth.term.framework == "eager" or "tiny_ops" in truth.term.disturbances:
        return ""
    return "the step is a function already"


def _advice_run_eagerly(truth: Truth, claim: Claim) -> Problem:
    return "no function runs eagerly"


def _advice_retracing(truth: Truth, claim: Claim) -> Problem:
    count = truth.fact("n_traces", 0)
    if not count:
        return "nothing is traced anew"
    function = str(claim.more["evidence"].get("function", ""))
    if "scaled" not in function:
        return "scaled is what is traced anew"
    found = re.search(r"went to (\d+) of (\d+) calls", claim.text)
    if found and int(found[1]) != count:
        return f"{count} of {count} calls traced"
    return ""


def _advice_compiling(truth: Truth, claim: Claim) -> Problem:
    wrong = _share(truth.compile_share, claim)
    found = re.search(r"in (\d+) of (\d+) steps", claim.text)
    if wrong or found is None:
        return wrong
    left_out = 2  # unusual steps are
    if truth.n_changed - left_out <= int(found[1]) <= truth.n_changed:
        return ""
    return f"{truth.n_changed} of {truth.n_steps} steps"


def _advice_collectives(truth: Truth, claim: Claim) -> Problem:
    return _collective_share(truth, claim)


def _advice_straggler(truth: Truth, claim: Claim) -> Problem:
    if truth.term.devices != "processes":
        return "there is one process"
    evidence = claim.more["evidence"]
    if "straggler" not in truth.term.disturbances:
        excess_ms = float(evidence["own_ms"]) - float(evidence["others_ms"])
        return "both processes do the same" if excess_ms > EXCESS_MS else None
    host = str(evidence.get("host"))
    return "" if host == "worker-1" else "worker-1 sleeps in each step"


def _advice_copies(truth: Truth, claim: Claim) -> Problem:
    given = truth.term.input.kind
    copies = "copies" in truth.term.disturbances or given in ("python", "thread", "tfdata")
    return "" if copies or truth.term.communicates else "nothing is copied"


def _advice_small_ops(truth: Truth, claim: Claim) -> Problem:
    many = truth.term.body in ("tiny", "while") or "tiny_ops" in truth.term.disturbances
    return "" if many else "a step has few ops"


# The gate


def budget_of(truth: Truth) -> str:
    """Limits at half of the truth, which are exceeded, and at twice the truth, which are met."""
    ranges = truth.step_time_ms
    low, high = min(one.low for one in ranges), max(one.high for one in ranges)
    lines = [f'step_time = ["<= {0.5 * low:.6f} ms", "<= {2 * high + 0.6:.6f} ms"]']
    share = truth.input_in_period
    limits = []
    if share.low > 2 * POINTS:
        limits.append(0.5 * share.low)
    if max(share.high, truth.input_in_step.high) < 0.4:
        limits.append(2 * max(share.high, truth.input_in_step.high) + POINTS)
    if limits:
        lines.append(f"input_share = [{', '.join(_percent(one) for one in limits)}]")
    idle = max(one.high for one in truth.idle_share)
    if idle < 0.4 and truth.input_in_period.high < 0.1:
        lines.append(f"idle_share = [{_percent(2 * idle + POINTS)}]")
    count = truth.fact("n_compilations")
    if count is not None:
        some = [f'"<= {count}"'] + ([f'"<= {count - 1}"'] if count else [])
        lines.append(f"compilations = [{', '.join(some)}]")
    traces = truth.fact("n_traces")
    if traces:
        lines.append(f'retraces = ["<= {traces}", "<= {traces - 1}"]')
    return "\n".join(lines) + "\n"


def _percent(share: float) -> str:
    return f'"<= {100 * share:.2f} %"'


def _checked(true: Callable[[Truth], Range | None]) -> Callable[[Truth, Claim], Problem]:
    def checked(truth: Truth, claim: Claim) -> Problem:
        what, limit = true(truth), claim.more["limit"]
        if what is None or limit is None:
            return None
        if claim.value == "met" and what.low > limit:
            return f"{what.low:.4g} to {what.high:.4g} exceeds {limit:.4g}"
        if claim.value == "exceeded" and what.high <= limit:
            return f"{what.low:.4g} to {what.high:.4g} is within {limit:.4g}"
        return ""

    return checked


def _step_time_us(truth: Truth) -> Range | None:
    if not truth.is_marked and truth.term.body == "two":
        return None
    ranges = truth.step_time_ms
    return Range(1e3 * min(r.low for r in ranges), 1e3 * max(r.high for r in ranges))


def _input_checked(truth: Truth) -> Range:
    return Range(truth.input_in_period.low,
                 max(truth.input_in_period.high, truth.input_in_step.high))  # fmt: skip


def _exactly(fact: str) -> Callable[[Truth], Range | None]:
    def exactly(truth: Truth) -> Range | None:
        count = truth.fact(fact)
        return None if count is None else Range(count, count)

    return exactly


RULES: dict[str, Callable[[Truth, Claim], Problem]] = {
    "step_time": _step_time,
    "n_steps": _n_steps,
    "marked_steps": _marked_steps,
    "step_rows": _step_rows,
    "busy_rows": _busy_rows,
    "unusual_step": _unusual_step,
    "ops_in_steps": _ops_in_steps,
    "steps_without_work": _ops_in_steps,
    "step_function": _step_function,
    "input": _input,
    "input_share": _input_share,
    "idle_share": _idle_share,
    "compile_share": _compile_share,
    "collective_share": _collective_share,
    "gap": _gap,
    "between_share": _between_share,
    "other_steps eval": _other_steps,
    "other_steps epoch": _other_steps,
    "other_steps train": _other_steps,
    "tf_data_seen": _tf_data_seen,
    "slow_iterator": _slow_iterator,
    "advice input-pipeline/bound": _advice_on_input,
    "advice input-pipeline/prefetch": _advice_prefetch,
    "advice input-pipeline/slow-iterator": _advice_slow_iterator,
    "advice python/unexplained": _advice_python,
    "advice tf-function/eager": _advice_eager,
    "advice tf-function/run-eagerly": _advice_run_eagerly,
    "advice tf-function/retracing": _advice_retracing,
    "advice compilation/share": _advice_compiling,
    "advice collectives/share": _advice_collectives,
    "advice collectives/small": _advice_collectives,
    "advice workers/straggler": _advice_straggler,
    "advice ops/small": _advice_small_ops,
    "advice copies/to-device": _advice_copies,
    "check step_time": _checked(_step_time_us),
    "check input_share": _checked(_input_checked),
    "check idle_share": _checked(
        lambda truth: Range(0.0, max(one.high for one in truth.idle_share))
    ),
    "check compilations": _checked(_exactly("n_compilations")),
    "check retraces": _checked(_exactly("n_traces")),
}
"""What judges the claims about each metric."""


def false_ones(verdicts: list[Verdict]) -> Iterator[Verdict]:
    """The claims that are not so."""
    return (one for one in verdicts if one.kind == "false")
