"""The public face, as in ``tf.compat.v1.profiler``: a class, and one function for each job."""

from __future__ import annotations

import operator
import os
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof._wire import messages as pb
from tfprof.advisor.checkers import CHECKERS, WITHOUT_RESULT
from tfprof.capture.live_graph import default_graph
from tfprof.errors import (
    EmptyProfileError,
    InputError,
    TfprofWarning,
    UsageError,
)
from tfprof.exporters.pprof import view_to_pprof
from tfprof.exporters.protos import view_to_proto
from tfprof.files import write_file
from tfprof.inputs import GraphSource
from tfprof.model.notices import Notice
from tfprof.model.profile import Profile
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.options.parse import ProfileOptions, classic_by_default, is_classic, parse_options
from tfprof.renderers.tfprof_text import (
    render_advice,
    render_envelope,
    render_report,
    render_stdout,
)
from tfprof.views.build import ViewBuilder
from tfprof.views.result import ViewKind, ViewTree

if TYPE_CHECKING:
    from tfprof.readers.open import Source

VIEWS: tuple[ViewKind, ...] = ("scope", "graph", "op", "code")

_INT64 = 1 << 63


class Profiler:
    """Collects the steps of a run and answers with views of them.

    Any number of profilers can live side by side, and each may be used from several threads.

    Args:
        graph: The graph that runs: a live ``tf.Graph``, FuncGraph or ConcreteFunction; or a
            GraphDef, MetaGraphDef or SavedModel as message, bytes or path. Without one,
            TensorFlow's default graph is taken if TensorFlow is imported and not executing
            eagerly; else the ops are those that the run metadata name.
        op_log: Types, float operations and call stacks to add: an OpLogProto as message, bytes
            or path.
        classic: Reproduce the original where it is wrong (see docs/differences.md). None asks
            the environment variable ``TFPROF_CLASSIC``.

    Raises:
        UsageError: An argument is of the wrong type.
        InputError: An input can not be read, is something else or is broken.

    Example:
        >>> import tfprof
        >>> graph = tfprof.demo_files().graph
        >>> profiler = tfprof.Profiler(graph)
        >>> options = tfprof.ProfileOptionBuilder().with_empty_output().build()
        >>> profiler.profile_operations(options).children[0].name
        'Abs'
    """

    def __init__(
        self, graph: Any = None, op_log: Source | None = None, *, classic: bool | None = None
    ) -> None:
        self._start(graph, op_log, classic, one_shot=False)

    def _start(
        self, graph: Any, op_log: Source | None, classic: bool | None, *, one_shot: bool
    ) -> None:
        self.classic = is_classic(classic)
        self._lock = threading.RLock()
        self._profile = Profile(classic=self.classic)
        self._views = ViewBuilder(self._profile)
        self._source = GraphSource(
            self._profile, default_graph() if graph is None else graph, op_log, one_shot=one_shot
        )

    @property
    def coverage(self) -> float:
        """Share of the ops that were seen running, 0 to 1."""
        return self._profile.coverage

    @property
    def steps(self) -> list[int]:
        """Steps that were added, ascending."""
        return self._profile.steps.steps

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a reader of the results should know: dropped, repaired or partial data."""
        return self._profile.notices.as_tuple()

    def add_step(self, step: int, run_meta: Source) -> None:
        """Add the run metadata of a step; a step that was added before grows.

        Ops that a live graph gained since the last call are picked up.

        Args:
            step: Step number, a signed 64-bit integer.
            run_meta: A RunMetadata as message, bytes or path.

        Raises:
            UsageError: The step is no 64-bit integer.
            EmptyProfileError: The run metadata hold no step stats.
            InputError: The run metadata can not be read, are something else or are broken.
        """
        step = _step_number(step)
        if self._add_step(step, run_meta):
            return
        message = (
            f"step {step}: the run metadata hold no step_stats, so the run was not traced; "
            "pass RunOptions(trace_level=FULL_TRACE) to Session.run"
        )
        if not self.classic:
            raise EmptyProfileError(message)
        warnings.warn(message, TfprofWarning, stacklevel=2)

    def _add_step(self, step: int, run_meta: Source) -> bool:
        """Add a step; False if the run metadata hold no stats."""
        with self._lock:
            return self._source.add_run(step, run_meta)

    def profile_name_scope(self, options: Mapping[str, Any]) -> pb.GraphNodeProto:
        """Ops by name scope.

        Args:
            options: As ``ProfileOptionBuilder.build()`` gives them.

        Raises:
            UsageError: An option is wrong, or the step was never added.
            InputError: The output file can not be written.
        """
        return self._answer("scope", options)  # type: ignore[return-value]  # scope → GraphNode

    def profile_graph(self, options: Mapping[str, Any]) -> pb.GraphNodeProto:
        """Ops by data flow. Arguments and errors as in ``profile_name_scope``."""
        return self._answer("graph", options)  # type: ignore[return-value]

    def profile_operations(self, options: Mapping[str, Any]) -> pb.MultiGraphNodeProto:
        """Op types. Arguments and errors as in ``profile_name_scope``."""
        return self._answer("op", options)  # type: ignore[return-value]

    def profile_python(self, options: Mapping[str, Any]) -> pb.MultiGraphNodeProto:
        """Ops by Python line. Arguments and errors as in ``profile_name_scope``.

        Raises:
            EmptyProfileError: No op has a call stack.
        """
        return self._answer("code", options)  # type: ignore[return-value]

    def advise(self, checkers: Mapping[str, Any] | Iterable[str] | None = None) -> pb.AdviceProto:
        """Check the run; the reports are printed to ``sys.stdout`` and returned.

        Args:
            checkers: Names of checkers, as a list or as TensorFlow's dict (whose values have
                never meant anything); by default all.

        Raises:
            UsageError: There is no checker of that name.
        """
        names = self._checker_names(checkers)
        with self._lock:
            self._source.update()
            self._source.add_traces()
            reports = {name: CHECKERS[name](self._profile, self._views) for name in names}
        advice = pb.AdviceProto()
        for name, lines in reports.items():
            advice.checkers[name].reports.extend(lines)
        sys.stdout.write(render_advice(reports))
        return advice

    def _checker_names(self, checkers: Mapping[str, Any] | Iterable[str] | None) -> list[str]:
        """The wanted checkers, in the order in which they run."""
        if checkers is None:
            return list(CHECKERS)
        wanted = [checkers] if isinstance(checkers, str) else list(checkers)
        for name in wanted:
            if name in CHECKERS or name in WITHOUT_RESULT:
                continue
            message = f"unknown checker {name!r}. Allowed: {', '.join(CHECKERS)}"
            if not self.classic:
                raise UsageError(message)
            warnings.warn(message, TfprofWarning, stacklevel=3)
        return [name for name in CHECKERS if name in wanted]

    def view(self, cmd: str, options: Mapping[str, Any] | None = None) -> ViewTree:
        """A view as a light object: columns and rows, no protobuf, nothing written.

        Args:
            cmd: ``scope``, ``graph``, ``op`` or ``code``.
            options: As in ``profile_name_scope``; ``output`` has no effect. None is
                ``ProfileOptionBuilder().build()``.

        Raises:
            UsageError: The command or an option is wrong, or the step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        kind = _view_kind(cmd)
        if options is None:
            options = ProfileOptionBuilder().build()
        if isinstance(options, Mapping):
            options = {**options, "output": "none"}
        parsed = parse_options(options, classic=self.classic)
        with self._lock:
            return self._build(kind, parsed)

    def report(self, cmd: str, options: Mapping[str, Any] | None = None) -> str:
        """A view as the text that ``stdout`` output would print.

        Arguments and errors as in ``view``.
        """
        with self._lock:
            return render_stdout(self.view(cmd, options))

    def _build(self, kind: ViewKind, options: ProfileOptions) -> ViewTree:
        self._source.update()
        if kind == "code":
            self._source.add_traces()
        return self._views.build(kind, options)

    def _answer(
        self, kind: ViewKind, options: Mapping[str, Any]
    ) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
        parsed: ProfileOptions | None = None
        try:
            parsed = parse_options(options, classic=self.classic)
            with self._lock:
                tree = self._build(kind, parsed)
                in_tree = kind in ("scope", "graph")
                if not self._write(tree):
                    empty = pb.GraphNodeProto if in_tree else pb.MultiGraphNodeProto
                    return empty(name=tree.name)
                return view_to_proto(tree)
        except (UsageError, EmptyProfileError) as error:
            if not self.classic:
                raise
            # The original says so on stderr and answers with an empty message.
            warnings.warn(str(error), TfprofWarning, stacklevel=3)
            if parsed is None:
                with self._lock:
                    self._views.structure(kind, classic=True)
            elif parsed.output.type == "stdout":
                sys.stdout.write(render_envelope(parsed, ""))
            in_tree = kind in ("scope", "graph")
            return pb.GraphNodeProto() if in_tree else pb.MultiGraphNodeProto()

    def _write(self, tree: ViewTree) -> bool:
        """Write the report where the options say; False if the original refuses to."""
        output = tree.options.output
        if output.type == "stdout":
            sys.stdout.write(render_stdout(tree))
        elif output.type == "file":
            self._write_file(output.outfile, [render_report(tree).encode()])
        elif output.type == "pprof":
            try:
                data = view_to_pprof(tree)
            except UsageError as error:
                if not self.classic:
                    raise
                warnings.warn(str(error), TfprofWarning, stacklevel=4)
                return False
            if self._write_file(output.outfile, [data]):
                sys.stdout.write(
                    f"\nRun pprof -png --nodecount=100 --sample_index=1 <{output.outfile}>\n"
                )
        return True

    def _write_file(self, path: str, chunks: Iterable[bytes]) -> bool:
        """Write a file; False if that fails in classic mode, where the original goes on."""
        try:
            write_file(path, chunks, overwrite=True)
        except InputError as error:
            if not self.classic:
                raise
            warnings.warn(str(error), TfprofWarning, stacklevel=5)
            return False
        return True


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
    kind = _view_kind(cmd)
    if options is None or (isinstance(options, int) and options == 0):  # 0: TensorFlow's default
        options = ProfileOptionBuilder.trainable_variables_parameter()
    return _one_shot(graph, op_log, run_meta, classic)._answer(kind, options)


