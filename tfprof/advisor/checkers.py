"""The original's checkers (``tensorflow/core/profiler/internal/advisor``).

Each is a function from a profile to reports. The texts are the original's; classic mode also
has its mistakes (quirk Q26): a fused batch norm of a later version counts as not fused, a scope
is blamed with its own time, which is 0, and utilization looks at one step of each op only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.model.columns import Int64Array
from tfprof.model.profile import Profile
from tfprof.model.steps import StepRecords
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.options.parse import parse_options
from tfprof.units import classic_time
from tfprof.views.build import ViewBuilder
from tfprof.views.result import ViewKind, ViewNode, ViewTree

Checker = Callable[[Profile, ViewBuilder], list[str]]

_LOW_UTILIZATION = 0.5
_TOP = 3
_CODE_MIN_MICROS = 1000
_CODE_LEVELS = 3


def check_accelerator_utilization(profile: Profile, views: ViewBuilder) -> list[str]:
    """Share of the time that each GPU was computing."""
    busy: dict[int, int] = {}
    window: dict[int, int] = {}
    gpus = _gpus(profile)
    for records in _steps_of_interest(profile):
        devices = profile.ops.device_ids.array[records.rows]
        for device in gpus:
            on_device = devices == device
            if not on_device.any():
                continue
            start, end = records.window[:, on_device]
            started = start[start > 0]
            first = int(started.min()) if len(started) else 0
            busy[device] = busy.get(device, 0) + int(records.values[1, on_device].sum())
            window[device] = window.get(device, 0) + int(end.max()) - first
    reports = []
    for device in sorted(busy, key=lambda index: profile.ops.strings[index]):
        if window[device] <= 0:
            continue
        share = busy[device] / window[device]
        verdict = "utilization" if share >= _LOW_UTILIZATION else "low utilization"
        reports.append(f"device: {profile.ops.strings[device]} {verdict}: {share:.2f}")
    return reports


def _gpus(profile: Profile) -> list[int]:
    devices = set(profile.ops.device_ids.array.tolist()) - {-1}
    return [device for device in devices if "gpu" in profile.ops.strings[device]]


def _steps_of_interest(profile: Profile) -> list[StepRecords]:
    """All steps; in classic mode the last record of each op, as if they were one step."""
    records = profile.steps.records
    if not profile.classic or not records:
        return [records[step] for step in sorted(records)]
    last: dict[int, tuple[int, int]] = {}
    for step in sorted(records):
        for place, row in enumerate(records[step].rows.tolist()):
            last[row] = (step, place)
    rows = np.array(list(last), np.int64)
    values = [records[step].values[:, place] for step, place in last.values()]
    windows = [records[step].window[:, place] for step, place in last.values()]
    return [StepRecords(rows, np.array(values).T, np.array(windows).T)] if len(rows) else []


def check_operations(profile: Profile, views: ViewBuilder) -> list[str]:
    """Ops that have a faster equivalent."""
    ops = profile.ops
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    types = {ops.strings[type_id] for type_id in np.unique(ops.op_ids.array).tolist()}
    types |= {ops.strings[i] for added in ops.added_types.values() for i in added}
    reports = []
    fused = {"FusedBatchNorm"}
    if not profile.classic:
        fused |= {"FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"}
    if any("BatchNorm" in name for name in names) and not types & fused:
        reports.append("Maybe use faster FusedBatchNorm instead of BatchNorm")
    gpus = set(_gpus(profile))
    on_gpu = np.flatnonzero(np.isin(ops.device_ids.array, list(gpus))).tolist()
    if any(ops.attrs_of(row).get("data_format") == "NHWC" for row in on_gpu):
        reports.append("Found operation using NHWC data_format on GPU. Maybe NCHW is faster.")
    return reports


def check_expensive_operations(profile: Profile, views: ViewBuilder) -> list[str]:
    """The op types, the scopes or ops, and the lines of code that take the most time."""
    reports = []
    if profile.steps.records:
        reports += _top_op_types(_by_time(views, profile, "op", max_depth=3, min_micros=1))
    tree = _by_time(views, profile, "scope", max_depth=100, min_micros=100)
    reports += _top_nodes(tree, profile.classic)
    if profile.has_traces:
        tree = _by_time(views, profile, "code", max_depth=100, min_micros=1)
        reports += _expensive_lines(tree.root)
    return reports


def _by_time(
    views: ViewBuilder, profile: Profile, kind: ViewKind, *, max_depth: int, min_micros: int
) -> ViewTree:
    builder = ProfileOptionBuilder().with_max_depth(max_depth).with_empty_output()
    builder = builder.with_min_execution_time(min_micros).order_by("micros")
    return views.build(kind, parse_options(builder.build(), classic=profile.classic))


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


def _top_nodes(tree: ViewTree, classic: bool) -> list[str]:
    lines = [
        f"top {place} graph node: {node.name}, {_times(node, '' if classic else 'total_')}"
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


CHECKERS: dict[str, Checker] = {
    "AcceleratorUtilizationChecker": check_accelerator_utilization,
    "ExpensiveOperationChecker": check_expensive_operations,
    "OperationChecker": check_operations,
}
"""Checkers by the name that options use, in the order in which they run."""

WITHOUT_RESULT = ("JobChecker",)
"""Names that the original takes and passes over: this checker asks a cluster's scheduler."""
