"""Whether tfprof itself can record GPU activity here, by trying it for a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tfprof.capture.cupti import status as gpu
from tfprof.capture.cupti.self_test import SelfTest, self_test
from tfprof.doctor.report import Area, Check, Report, Status

_STATUS: dict[gpu.Code, Status] = {
    "ok": "ok", "bindings_missing": "note", "no_driver": "note", "no_gpu": "warning",
}  # fmt: skip
"""Statuses that are not errors: not every machine has a GPU, or records it with tfprof."""


def with_gpu_tracer(report: Report, try_it: Callable[[], SelfTest] = self_test) -> Report:
    """A report with one more area.

    Args:
        report: The report.
        try_it: Tries to record GPU activity, and returns the result.
    """
    return replace(report, areas=(*report.areas, Area("GPU activity", tuple(_checks(try_it())))))


def _checks(seen: SelfTest) -> Iterator[Check]:
    found = seen.status
    status = _STATUS.get(found.code, "error")
    yield Check("cupti-python", status, found.message, found.remedy)
    if seen.facts:
        facts = "; ".join(f"{name}: {value}" for name, value in seen.facts.items())
        yield Check("self-test", status, f"the self-test saw: {facts}")
