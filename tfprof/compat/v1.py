"""``tf.compat.v1.profiler``, name for name, in classic mode.

    from tfprof.compat import v1 as profiler    # was: tf.compat.v1.profiler

The answers are TensorFlow's, its mistakes included (docs/differences.md). Programs that want the
right numbers use ``tfprof.Profiler`` and ``tfprof.profile``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tfprof.capture.graph_sessions import profile_context
from tfprof.core.wire.messages import AdviceProto, GraphNodeProto, MultiGraphNodeProto, OpLogProto
from tfprof.inputs import one_shot
from tfprof.inputs import profiler as api
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.profiles.session import op_logs

if TYPE_CHECKING:
    import os

    from tfprof.files.open import Source

__all__ = [
    "ALL_ADVICE",
    "AdviceProto",
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "OpLogProto",
    "ProfileContext",
    "ProfileOptionBuilder",
    "Profiler",
    "advise",
    "profile",
    "write_op_log",
]

ALL_ADVICE: dict[str, dict[str, Any]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
"""What ``advise`` checks by default: ``model_analyzer.ALL_ADVICE``."""


class ProfileContext(profile_context.ProfileContext):
    """``tf.contrib.tfprof.ProfileContext``: see ``tfprof.ProfileContext``."""

    def __init__(
        self,
        profile_dir: str | os.PathLike[str],
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        super().__init__(profile_dir, trace_steps, dump_steps, enabled, debug, classic=True)


class Profiler(api.Profiler):
    """``tf.compat.v1.profiler.Profiler``: see ``tfprof.Profiler``."""

    def __init__(self, graph: Any = None, op_log: Source | None = None) -> None:
        super().__init__(graph, op_log, classic=True)
        self._graph = graph
        self._coverage = 0.0

    def add_step(self, step: int, run_meta: Source) -> None:
        """Add the run metadata of a step."""
        super().add_step(step, run_meta)
        self._coverage = self.coverage


def advise(
    graph: Any = None, run_meta: Source | None = None, options: Mapping[str, Any] | int | None = 0
) -> AdviceProto:
    """``tf.compat.v1.profiler.advise``: 0 means all checkers; ``{}`` and None mean none."""
    checkers: Mapping[str, Any] | None = options if isinstance(options, Mapping) else {}
    return one_shot.advise(graph, run_meta, None if options == 0 else checkers, classic=True)


def profile(
    graph: Any = None,
    run_meta: Source | None = None,
    op_log: Source | None = None,
    cmd: str = "scope",
    options: Mapping[str, Any] | int = 0,
) -> GraphNodeProto | MultiGraphNodeProto:
    """``tf.compat.v1.profiler.profile``: see ``tfprof.profile``."""
    chosen: Any = None if options == 0 else options
    return one_shot.profile(graph, run_meta, op_log, cmd, chosen, classic=True)


def write_op_log(
    graph: Any,
    log_dir: str | os.PathLike[str],
    op_log: Source | None = None,
    run_meta: Source | None = None,
    add_trace: bool = True,
) -> None:
    """``tf.compat.v1.profiler.write_op_log``: see ``tfprof.write_op_log``."""
    op_logs.write_op_log(graph, log_dir, op_log, run_meta, add_trace, classic=True)
