"""tfprof: where a TensorFlow program spends its time, memory and float operations.

    >>> import tfprof
    >>> profiler = tfprof.Profiler(tfprof.demo_files().graph)

Everything is loaded at first use, and TensorFlow never is: see ``tfprof.Profiler``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tfprof.core.version import __version__

if TYPE_CHECKING:
    from tfprof.capture import _typed as capture
    from tfprof.capture.eager.trace import trace
    from tfprof.capture.graph_sessions.profile_context import ProfileContext
    from tfprof.capture.graph_sessions.profiler_hook import ProfilerHook
    from tfprof.captures.hlo.call_costs import register_cost
    from tfprof.captures.run.run import open_run
    from tfprof.core.columns.findings import Finding
    from tfprof.core.columns.remarks import Notice
    from tfprof.core.wire.messages import (
        AdviceProto,
        GraphNodeProto,
        MultiGraphNodeProto,
        OpLogProto,
    )
    from tfprof.demo import demo_files
    from tfprof.errors import (
        EmptyProfileError,
        InputError,
        MalformedProfileError,
        MissingDependencyError,
        TfprofError,
        TfprofWarning,
        UnknownFormatError,
        UsageError,
    )
    from tfprof.files.checkpoint import Checkpoint, open_checkpoint
    from tfprof.graphs.costs.params import ParamsReport
    from tfprof.graphs.flops.registry import register_flops
    from tfprof.graphs.model.symbolic import Symbolic
    from tfprof.graphs.reports.flops import flops, params
    from tfprof.graphs.reports.report import FlopsReport
    from tfprof.graphs.reports.summary import ModelSummary, summary
    from tfprof.inputs.one_shot import advise, profile
    from tfprof.inputs.profile_files import open_profile
    from tfprof.inputs.profiler import Profiler, load
    from tfprof.inputs.sampled import device_memory
    from tfprof.options.builder import ProfileOptionBuilder
    from tfprof.profiles.session.op_logs import (
        merge_default_with_oplog,
        pprof_profile,
        write_op_log,
    )
    from tfprof.views.result import ViewNode, ViewTree
    from tfprof.views.show.drawing.files import render_dot_file
    from tfprof.views.write.client_timeline.timeline import Timeline

_HOME = {
    "AdviceProto": "tfprof.core.wire.messages",
    "Checkpoint": "tfprof.files.checkpoint",
    "EmptyProfileError": "tfprof.errors",
    "Finding": "tfprof.core.columns.findings",
    "FlopsReport": "tfprof.graphs.reports.report",
    "GraphNodeProto": "tfprof.core.wire.messages",
    "InputError": "tfprof.errors",
    "MalformedProfileError": "tfprof.errors",
    "MissingDependencyError": "tfprof.errors",
    "ModelSummary": "tfprof.graphs.reports.summary",
    "MultiGraphNodeProto": "tfprof.core.wire.messages",
    "Notice": "tfprof.core.columns.remarks",
    "OpLogProto": "tfprof.core.wire.messages",
    "ParamsReport": "tfprof.graphs.costs.params",
    "ProfileContext": "tfprof.capture.graph_sessions.profile_context",
    "ProfileOptionBuilder": "tfprof.options.builder",
    "Profiler": "tfprof.inputs.profiler",
    "ProfilerHook": "tfprof.capture.graph_sessions.profiler_hook",
    "Symbolic": "tfprof.graphs.model.symbolic",
    "TfprofError": "tfprof.errors",
    "TfprofWarning": "tfprof.errors",
    "Timeline": "tfprof.views.write.client_timeline.timeline",
    "UnknownFormatError": "tfprof.errors",
    "UsageError": "tfprof.errors",
    "ViewNode": "tfprof.views.result",
    "ViewTree": "tfprof.views.result",
    "advise": "tfprof.inputs.one_shot",
    "demo_files": "tfprof.demo",
    "device_memory": "tfprof.inputs.sampled",
    "diff": "tfprof.insight.diff.ask",
    "flops": "tfprof.graphs.reports.flops",
    "html_of": "tfprof.ui.web.notebook",
    "load": "tfprof.inputs.profiler",
    "merge_default_with_oplog": "tfprof.profiles.session.op_logs",
    "open_checkpoint": "tfprof.files.checkpoint",
    "open_profile": "tfprof.inputs.profile_files",
    "open_run": "tfprof.captures.run.run",
    "params": "tfprof.graphs.reports.flops",
    "pprof_profile": "tfprof.profiles.session.op_logs",
    "profile": "tfprof.inputs.one_shot",
    "register_cost": "tfprof.captures.hlo.call_costs",
    "register_flops": "tfprof.graphs.flops.registry",
    "render_dot_file": "tfprof.views.show.drawing.files",
    "summary": "tfprof.graphs.reports.summary",
    "trace": "tfprof.capture.eager.trace",
    "whatif": "tfprof.insight.whatif.ask",
    "write_op_log": "tfprof.profiles.session.op_logs",
}

__all__ = [
    "AdviceProto",
    "Checkpoint",
    "EmptyProfileError",
    "Finding",
    "FlopsReport",
    "GraphNodeProto",
    "InputError",
    "MalformedProfileError",
    "MissingDependencyError",
    "ModelSummary",
    "MultiGraphNodeProto",
    "Notice",
    "OpLogProto",
    "ParamsReport",
    "ProfileContext",
    "ProfileOptionBuilder",
    "Profiler",
    "ProfilerHook",
    "Symbolic",
    "TfprofError",
    "TfprofWarning",
    "Timeline",
    "UnknownFormatError",
    "UsageError",
    "ViewNode",
    "ViewTree",
    "__version__",
    "advise",
    "capture",
    "demo_files",
    "device_memory",
    "diff",
    "flops",
    "load",
    "merge_default_with_oplog",
    "open_checkpoint",
    "open_profile",
    "open_run",
    "params",
    "pprof_profile",
    "profile",
    "register_cost",
    "register_flops",
    "render_dot_file",
    "summary",
    "trace",
    "whatif",
    "write_op_log",
]


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext tfprof``: adds ``%%tfprof``, which runs a cell and shows its profile."""
    from tfprof.ui.web.notebook import add_magics

    add_magics(ipython)


def __getattr__(name: str) -> Any:
    if name in (
        "capture",
        "doctor",
        "keras",
        "tools",
        "trackers",
    ):  # tfprof.tools.overview needs no import of its own
        return importlib.import_module(f"tfprof.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tfprof' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
