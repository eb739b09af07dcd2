"""tfprof: where a TensorFlow program spends its time, memory and float operations.

    >>> import tfprof
    >>> profiler = tfprof.Profiler(tfprof.demo_files().graph)

Everything is loaded at first use, and TensorFlow never is: see ``tfprof.Profiler``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tfprof._version import __version__

if TYPE_CHECKING:
    from tfprof._wire.messages import (
        AdviceProto,
        GraphNodeProto,
        MultiGraphNodeProto,
        OpLogProto,
    )
    from tfprof.advisor.finding import Finding
    from tfprof.analysis.flops.registry import register_flops
    from tfprof.analysis.params import ParamsReport
    from tfprof.api import Profiler, load
    from tfprof.costs.flops import flops, params
    from tfprof.costs.report import FlopsReport
    from tfprof.costs.summary import ModelSummary, summary
    from tfprof.demo import demo_files
    from tfprof.device_profiles import pprof_profile
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
    from tfprof.exporters.client_timeline import Timeline
    from tfprof.model.notices import Notice
    from tfprof.model.symbolic import Symbolic
    from tfprof.one_shot import advise, profile
    from tfprof.op_logs import merge_default_with_oplog, write_op_log
    from tfprof.options.builder import ProfileOptionBuilder
    from tfprof.profile_files import open_profile
    from tfprof.readers.checkpoint import Checkpoint, open_checkpoint
    from tfprof.recording.eager.trace import trace
    from tfprof.recording.sessions.profile_context import ProfileContext
    from tfprof.recording.sessions.profiler_hook import ProfilerHook
    from tfprof.renderers.drawing import render_dot_file
    from tfprof.tools.run import open_run
    from tfprof.view_tree import ViewTree
    from tfprof.views.result import ViewNode

_HOME = {
    "AdviceProto": "tfprof._wire.messages",
    "Checkpoint": "tfprof.readers.checkpoint",
    "EmptyProfileError": "tfprof.errors",
    "Finding": "tfprof.advisor.finding",
    "FlopsReport": "tfprof.costs.report",
    "GraphNodeProto": "tfprof._wire.messages",
    "InputError": "tfprof.errors",
    "MalformedProfileError": "tfprof.errors",
    "MissingDependencyError": "tfprof.errors",
    "ModelSummary": "tfprof.costs.summary",
    "MultiGraphNodeProto": "tfprof._wire.messages",
    "Notice": "tfprof.model.notices",
    "OpLogProto": "tfprof._wire.messages",
    "ParamsReport": "tfprof.analysis.params",
    "ProfileContext": "tfprof.recording.sessions.profile_context",
    "ProfileOptionBuilder": "tfprof.options.builder",
    "Profiler": "tfprof.api",
    "ProfilerHook": "tfprof.recording.sessions.profiler_hook",
    "Symbolic": "tfprof.model.symbolic",
    "TfprofError": "tfprof.errors",
    "TfprofWarning": "tfprof.errors",
    "Timeline": "tfprof.exporters.client_timeline",
    "UnknownFormatError": "tfprof.errors",
    "UsageError": "tfprof.errors",
    "ViewNode": "tfprof.views.result",
    "ViewTree": "tfprof.view_tree",
    "advise": "tfprof.one_shot",
    "demo_files": "tfprof.demo",
    "flops": "tfprof.costs.flops",
    "load": "tfprof.api",
    "merge_default_with_oplog": "tfprof.op_logs",
    "open_checkpoint": "tfprof.readers.checkpoint",
    "open_profile": "tfprof.profile_files",
    "open_run": "tfprof.tools.run",
    "params": "tfprof.costs.flops",
    "pprof_profile": "tfprof.device_profiles",
    "profile": "tfprof.one_shot",
    "register_flops": "tfprof.analysis.flops.registry",
    "render_dot_file": "tfprof.renderers.drawing",
    "summary": "tfprof.costs.summary",
    "trace": "tfprof.recording.eager.trace",
    "write_op_log": "tfprof.op_logs",
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
    "demo_files",
    "flops",
    "load",
    "merge_default_with_oplog",
    "open_checkpoint",
    "open_profile",
    "open_run",
    "params",
    "pprof_profile",
    "profile",
    "register_flops",
    "render_dot_file",
    "summary",
    "trace",
    "write_op_log",
]


def __getattr__(name: str) -> Any:
    if name in ("doctor", "keras", "tools"):  # tfprof.tools.overview needs no import of its own
        return importlib.import_module(f"tfprof.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tfprof' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
