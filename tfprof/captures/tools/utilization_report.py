"""Utilization: MFU and HFU of the steps, how far each scope is from the speed of light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof.captures.facts.steps import Steps
from tfprof.captures.facts.utilization import Utilization, utilization_of
from tfprof.captures.hlo.call_costs import CallCosts, costs_of_text
from tfprof.captures.run.result import Chart, Note, ToolResult, scope_of
from tfprof.captures.run.run import Run
from tfprof.captures.tools.utilization_tables import (
    NO_SCOPE,
    Scope,
    call_table,
    has_roofline,
    operands_text,
    scope_table,
    scopes_of,
    utilization_table,
)
from tfprof.core.text.claims import Claim, Details, scoped, unknown
from tfprof.errors import UsageError

_LARGEST = 1e24
"""Larger numbers of a step are impossible, and what is computed from them may not be finite."""

_BASIS = "ops that ran in the periods of the steps, and shapes in compiled programs"


def utilization(
    run: Run,
    *,
    host: str | None = None,
    step: Steps | None = None,
    device: str | None = None,
    tokens_per_step: float | str | None = None,
    examples_per_step: float | str | None = None,
    flops_per_step: float | str | None = None,
    costs: CallCosts | str | None = None,
    classic: bool = False,
) -> ToolResult:
    """Show MFU and HFU of the steps, with the formula, and the gap of each scope to the roofline.

    Args:
        run: The run.
        host: The devices of this host only.
        step: Only the step with this number, or the steps with these numbers.
        device: Peak rates of one device: a name such as ``h100``, or operations and bytes per
            second, ``989e12,3.35e12``; None for what the capture says, or what was measured on its
            machine.
        tokens_per_step: Tokens in a step on all devices, for rates.
        examples_per_step: Examples in a step on all devices.
        flops_per_step: Float operations of the model in a step on all devices, by your own count.
        costs: Costs of custom calls (``tfprof.register_cost``), or the same as JSON.
        classic: The reference has no such tool: no difference.

    Raises:
        UsageError: There is no such host, step or device, or a number is not above 0.
    """
    del classic
    given = costs_of_text(costs) if isinstance(costs, str) else costs
    found = utilization_of(
        run, host=host, step=step, device=device or None, costs=given,
        flops_per_step=_number("flops_per_step", flops_per_step),
    )  # fmt: skip
    tokens = _number("tokens_per_step", tokens_per_step)
    examples = _number("examples_per_step", examples_per_step)
    scopes = scopes_of(found)
    scope = scope_of([one.name for one in run.chosen(host)], step)
    tables = {
        "mfu": utilization_table(found, tokens, examples),
        "scopes": scope_table(found, scopes),
        "calls": call_table(found),
    }
    return ToolResult(
        "utilization",
        "Utilization",
        claims=scoped(_claims(found, scopes, tokens, examples), scope, _BASIS),
        tables=tables if found.n_steps else {},
        charts=tuple(_charts(found, scopes)),
        notes=(*run.notes, *found.steps.notes, *_notes(found)),
    )


def _number(name: str, given: float | str | None) -> float | None:
    if given is None or given == "":
        return None
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= _LARGEST:
        raise UsageError(
            f"--{name.replace('_', '-')} {given}: is not a number above 0, up to {_LARGEST:g}"
        )
    return number


def _claims(
    found: Utilization, scopes: Sequence[Scope], tokens: float | None, examples: float | None
) -> Iterator[Claim]:
    yield _on_mfu(found)
    if found.mfu is not None:
        yield _on_hfu(found)
    if found.peak.flops_per_s and found.ops:
        yield _on_peak(found)
    for subject, per_step in (("tokens", tokens), ("examples", examples)):
        if per_step is not None and found.period_s and found.n_devices:
            per_s = per_step / found.period_s
            form = ",.0f" if per_s >= 1000 * found.n_devices else ",.3g"
            yield Claim(
                subject, "rate", per_s, "per_s", details={"device_rate": per_s / found.n_devices},
                words=f"{{value:{form}}} {{subject}} per second, {{device_rate:{form}}} by device.",
            )  # fmt: skip
    widest = next((one for one in scopes if one.gap_ps and one.name != NO_SCOPE), None)
    if widest is not None and has_roofline(found) and not found.unknown:
        per_ms = 1e9 * found.n_device_steps
        yield Claim(
            widest.name, "roofline_gap", widest.gap_ps / per_ms, "ms",
            details={"known_ms": widest.known_ps / per_ms,
                     "roofline_ms": widest.roofline_ps / per_ms},
            words="Furthest from the speed of light: {subject:folded}, whose ops take {known_ms} "
            "of a step, and {roofline_ms} at peak rates.",
        )  # fmt: skip


MOST_DRAWN = 12
"""The chart shows at most so many scopes, those furthest from the speed of light."""


def _charts(found: Utilization, scopes: Sequence[Scope]) -> Iterator[Chart]:
    drawn = [one for one in scopes if one.known_ps][:MOST_DRAWN]
    if not drawn or not has_roofline(found) or found.unknown:
        return
    per_ms = 1e9 * found.n_device_steps
    yield Chart(
        "speed_of_light", "stacked_bar", "Scopes in a step, and the speed of light", "scope", "ms",
        tuple(one.name for one in drawn),
        {
            "at peak rates": tuple(one.roofline_ps / per_ms for one in drawn),
            "above that": tuple(one.gap_ps / per_ms for one in drawn),
        },
    )  # fmt: skip


def _on_mfu(found: Utilization) -> Claim:
    if found.unknown:
        return unknown("step", "mfu", f"MFU is unknown: {found.unknown}.")
    details: Details = {
        "model_flops": float(found.model_flops.mean()), "period_ms": found.period_s * 1e3,
        "bound": "at least " if found.is_least and not found.is_given else "",
        "device_count": found.n_devices,
    }  # fmt: skip
    if found.mfu is None:
        return Claim(
            "step", "mfu", None, unknown=found.reason, details=details,
            words="A step of {period_ms} has {bound}{model_flops} of the model. MFU is unknown: "
            "{unknown}.",
        )  # fmt: skip
    details["peak_gflops_per_s"] = found.peak.flops_per_s / 1e9
    return Claim(
        "step", "mfu", found.mfu, "fraction", details=details,
        words="MFU is {bound}{value}: {model_flops} of the model in a step, in {period_ms} on "
        "{device_count:device} of {peak_gflops_per_s}.",
    )  # fmt: skip


def _on_hfu(found: Utilization) -> Claim:
    again = float(found.executed_flops.sum() - found.model_flops.sum()) / found.n_steps
    details: Details = {"bound": "at least " if found.is_least else ""}
    if found.hfu is None:
        return unknown(
            "step", "hfu", f"HFU is unknown: {found.nothing_counted or 'no product ran'}."
        )
    if found.is_given:
        words = "HFU is {bound}{value}, of the products that ran."
    elif again > 0:
        details["again_flops"] = again
        words = "HFU is {bound}{value}: {again_flops} of a step are computed a second time."
    else:
        of = "counted product" if found.is_least else "product"
        words = f"HFU is the same: no {of} is computed a second time."
    return Claim("step", "hfu", found.hfu, "fraction", details=details, words=words)


def _on_peak(found: Utilization) -> Claim:
    peak = found.peak
    operands = operands_text(found.types)
    details: Details = {
        "precision": peak.precision, "source": peak.source, "operands": operands,
    }  # fmt: skip
    precision = "" if peak.precision == "as given" else " for {precision}"
    of_operands = " Operands of products are {operands}." if operands else ""
    return Claim(
        "device", "peak_rate", peak.flops_per_s / 1e9, "gflops_per_s", details=details,
        words=f"The peak rate of a device is {{value}}{precision}: {{source}}.{of_operands}",
    )  # fmt: skip


def _notes(found: Utilization) -> Iterator[Note]:
    if found.peak.remedy and not found.unknown:
        yield Note("warning", f"{found.peak.unknown}: {found.peak.remedy}")
    if found.ops and found.is_least and not found.unknown:
        yield Note(
            "warning",
            f"{found.uncounted_share:.1%} of the self time of ops is not counted, as the float "
            "operations of these ops are not known: the table calls lists them, and --costs FILE "
            "states them; until then utilization is a lower bound",
        )
    if found.ops and not found.unknown:
        yield Note(
            "info",
            "float operations are those of matrix products and convolutions, as in papers on MFU; "
            "others stand beside them",
        )
    if found.mfu is not None and max(found.mfu, found.hfu or 0.0) > 1:
        yield Note(
            "warning",
            "utilization above 100% means that the peak rate is not that of this device, or that "
            "the float operations are not those of these steps",
        )
    if found.peak.flops_per_s and not found.peak.bytes_per_s and found.n_steps:
        yield Note("info", "the bandwidth of the memory is not known, so no scope has a "
                   "time at peak rates")  # fmt: skip
