"""A model against the work that was derived of it."""

from __future__ import annotations

from typing import Any

import tfprof
from tests.published.derivations import Work

B = 2


def check(model: Any, expected: Work) -> None:
    report = tfprof.flops(model, batch=B)
    assert report.macs == expected.macs, report.explain()
    assert report.flops == expected.flops, report.explain()
    assert report.coverage == 1
    assert report.uncounted == {}
    assert report.notes == ()
    of_any_batch = tfprof.flops(model)
    assert of_any_batch.notes == ()
    assert bound(of_any_batch.macs) == expected.macs
    assert bound(of_any_batch.flops) == expected.flops


def bound(count: Any) -> int:
    return count if isinstance(count, int) else count.bind({"B": B})
