"""Whether input limits a program: the rules and thresholds of the reference, in our own words.

Source: ``op_stats_to_input_pipeline_analysis.cc`` and ``…_to_overview_page.cc``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from tfprof.captures.facts.categories import CATEGORIES
from tfprof.captures.facts.steps import RunSteps
from tfprof.core.text.claims import Claim

HIGHLY_INPUT_BOUND = 20.0
MODERATELY_INPUT_BOUND = 5.0
MODERATE = 3.0
HIGH = 15.0


class Judged(NamedTuple):
    """A remark on a share of the step time.

    Attributes:
        level: ``no``, ``moderate`` or ``high``.
        claim: The statement; None for ``no``.
    """

    level: str = "no"
    claim: Claim | None = None

    @property
    def text(self) -> str:
        """The sentence; empty for ``no``."""
        return "" if self.claim is None else self.claim.text

    @classmethod
    def of(
        cls,
        level: str,
        metric: str,
        percent: float,
        words: str,
        parts: tuple[Claim, ...] = (),
        **details: str | float,
    ) -> Judged:
        """A remark on a percentage of the step time, with the words of its claim."""
        claim = Claim("step", metric, percent / 100.0, "fraction", details=details, parts=parts,
                      words=words)  # fmt: skip
        return cls(level, claim)


NONE = Judged()


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The limit of the steps; percentages are of the time of all steps.

    Attributes:
        kind: ``host`` (input), ``both`` (perhaps input), ``device`` (not input), ``unknown``.
        claim: The verdict with its share.
        input_percent: Waiting for input and copying it to devices.
        kernel_launch: Launching kernels.
        all_other: Unexplained time.
        device_collectives: Communication of devices.
        output: Copying results to the host.
        sparse_core: Embedding work on TPUs.
        compilation: Tracing and compiling functions.
        between: Time between the steps.
    """

    kind: str
    claim: Claim
    input_percent: float
    kernel_launch: Judged = NONE
    all_other: Judged = NONE
    device_collectives: Judged = NONE
    output: Judged = NONE
    sparse_core: Judged = NONE
    compilation: Judged = NONE
    between: Judged = NONE

    @property
    def statement(self) -> str:
        """The verdict in words."""
        return self.claim.text

    @property
    def statements(self) -> dict[str, Judged]:
        """Further statements of the reference, by its names for them."""
        return {
            "kernel_launch": self.kernel_launch,
            "all_other": self.all_other,
            "device_collectives": self.device_collectives,
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """Further sentences."""
        return tuple(claim.text for claim in self.remark_claims)

    @property
    def remark_claims(self) -> tuple[Claim, ...]:
        """The claims behind the further sentences."""
        more = (self.output, self.sparse_core, self.compilation, self.between)
        judged = (*self.statements.values(), *more)
        return tuple(one.claim for one in judged if one.claim is not None)


UNKNOWN = Bottleneck(
    "unknown",
    Claim(
        "step", "input_share", None, "fraction", unknown="no step time was measured",
        words="No step time was measured, so it is unknown where the time of a step goes.",
    ),
    0.0,
)  # fmt: skip


def reference_bottleneck(steps: RunSteps, *, uses_tf_data: bool = False) -> Bottleneck:
    """Judge steps as the reference does: by all steps of the first host.

    Args:
        steps: The steps that count.
        uses_tf_data: Whether there is tf.data activity, which competes with launches for the CPU.
    """
    if not steps.hosts or not (total := int(steps.hosts[0].times.duration_ps.sum())):
        return UNKNOWN
    first = steps.hosts[0]
    share = {category.key: 100.0 * int(first.of(category).sum()) / total for category in CATEGORIES}
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
            "unexplained_share",
            other,
            "of the step time is not explained by recorded events",
            high=", which is often Python working between the ops",
        ),
        device_collectives=on_collectives(share["device_collectives"]),
    )


def input_verdict(waiting: float, other: float) -> tuple[str, Claim]:
    """Kind and claim, by the percentages of waiting for input and of unexplained time."""
    claim = Claim("step", "input_share", waiting / 100.0, "fraction", waiting / 100.0)
    if waiting < MODERATELY_INPUT_BOUND and other >= MODERATE:
        return "both", replace(
            claim,
            high=(waiting + other) / 100.0,
            details={"other_share": other / 100.0},
            words="The program is POTENTIALLY input-bound: {other_share} of the step time is not "
            "explained by recorded events; reading files or Python may be the cause.",
        )
    level = input_level(waiting)
    return {"HIGHLY": "host", "MODERATELY": "both"}.get(level, "device"), replace(
        claim, words=INPUT_WORDS[level]
    )


def input_level(waiting: float) -> str:
    """How strongly a program is input-bound, by the percentage of waiting for input."""
    if waiting >= HIGHLY_INPUT_BOUND:
        return "HIGHLY"
    return "MODERATELY" if waiting >= MODERATELY_INPUT_BOUND else "NOT"


INPUT_WORDS = {
    "HIGHLY": "The program is HIGHLY input-bound: {value} of the step time is waiting for input. "
    "Make the input pipeline faster first.",
    "MODERATELY": "The program is MODERATELY input-bound: {value} of the step time is waiting for "
    "input. Look at the input pipeline as well as at the rest.",
    "NOT": "The program is NOT input-bound: only {value} of the step time is waiting for input. "
    "Make the rest faster.",
}
"""The verdict in words, by ``input_level``."""


def on_launches(percent: float, *, uses_tf_data: bool) -> Judged:
    """A remark on the time of launching kernels."""
    remedy = (
        ". tf.data works on the same CPUs: give the GPU threads of their own with "
        "TF_GPU_THREAD_MODE=gpu_private"
    )
    words = "of the step time goes to launching kernels"
    return judged("kernel_launch_share", percent, words, high=remedy if uses_tf_data else "")


def on_collectives(percent: float) -> Judged:
    """A remark on the time of communication."""
    words = "of the step time goes to communication between devices"
    return judged("collective_share", percent, words)


def judged(metric: str, percent: float, words: str, high: str = "") -> Judged:
    """The level of a percentage, with a claim if it reaches the first threshold."""
    if percent < MODERATE:
        return NONE
    if percent < HIGH:
        return Judged.of("moderate", metric, percent, f"{{value}} {words}.")
    return Judged.of("high", metric, percent, f"{{value}} {words}{high}.")
