"""Is a program limited by its input? The reference's rules and thresholds, in our own words.

Their source is ``op_stats_to_input_pipeline_analysis.cc`` and ``…_to_overview_page.cc``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.captures.facts.steps import CATEGORIES, RunSteps

HIGHLY_INPUT_BOUND = 20.0
MODERATELY_INPUT_BOUND = 5.0
MODERATE = 3.0
HIGH = 15.0


Judged = tuple[str, str]
"""A level (``no``, ``moderate`` or ``high``) and a sentence, which is empty for ``no``."""

NONE: Judged = ("no", "")


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What limits steps; percentages are of the time of all steps.

    Attributes:
        kind: ``host`` (input), ``both`` (perhaps input), ``device`` (not input), ``unknown``.
        statement: The same in words.
        input_percent: Waiting for input and copying it to devices.
        kernel_launch: Launching kernels.
        all_other: Unexplained time.
        device_collectives: Communication of devices.
        output: Copying results to the host.
        sparse_core: Embedding work on TPUs.
        compilation: Tracing and compiling functions.
        between: Time that is in no step.
    """

    kind: str
    statement: str
    input_percent: float
    kernel_launch: Judged = NONE
    all_other: Judged = NONE
    device_collectives: Judged = NONE
    output: Judged = NONE
    sparse_core: Judged = NONE
    compilation: Judged = NONE
    between: Judged = NONE

    @property
    def statements(self) -> dict[str, Judged]:
        """The reference's further statements, by its names."""
        return {
            "kernel_launch": self.kernel_launch,
            "all_other": self.all_other,
            "device_collectives": self.device_collectives,
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """Further sentences."""
        more = (self.output, self.sparse_core, self.compilation, self.between)
        return tuple(text for _, text in (*self.statements.values(), *more) if text)


UNKNOWN = Bottleneck(
    "unknown", "No step time was measured, so it is unknown where the time of a step goes.", 0.0
)


def reference_bottleneck(steps: RunSteps, *, uses_tf_data: bool = False) -> Bottleneck:
    """Judge steps as the reference does: all steps of the first host.

    Args:
        steps: The steps that count.
        uses_tf_data: There is tf.data activity, which competes with launches for the CPU.
    """
    first = steps.hosts[0] if steps.hosts else None
    total = 0 if first is None else int(first.times.duration_ps.sum())
    if first is None or not total:
        return UNKNOWN
    share = {
        category.key: 100.0 * int(first.of(category, classic=True).sum()) / total
        for category in CATEGORIES
    }
    waiting, other = share["infeed"], share["other"]
    kind, statement = input_verdict(waiting, other)
    is_other_said = kind == "both" and waiting < MODERATELY_INPUT_BOUND
    return Bottleneck(
        kind,
        statement,
        waiting,
        kernel_launch=on_launches(share["kernel_launch"], uses_tf_data=uses_tf_data),
        all_other=NONE
        if is_other_said
        else judged(
            other,
            "of the step time is not explained by recorded events",
            high=", which is often Python working between the ops",
        ),
        device_collectives=on_collectives(share["device_collectives"]),
    )


def input_verdict(waiting: float, other: float) -> tuple[str, str]:
    """Kind and statement, by the percentages of waiting for input and of unexplained time."""
    if waiting < MODERATELY_INPUT_BOUND and other >= MODERATE:
        return "both", (
            f"The program is POTENTIALLY input-bound: {other:.1f}% of the step time is not "
            "explained by recorded events; reading files or Python may be the cause."
        )
    return waiting_verdict(waiting)


def waiting_verdict(waiting: float) -> tuple[str, str]:
    """Kind and statement, by the percentage of waiting for input alone."""
    if waiting >= HIGHLY_INPUT_BOUND:
        return "host", (
            f"The program is HIGHLY input-bound: {waiting:.1f}% of the step time is waiting for "
            "input. Make the input pipeline faster first."
        )
    if waiting >= MODERATELY_INPUT_BOUND:
        return "both", (
            f"The program is MODERATELY input-bound: {waiting:.1f}% of the step time is waiting "
            "for input. Look at the input pipeline as well as at the rest."
        )
    return "device", (
        f"The program is NOT input-bound: only {waiting:.1f}% of the step time is waiting for "
        "input. Make the rest faster."
    )


def on_launches(percent: float, *, uses_tf_data: bool) -> Judged:
    """On the time of launching kernels."""
    remedy = (
        ". tf.data works on the same CPUs: give the GPU threads of their own with "
        "TF_GPU_THREAD_MODE=gpu_private"
    )
    words = "of the step time goes to launching kernels"
    return judged(percent, words, high=remedy if uses_tf_data else "")


def on_collectives(percent: float) -> Judged:
    """On the time of communication."""
    return judged(percent, "of the step time goes to communication between devices")


def judged(percent: float, words: str, high: str = "") -> Judged:
    """The level of a percentage, and a sentence from the first threshold on."""
    if percent < MODERATE:
        return NONE
    if percent < HIGH:
        return "moderate", f"{percent:.1f}% {words}."
    return "high", f"{percent:.1f}% {words}{high}."
