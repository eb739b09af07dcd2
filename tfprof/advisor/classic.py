"""The original's checkers (``tensorflow/core/profiler/internal/advisor``), for classic mode.

Each checker is a function from a profile to reports. The texts and the mistakes (quirk Q26) are the
original's: a fused batch norm of a later version counts as not fused, a scope appears with its
own time, which is 0, and utilization covers only one step of each op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfprof.core.columns.columns import Int64Array
from tfprof.core.text.units import classic_time
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.options.parse import parse_options
from tfprof.profiles.model.profile import Profile
from tfprof.views.build import ViewBuilder
from tfprof.views.result import ViewKind, ViewNode, ViewTree

ClassicChecker = Callable[[Profile, ViewBuilder], list[str]]

_LOW_UTILIZATION = 0.5
_TOP = 3
_CODE_MIN_MICROS = 1000
_CODE_LEVELS = 3


def report_utilization(profile: Profile, views: ViewBuilder) -> list[str]:
    """Share of the time in which each GPU computes, from the last record of each op."""
    last: dict[int, tuple[int, int, int]] = {}
    for _, records in sorted(profile.steps.records.items()):
        busy = records.values[1].tolist()
        start, end = records.window.tolist()
        last.update(zip(records.rows.tolist(), zip(start, end, busy, strict=True), strict=True))
    by_device: dict[str, list[tuple[int, int, int]]] = {}
    for row, record in last.items():
        device_id = int(profile.ops.device_ids.array[row])
        device = profile.ops.strings[device_id] if device_id >= 0 else ""
        if "gpu" in device:
            by_device.setdefault(device, []).append(record)
    reports = []
    for device, records_of_device in sorted(by_device.items()):
        started = [start for start, _, _ in records_of_device if start > 0]
        window = max(end for _, end, _ in records_of_device) - min(started, default=0)
        if window > 0:
            share = sum(busy for _, _, busy in records_of_device) / window
            verdict = "utilization" if share >= _LOW_UTILIZATION else "low utilization"
            reports.append(f"device: {device} {verdict}: {share:.2f}")
    return reports


def report_operations(profile: Profile, views: ViewBuilder) -> list[str]:
    """Ops that have a faster equivalent."""
    ops = profile.ops
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    type_ids = {
        *ops.op_ids.array.tolist(),
        *(i for added in ops.added_types.values() for i in added),
    }
    types = {ops.strings[type_id] for type_id in type_ids}
    reports = []
    if any("BatchNorm" in name for name in names) and "FusedBatchNorm" not in types:
        reports.append("Maybe use faster FusedBatchNorm instead of BatchNorm")
    on_gpu = (
        row
        for row, device_id in enumerate(ops.device_ids.array.tolist())
        if device_id >= 0 and "gpu" in ops.strings[device_id]
    )
    if any(ops.attrs_of(row).get("data_format") == "NHWC" for row in on_gpu):
        reports.append("Found operation using NHWC data_format on GPU. Maybe NCHW is faster.")
    return reports


def report_expensive_operations(profile: Profile, views: ViewBuilder) -> list[str]:
    """The op types, the scopes or ops, and the lines of code that take the most time."""
    reports = []
    if profile.steps.records:
        reports += _top_op_types(_by_time(views, "op", max_depth=3, min_micros=1))
    reports += _top_nodes(_by_time(views, "scope", max_depth=100, min_micros=100))
    if profile.has_traces:
        tree = _by_time(views, "code", max_depth=100, min_micros=1)
        reports += _expensive_lines(tree.root)
    return reports


def _by_time(views: ViewBuilder, kind: ViewKind, *, max_depth: int, min_micros: int) -> ViewTree:
    builder = ProfileOptionBuilder().with_max_depth(max_depth).with_empty_output()
    builder = builder.with_min_execution_time(min_micros).order_by("micros")
    return views.build(kind, parse_options(builder.build(), classic=True))


def _times(node: ViewNode, prefix: str) -> str:
    columns = node.columns
    cpu, accelerator, total = (
        classic_time(columns[f"{prefix}{metric}"])
        for metric in ("cpu_exec_micros", "accelerator_exec_micros", "exec_micros")
    )
    return f"cpu: {cpu}, accelerator: {accelerator}, total: {total}"


def _top_op_types(tree: ViewTree) -> list[str]:
    everything = tree.columns["total_exec_micros"][0] + 1e-10
    own: Int64Array = tree.columns["exec_micros"]
    lines = [
        f"top {row} operation type: {tree.names[row]}, {_times(ViewNode(tree, row), '')} "
        f"({100.0 * own[row] / everything:.2f}%)"
        for row in range(1, min(len(tree), _TOP + 1))
    ]
    return ["\n".join(lines)] if lines else []


def _top_nodes(tree: ViewTree) -> list[str]:
    lines = [
        f"top {place} graph node: {node.name}, {_times(node, '')}"
        for place, node in enumerate(tree.children[:_TOP], start=1)
    ]
    return ["\n".join(lines)] if lines else []


def _expensive_lines(node: ViewNode) -> list[str]:
    """Lines below the first fork of the call tree."""
    while len(node.children) == 1:
        node = node.children[0]
    if not node.children:
        return []
    lines: list[str] = []
    _add_lines(node, 0, lines)
    return ["\n".join(lines)]


def _add_lines(node: ViewNode, depth: int, lines: list[str]) -> None:
    children = node.children
    if len(children) <= 1 or depth > _CODE_LEVELS:
        return
    for child in children[:_TOP]:
        if child.total_exec_micros >= _CODE_MIN_MICROS:
            lines.append(f"{'  ' * depth}{child.name}, {_times(child, 'total_')}")
            _add_lines(child, depth + 1, lines)


CLASSIC_CHECKERS: Mapping[str, ClassicChecker] = {
    "AcceleratorUtilizationChecker": report_utilization,
    "ExpensiveOperationChecker": report_expensive_operations,
    "OperationChecker": report_operations,
}
"""Checkers by their names in options, in the order in which they run.

The original also accepts ``JobChecker``, which queries a cluster's scheduler, and ignores it.
"""
