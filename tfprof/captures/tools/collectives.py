"""Collectives: what devices exchange, and how much of that time holds the steps up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.run_collectives import RunCollective
from tfprof.captures.facts.statistics import part
from tfprof.captures.facts.step_collectives import StepCollectives, collectives_in_steps
from tfprof.captures.facts.steps import Steps
from tfprof.captures.run.result import Chart, Note, ToolResult, scope_of
from tfprof.captures.run.run import Run
from tfprof.captures.tools.collective_advice import advice_on
from tfprof.captures.tools.collective_tables import tables_of
from tfprof.core.text.claims import Claim, Detail, Details, scoped, unknown
from tfprof.core.text.wording import plural
from tfprof.errors import UsageError

_PS_PER_MS = 1e9

MOST_DRAWN = 12
"""The chart shows at most so many collectives, those with the longest time in a step."""


def collectives(
    run: Run,
    *,
    host: str | None = None,
    step: Steps | None = None,
    link: float | None = None,
    classic: bool = False,
) -> ToolResult:
    """Show what devices exchange in collectives, and how much of their time is exposed.

    Args:
        run: The run.
        host: Only the times of this host. Waits are those for devices of all hosts.
        step: Only the step with this number, or the steps with these numbers.
        link: What all links of a device carry in one direction, 10^9 bytes per second, where
            captures do not state it, as for GPUs.
        classic: Has no effect: the reference has no such tool.

    Raises:
        UsageError: There is no such host or step, or the rate is not above 0.
    """
    if link is not None and not 0 < link < math.inf:
        raise UsageError(f"link={link:g} is not a rate of links in GB/s")
    known = replace(collectives_in_steps(run, run.chosen(host), step), given_link=link)
    scope = scope_of([one.name for one in known.hosts])
    if known.has_steps:
        scope = known.steps.take(known.places).scope
    return ToolResult(
        "collectives",
        "Collectives",
        claims=scoped(_claims(known), scope, "collectives on the devices of hosts"),
        tables=tables_of(known.found, known.link),
        charts=tuple(_charts(known)),
        advice=tuple(advice_on(known)),
        notes=(*run.notes, *known.steps.notes, *_notes(known)),
    )


def _claims(known: StepCollectives) -> Iterator[Claim]:
    if not known.found:
        yield unknown("step", "collective_time", _NOT_HERE if known.n_left_out else _NOTHING)
        return
    total, exposed = known.together_ps, known.exposed_ps
    details: dict[str, Detail] = {
        "collective_share": part(total, known.step_ps),
        "exposed_ms": exposed / _PS_PER_MS,
        "overlapped_ms": (total - exposed) / _PS_PER_MS,
    }
    of_what = "a step on average ({collective_share})" if known.has_steps else "the capture"
    words = f"Collectives take {{value}} of {of_what}: "
    if round(exposed) >= round(total):
        words += "all of it is exposed, as the device computes nothing meanwhile"
    elif not round(exposed):
        words += "none of it is exposed, as the device computes meanwhile"
    else:
        words += "{overlapped_ms} runs while the device computes, and {exposed_ms} is exposed"
    yield Claim(
        "step", "collective_time", total / _PS_PER_MS, "ms", details=details, words=f"{words}."
    )
    waits = [one.bare_waiting_ps for one in known.found if one.bare_waiting_ps is not None]
    if len(waits) == len(known.found) and round(exposed):
        yield _waits_of(known)
    if len(waits) < len(known.found):
        yield unknown("step", "collective_wait", _unknown_waits(known.found))
    first = known.found[0]
    if len(known.found) > 1 and round(first.exposed_ps):
        yield _longest(first, known)


def _waits_of(known: StepCollectives) -> Claim:
    words = "None of the exposed time is waiting for a late device of this capture."
    if round(known.bare_waiting_ps):
        words = (
            "Of the exposed time, {value} is waiting for the last device to come, and "
            "{transfer_ms} the exchange itself."
        )
    details: Details = {"transfer_ms": known.bare_transfer_ps / _PS_PER_MS}
    return Claim(
        "step", "collective_wait", known.bare_waiting_ps / _PS_PER_MS, "ms", details=details,
        words=words,
    )  # fmt: skip


_NOT_HERE = "No collective ran in these steps; others are in the capture."

_NOTHING = (
    "No collective of a device was recorded: devices did not exchange data, or what they did was "
    "not recorded."
)


def _unknown_waits(found: Sequence[RunCollective]) -> str:
    reasons = [one.why for one in found if one.why]
    lacking = plural(len(reasons), "collective")
    of = f"{lacking} of {len(found):,}" if len(reasons) < len(found) else lacking
    return f"How much of the time of {of} is waiting for other devices is not known: {reasons[0]}."


def _longest(first: RunCollective, known: StepCollectives) -> Claim:
    words = "The longest exposed one is {subject}, {value}"
    words += " of a step" if known.has_steps else ""
    exchange = first.place.exchange
    details: dict[str, Detail] = {"run_count": first.count}
    if exchange is not None and exchange.n_bytes is not None:
        words += " ({opcode}, {size_bytes} in each of {run_count:run} on all devices)"
        details |= {"opcode": exchange.opcode, "size_bytes": exchange.n_bytes}
    return Claim(
        first.place.name, "exposed_time", first.exposed_ps / _PS_PER_MS, "ms", details=details,
        words=f"{words}.",
    )  # fmt: skip


def _notes(known: StepCollectives) -> Iterator[Note]:
    if not known.found:
        return
    if not known.has_steps:
        why = "no collective is in the steps" if len(known.places) else "there are no steps"
        yield Note("info", f"{why}: times are those of the whole capture")
    elif known.n_left_out and not known.is_chosen:
        yield Note(
            "info",
            f"{plural(known.n_left_out, 'run')} of collectives are left out: they are outside of "
            "the steps that averages are about",
        )
    sums = sum(one.total_ps for one in known.found)
    if sums > 1.01 * known.together_ps:
        yield Note(
            "info",
            "some collectives run at the same time on a device: each of them has its whole time, "
            "so together they have more than the sentence above",
        )
    if any(one.place.exchange is None for one in known.found):
        yield Note(
            "info",
            "what some collectives exchange is unknown: the capture does not hold their program",
        )
    if not all(one.is_size_known or one.why for one in known.found):
        yield Note(
            "info",
            "how many devices take part in some collectives is unknown: waiting is that for late "
            "devices of this capture, and other devices may come later",
        )
    if known.link is not None:
        yield Note(
            "info",
            f"a device's links carry {known.link.gb_per_s:g} GB/s in one direction, by the "
            f"{known.link.source}",
        )
    if known.link is None and any(one.bus_gb_per_s for one in known.found):
        hardware = environment(known.run).hardware
        why = {
            "GPU": "captures do not state the links of a GPU",
            "CPU_ONLY": "devices of a CPU exchange by its memory or by a network",
        }.get(hardware, "no published rate of this device is known")
        yield Note("info", f"the rate of the links is unknown: {why}; --link gives it")


def _charts(known: StepCollectives) -> Iterator[Chart]:
    drawn = sorted(known.found, key=lambda one: -one.total_ps)[:MOST_DRAWN]
    if not drawn:
        return
    series: dict[str, list[float]] = {
        name: [] for name in (_WAITS, _TRANSFERS, _EXPOSED, _OVERLAPS)
    }
    for one in drawn:
        waits, transfer = one.bare_waiting_ps, one.bare_transfer_ps
        amounts = (waits or 0, transfer or 0, 0 if waits is not None else one.exposed_ps,
                   one.overlapped_ps)  # fmt: skip
        for values, amount_ps in zip(series.values(), amounts, strict=True):
            values.append(amount_ps / _PS_PER_MS)
    of = (
        f", the {len(drawn)} longest of {len(known.found)}" if len(drawn) < len(known.found) else ""
    )
    yield Chart(
        "collectives", "stacked_bar",
        f"Collectives in a step{of}" if known.has_steps else f"Collectives{of}",
        "collective", "ms", _labels(drawn),
        {name: tuple(values) for name, values in series.items() if any(values)},
    )  # fmt: skip


def _labels(drawn: Sequence[RunCollective]) -> tuple[str, ...]:
    """Names; those of several programs with these."""
    counts = Counter(one.place.name for one in drawn)
    return tuple(
        f"{one.place.name} in {one.place.program}" if counts[one.place.name] > 1 else one.place.name
        for one in drawn
    )


_WAITS = "waiting for the last device"
_TRANSFERS = "exposed exchange"
_EXPOSED = "exposed, waiting unknown"
_OVERLAPS = "overlapped by computation"
