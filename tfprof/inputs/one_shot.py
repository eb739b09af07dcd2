"""``profile`` and ``advise``: a view or a check in one call, as in ``tf.compat.v1.profiler``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfprof.advisor.registry import Wanted, one_of
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.inputs.profiler import new_session, profiler_of_session
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.views.result import view_kind
from tfprof.views.session import Session
from tfprof.views.write.outputs import answer

if TYPE_CHECKING:
    from tfprof.files.open import Source


def profile(
    graph: Any = None,
    run_meta: Source | None = None,
    op_log: Source | None = None,
    cmd: str = "scope",
    options: Mapping[str, Any] | None = None,
    *,
    classic: bool | None = None,
) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    """One view of a graph and, if given, of one run (as step 0).

    Args:
        graph: As for ``Profiler``.
        run_meta: A RunMetadata as message, bytes or path; an empty one counts as none.
        op_log: As for ``Profiler``.
        cmd: ``scope``, ``graph``, ``op`` or ``code``.
        options: As ``ProfileOptionBuilder.build()`` gives them; by default the parameters of
            the trainable variables.
        classic: As for ``Profiler``.

    Returns:
        A GraphNodeProto for scope and graph, a MultiGraphNodeProto for op and code.

    Raises:
        UsageError: The command or an option is wrong.
        InputError: An input or the output file is unusable.
    """
    kind = view_kind(cmd)
    if options is None or (isinstance(options, int) and options == 0):  # 0: TensorFlow's default
        options = ProfileOptionBuilder.trainable_variables_parameter()
    return answer(_one_shot(graph, op_log, run_meta, classic), kind, options)


def advise(
    graph: Any = None,
    run_meta: Source | None = None,
    checkers: Wanted | int = None,
    *,
    options: Wanted | int = None,
    classic: bool | None = None,
) -> pb.AdviceProto:
    """Check a graph and, if given, one run of it.

    Args:
        graph: As for ``Profiler``.
        run_meta: A RunMetadata as message, bytes or path; an empty one counts as none.
        checkers: As for ``Profiler.advise``; 0, TensorFlow's default, means all.
        options: TensorFlow's name for the same.
        classic: As for ``Profiler``.

    Raises:
        UsageError: There is no checker of that name.
        InputError: An input is unusable.
    """
    wanted = one_of(_not_zero(checkers), _not_zero(options))
    return profiler_of_session(_one_shot(graph, None, run_meta, classic)).advise(wanted)


def _not_zero(checkers: Wanted | int) -> Wanted:
    if not isinstance(checkers, int):
        return checkers
    if checkers != 0:
        raise UsageError(f"checkers={checkers!r} must be a dict or a list of names")
    return None


def _one_shot(
    graph: Any, op_log: Source | None, run_meta: Source | None, classic: bool | None
) -> Session:
    """A session with one step at most, which is added before any view."""
    session = new_session(graph, op_log, classic=classic, one_shot=True)
    if run_meta is not None:
        session.add_run(0, run_meta)
    return session
