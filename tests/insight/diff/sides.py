"""Compared runs whose figures are given, rather than read from files."""

import numpy as np

from tfprof.insight.diff.moments import Moments
from tfprof.insight.diff.side import OpCosts, Side

TREMBLE_MS = np.array([0.0, 0.001, 0.0, 0.001, 0.0, 0.001])
"""Noise of six steps."""


def steady(ms):
    """About so many ms in each step."""
    return ms + TREMBLE_MS


def costs(ops, **columns):
    """Ops by name, with their type and the ms of each step; further columns for all of them."""
    n = len(ops)
    texts = {name: columns.get(name, ("",) * n) for name in ("devices", "dtypes", "shapes")}
    return OpCosts(
        names=tuple(ops),
        types=tuple(op_type for op_type, _ in ops.values()),
        micros=np.array([1000 * ms for _, ms in ops.values()]).reshape(n, -1),
        runs=np.array(columns.get("runs", [1.0] * n)),
        rows=np.arange(n),
        order=np.arange(n),
        **texts,
    )


def side(step_ms, ops, *, categories=None, other=None, left_out_ms=(), **columns):
    """A run with these steps, ops, and kinds of time; ops run one after another."""
    made = Side("run", None)
    vars(made).update(
        step_ms=np.asarray(step_ms),
        left_out_ms=np.asarray(left_out_ms),
        ops=costs(ops, **columns),
        category_ms=categories or {},
        moments=Moments({name: ms for name, (_, ms) in ops.items()}, other or {}),
        utilization=None,
    )
    return made
