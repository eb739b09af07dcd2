"""The tools by name: which function answers, and where it is."""

from __future__ import annotations

import importlib
from typing import Any

MODULES = {
    "graph_viewer": "tfprof.captures.tools.hlo_graph",
    "hlo_stats": "tfprof.captures.tools.hlo_statistics",
    "input_pipeline": "tfprof.captures.tools.input_pipeline_analyzer",
    "kernel_stats": "tfprof.captures.tools.gpu_kernels",
    "memory": "tfprof.captures.tools.memory_profile",
    "memory_viewer": "tfprof.captures.tools.buffer_memory",
    "monitor": "tfprof.captures.tools.monitor_report",
    "op_profile": "tfprof.captures.tools.op_profile_tree",
    "op_stats": "tfprof.captures.tools.op_statistics",
    "overview": "tfprof.captures.overview.overview_page",
    "pod": "tfprof.captures.tools.pod_viewer",
    "roofline": "tfprof.captures.tools.roofline_model",
    "stragglers": "tfprof.captures.tools.stragglers",
    "tf_data": "tfprof.captures.tools.tf_data_bottleneck",
    "trace": "tfprof.captures.trace.events",
}
"""The module of each function; the command line has hyphens in these names."""


def tool_function(name: str) -> Any:
    """The function of a tool, which is loaded at first use.

    Args:
        name: Its name on the command line, or in ``tfprof.tools``: ``op-stats``, ``op_stats``.

    Raises:
        KeyError: There is no such tool.
    """
    function = name.replace("-", "_")
    return getattr(importlib.import_module(MODULES[function]), function)
