"""Metrics as text: OpenMetrics 1.0, and the format 0.0.4 of older Prometheus servers.

Both are specified in the documentation of Prometheus, under "OpenMetrics 1.0" and "Exposition
formats".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"

_IN_TEXT = str.maketrans({"\\": "\\\\", "\n": "\\n"})
_IN_LABEL = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})
_IN_PLAIN = {"info": ("_info", "gauge"), "counter": ("_total", "counter")}

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Observations so far.

    Attributes:
        bounds: Upper bounds of the buckets but the last, ascending.
        counts: Observations in each bucket, not cumulated; one more than bounds.
        total: Their sum.
    """

    bounds: Sequence[float]
    counts: Sequence[int]
    total: float


@dataclass(frozen=True, slots=True)
class Family:
    """A metric with its samples.

    Attributes:
        name: Its name, with the unit at the end, without ``_total`` and ``_info``.
        kind: ``counter``, ``gauge``, ``info`` or ``histogram``.
        about: Its meaning.
        unit: Its unit; empty for counts and shares.
        samples: Labels and value of each.
        created: When counting began, in seconds since 1970; None for gauges.
    """

    name: str
    kind: str
    about: str
    unit: str = ""
    samples: list[tuple[Labels, float | Histogram]] = field(default_factory=list)
    created: float | None = None


def exposition(families: Sequence[Family], *, is_open: bool) -> bytes:
    """The text of metrics; those without a sample are left out.

    Args:
        families: The metrics.
        is_open: Whether in OpenMetrics; otherwise for older servers.
    """
    lines = [line for each in families if each.samples for line in _family(each, is_open=is_open)]
    if is_open:
        lines.append("# EOF")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _family(family: Family, *, is_open: bool) -> Iterator[str]:
    suffix, kind = _IN_PLAIN.get(family.kind, ("", family.kind))
    name = family.name if is_open else family.name + suffix
    about = family.about.translate(_IN_TEXT)
    yield f"# TYPE {name} {family.kind if is_open else kind}"
    if is_open and family.unit:
        yield f"# UNIT {name} {family.unit}"
    yield f"# HELP {name} {about}"
    for labels, value in family.samples:
        if isinstance(value, Histogram):
            yield from _buckets(family.name, labels, value)
        else:
            yield _sample(family.name + suffix, labels, value)
        if is_open and family.created is not None:
            yield _sample(f"{family.name}_created", labels, family.created)


def _buckets(name: str, labels: Labels, value: Histogram) -> Iterator[str]:
    n_so_far = 0
    for bound, count in zip((*value.bounds, math.inf), value.counts, strict=True):
        n_so_far += count
        yield _sample(f"{name}_bucket", {**labels, "le": _number(bound)}, n_so_far)
    yield _sample(f"{name}_count", labels, n_so_far)
    yield _sample(f"{name}_sum", labels, value.total)


def _sample(name: str, labels: Labels, value: float) -> str:
    pairs = ",".join(f'{key}="{text.translate(_IN_LABEL)}"' for key, text in labels.items())
    return f"{name}{{{pairs}}} {_number(value)}" if pairs else f"{name} {_number(value)}"


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(value) if isinstance(value, int) else repr(float(value))


def is_open_wanted(accept: str) -> bool:
    """Whether an ``Accept`` header prefers OpenMetrics, as RFC 9110 weighs media types."""
    weights = {"application/openmetrics-text": 0.0, "text/plain": 0.0}
    for part in accept.lower().split(","):
        kind, *parameters = (word.strip() for word in part.split(";"))
        if kind in weights:
            weights[kind] = max(weights[kind], _weight(parameters))
    return weights["application/openmetrics-text"] > 0 and (
        weights["application/openmetrics-text"] >= weights["text/plain"]
    )


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
