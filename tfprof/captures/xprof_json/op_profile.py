"""The op profile's JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOps
from tfprof.captures.events.ops.op_tree import IDLE, Grouping, OpNode, is_fusion
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import run_peaks
from tfprof.captures.facts.environment import environment
from tfprof.captures.facts.statistics import part
from tfprof.captures.run.run import Run
from tfprof.captures.tools.op_profile_tree import (
    bandwidth_utilization,
    clock_scale,
    flops_utilization,
    moved_bytes,
)


def to_json(
    run: Run, ops: DeviceOps, grouping: Grouping, tree: OpNode, with_idle: Callable[[], OpNode]
) -> dict[str, Any]:
    """Make the JSON of the tree, with and without idle time."""
    name = f"by{grouping.capitalize()}"
    known, peaks = environment(run), run_peaks(run)
    has_clock = known.hardware == "TPU"
    return {
        name: _json(with_idle(), peaks, has_clock=has_clock),
        f"{name}ExcludeIdle": _json(tree, peaks, has_clock=has_clock),
        "deviceType": known.hardware,
        "aggDvfsTimeScaleMultiplier": clock_scale(ops) if has_clock else 0.0,
    }


def _json(root: OpNode, peaks: Peaks, *, has_clock: bool) -> dict[str, Any]:
    """The tree as the reference writes it, without recursion.

    Args:
        root: The tree.
        peaks: Peak rates of the device.
        has_clock: Whether the clock of the device is known; if not, the reference has neither
            normalized time nor utilization based on it.
    """
    made: dict[int, dict[str, Any]] = {}
    for _, node in reversed(list(root.walk())):
        entry: dict[str, Any] = {
            "name": node.name,
            "metrics": _metrics(node, root.time_ps, peaks, has_clock),
            "children": [made.pop(id(child)) for child in node.children],
            "numChildren": node.n_children,
        }
        if node.op is not None:
            entry["xla"] = _xla(node, has_clock)
        made[id(node)] = entry
    return made[id(root)]


def _metrics(node: OpNode, total_ps: int, peaks: Peaks, has_clock: bool) -> dict[str, Any]:
    used = flops_utilization(node, peaks, has_clock=has_clock)
    share = part(node.time_ps, total_ps)
    return {
        "rawTime": node.time_ps,
        "occurrences": node.occurrences,
        "avgTimePs": part(node.time_ps, node.occurrences),
        "normalizedTimePs": node.normalized_ps if has_clock else 0,
        "rawFlops": node.model_flops,
        "bf16Flops": node.flops,
        "flops": min(1.0, used) * share,
        "uncappedFlops": used * share,
        "bandwidthUtils": list(bandwidth_utilization(node, peaks)),
        "rawBytesAccessedArray": list(moved_bytes(node.traffic)),
    }


def _xla(node: OpNode, has_clock: bool) -> dict[str, Any]:
    assert node.op is not None
    op = node.op
    file, line, stack = op.source
    if not (file or has_clock or op.category == IDLE):
        line = -1  # as the reference writes for GPU ops without a source
    entry: dict[str, Any] = {
        "op": "",
        "expression": op.expression,
        "provenance": op.provenance,
        "category": op.category,
        "fingerprint": "0",
        "programId": str(op.key.program_id or 0),
        "computationPrimitiveSize": 0,
        "sourceInfo": {"fileName": file, "lineNumber": line, "stackFrame": stack},
        "xprofKernelMetadata": "",
    }
    if node.is_group and not is_fusion(op):
        entry["layout"] = {"dimensions": []}
    return entry
