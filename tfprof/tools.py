"""The tools of TensorBoard's Profile tab: functions from a captured run to tables and chart data.

Each takes a run, optionally a host name, a step number, and ``classic=True`` for the reference's
own numbers, and returns a ``ToolResult``:

>>> from tfprof import tools
>>> from tfprof.testing.xspace_builders import event, host, line, xspace
>>> step = event("train", 0, 100, step_num=7, _r=1)
>>> run = tools.open_run(xspace(host(line(step, event("dense/MatMul:MatMul", 10, 30)))))
>>> stats = tools.op_stats(run)
>>> list(stats.tables)
['ops', 'ops_with_idle']
>>> stats.to_rows()[0]["operation"], stats.to_rows()[0]["total_self_time"]
('dense/MatMul', 0.03)

Tools are loaded at first use; what several of them need is computed once for each run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tfprof.captures import all_tools as _all_tools

if TYPE_CHECKING:
    from tfprof.captures.overview.overview_page import overview
    from tfprof.captures.practices.practices import advice
    from tfprof.captures.precomputed import open_legacy
    from tfprof.captures.run.contents import ToolData, tools_with_data
    from tfprof.captures.run.result import Advice, Chart, Note, ToolResult
    from tfprof.captures.run.run import Host, Run, open_run
    from tfprof.captures.run.table import Column, Table
    from tfprof.captures.slice.choice import SliceChoice
    from tfprof.captures.slice.slice_capture import CaptureSlice, HostSlice, slice_capture
    from tfprof.captures.tools.buffer_memory import memory_viewer
    from tfprof.captures.tools.collectives import collectives
    from tfprof.captures.tools.compiles import compiles
    from tfprof.captures.tools.gpu_kernels import kernel_stats
    from tfprof.captures.tools.hlo_graph import graph_viewer
    from tfprof.captures.tools.hlo_statistics import hlo_stats
    from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
    from tfprof.captures.tools.latency import latency
    from tfprof.captures.tools.memory_profile import memory
    from tfprof.captures.tools.monitor_report import monitor
    from tfprof.captures.tools.op_profile_tree import op_profile
    from tfprof.captures.tools.op_statistics import op_stats
    from tfprof.captures.tools.pod_viewer import pod
    from tfprof.captures.tools.roofline_model import roofline
    from tfprof.captures.tools.stragglers import stragglers
    from tfprof.captures.tools.tf_data_bottleneck import tf_data
    from tfprof.captures.tools.utilization_report import utilization
    from tfprof.captures.trace.events import trace

_HOME = {
    "Advice": "tfprof.captures.run.result",
    "Chart": "tfprof.captures.run.result",
    "CaptureSlice": "tfprof.captures.slice.slice_capture",
    "Column": "tfprof.captures.run.table",
    "Host": "tfprof.captures.run.run",
    "HostSlice": "tfprof.captures.slice.slice_capture",
    "Note": "tfprof.captures.run.result",
    "Run": "tfprof.captures.run.run",
    "SliceChoice": "tfprof.captures.slice.choice",
    "Table": "tfprof.captures.run.table",
    "ToolData": "tfprof.captures.run.contents",
    "ToolResult": "tfprof.captures.run.result",
    "advice": "tfprof.captures.practices.practices",
    "open_legacy": "tfprof.captures.precomputed",
    "open_run": "tfprof.captures.run.run",
    "slice_capture": "tfprof.captures.slice.slice_capture",
    "tools_with_data": "tfprof.captures.run.contents",
    **_all_tools.HOMES,
}

__all__ = [
    "Advice",
    "CaptureSlice",
    "Chart",
    "Column",
    "Host",
    "HostSlice",
    "Note",
    "Run",
    "SliceChoice",
    "Table",
    "ToolData",
    "ToolResult",
    "advice",
    "collectives",
    "compiles",
    "graph_viewer",
    "hlo_stats",
    "input_pipeline",
    "kernel_stats",
    "latency",
    "memory",
    "memory_viewer",
    "monitor",
    "op_profile",
    "op_stats",
    "open_legacy",
    "open_run",
    "overview",
    "pod",
    "roofline",
    "slice_capture",
    "stragglers",
    "tf_data",
    "tools_with_data",
    "trace",
    "utilization",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tfprof.tools' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