def advise(
    graph: Any = None,
    run_meta: Source | None = None,
    checkers: Mapping[str, Any] | Iterable[str] | int | None = None,
    *,
    classic: bool | None = None,
) -> pb.AdviceProto:
    """Check a graph and, if given, one run of it.

    Args:
        graph: As for ``Profiler``.
        run_meta: A RunMetadata as message, bytes or path; an empty one counts as none.
        checkers: As for ``Profiler.advise``; 0, TensorFlow's default, means all.
        classic: As for ``Profiler``.

    Raises:
        UsageError: There is no checker of that name.
        InputError: An input is unusable.
    """
    if isinstance(checkers, int):
        if checkers != 0:
            raise UsageError(f"checkers={checkers!r} must be a dict or a list of names")
        checkers = None
    return _one_shot(graph, None, run_meta, classic).advise(checkers)


def _one_shot(
    graph: Any, op_log: Source | None, run_meta: Source | None, classic: bool | None
) -> Profiler:
    """A profiler with one step at most, which is known before anybody asks."""
    profiler = Profiler.__new__(Profiler)
    profiler._start(graph, op_log, classic, one_shot=True)
    if run_meta is not None:
        profiler._add_step(0, run_meta)
    return profiler


def _view_kind(cmd: str) -> ViewKind:
    for kind in VIEWS:
        if cmd == kind:
            return kind
    raise UsageError(f"unknown cmd: {cmd!r}; use one of {', '.join(VIEWS)}")


def _step_number(step: int) -> int:
    try:
        number = operator.index(step)
    except TypeError:
        raise UsageError(f"step={step!r} must be an integer") from None
    if not -_INT64 <= number < _INT64:
        raise UsageError(f"step={step!r} does not fit into 64 bits")
    return number
