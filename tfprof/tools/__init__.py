"""The tools of TensorBoard's Profile tab: functions from a captured run to tables and chart data.

Each takes a run, optionally the name of one host, one step by its number, and ``classic=True``
for the reference's own numbers, and answers with a ``ToolResult``:

>>> from tfprof import tools
>>> from tfprof.testing.xspace_builders import event, host, line, xspace
>>> step = event("train", 0, 100, step_num=7, _r=1)
>>> run = tools.open_run(xspace(host(line(step, event("dense/MatMul:MatMul", 10, 30)))))
>>> found = tools.op_stats(run)
>>> list(found.tables)
['ops', 'ops_with_idle']
>>> found.to_rows()[0]["operation"], found.to_rows()[0]["total_self_time"]
('dense/MatMul', 0.03)

Tools are loaded at first use; what they have in common is worked out once for each run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.tools.buffer_memory import memory_viewer
    from tfprof.tools.contents import ToolData, tools_with_data
    from tfprof.tools.gpu_kernels import kernel_stats
    from tfprof.tools.hlo_graph import graph_viewer
    from tfprof.tools.hlo_statistics import hlo_stats
    from tfprof.tools.input_pipeline_analyzer import input_pipeline
    from tfprof.tools.legacy_results import open_legacy
    from tfprof.tools.memory_profile import memory
    from tfprof.tools.monitor_report import monitor
    from tfprof.tools.op_profile_tree import op_profile
    from tfprof.tools.op_statistics import op_stats
    from tfprof.tools.overview_page import overview
    from tfprof.tools.pod_viewer import pod
    from tfprof.tools.practices import advice
    from tfprof.tools.result import Advice, Chart, Note, ToolResult
    from tfprof.tools.roofline_model import roofline
    from tfprof.tools.run import Host, Run, open_run
    from tfprof.tools.table import Column, Table
    from tfprof.tools.tf_data_bottleneck import tf_data
    from tfprof.tools.trace_events import trace

_HOME = {
    "Advice": "result",
    "Chart": "result",
    "Column": "table",
    "Host": "run",
    "Note": "result",
    "Run": "run",
    "Table": "table",
    "ToolData": "contents",
    "ToolResult": "result",
    "advice": "practices",
    "graph_viewer": "hlo_graph",
    "hlo_stats": "hlo_statistics",
    "input_pipeline": "input_pipeline_analyzer",
    "kernel_stats": "gpu_kernels",
    "memory": "memory_profile",
    "memory_viewer": "buffer_memory",
    "monitor": "monitor_report",
    "op_profile": "op_profile_tree",
    "op_stats": "op_statistics",
    "open_legacy": "legacy_results",
    "open_run": "run",
    "overview": "overview_page",
    "pod": "pod_viewer",
    "roofline": "roofline_model",
    "tf_data": "tf_data_bottleneck",
    "tools_with_data": "contents",
    "trace": "trace_events",
}

__all__ = [
    "Advice",
    "Chart",
    "Column",
    "Host",
    "Note",
    "Run",
    "Table",
    "ToolData",
    "ToolResult",
    "advice",
    "graph_viewer",
    "hlo_stats",
    "input_pipeline",
    "kernel_stats",
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
    "tf_data",
    "tools_with_data",
    "trace",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tfprof.tools' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"tfprof.tools.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
