"""``Profiler``, the class that everything else is made with."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfprof.columns.remarks import Notice
from tfprof.errors import EmptyProfileError, TfprofWarning, UsageError
from tfprof.files.checkpoint.variable_values import CHECKPOINT_VARIABLES
from tfprof.files.disk import write_file
from tfprof.graphs.live.live_graph import default_graph
from tfprof.graphs.model.seen_program import SeenProgram
from tfprof.options.parse import ProfileOptions, is_classic, parse_options
from tfprof.options.spec import UNASKED
from tfprof.profiles.accounting.accounting import FlopCounter
from tfprof.profiles.accounting.what_ran import not_run
from tfprof.profiles.float_ops.profile_flops import observed_control_flow
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import step_number
from tfprof.profiles.session.inputs import GraphSource
from tfprof.profiles.session.loading import Loadable
from tfprof.views import result as views
from tfprof.views.build import ViewBuilder
from tfprof.views.result import ViewKind
from tfprof.views.show.tfprof_text import render_advice, render_envelope, render_stdout
from tfprof.views.show.view_tree import ViewTree, view_kind
from tfprof.views.write.outputs import OutputFile, output_files, write_output, write_view
from tfprof.wire import messages as pb

if TYPE_CHECKING:
    from tfprof.advisor.context import CheckContext
    from tfprof.advisor.registry import Wanted
    from tfprof.columns.findings import Finding
    from tfprof.files.checkpoint import Checkpoint
    from tfprof.files.open import Source


_MOST_LISTED = 8
"""Steps that are named one by one."""


class Profiler(Loadable):
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
        profile = Profile(classic=is_classic(classic))
        graph = default_graph() if graph is None else graph
        self._set_up(profile, graph, op_log, one_shot=one_shot)

    def _set_up(
        self, profile: Profile, graph: Any, op_log: Source | None, *, one_shot: bool = False
    ) -> None:
        self.classic = profile.classic
        self._lock = threading.RLock()
        self._profile = profile
        self._source = GraphSource(profile, graph, op_log, one_shot=one_shot)
        counter = FlopCounter(self._source.count_flops, self._lock)
        self._views = ViewBuilder(profile, ViewTree, counter)

    def __repr__(self) -> str:
        """What it holds: ``<tfprof.Profiler: 9,513 ops, step 0>``."""
        steps = self.steps
        if len(steps) > _MOST_LISTED:
            said = f"{len(steps):,} steps from {steps[0]} to {steps[-1]}"
        elif steps:
            said = f"step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps))}"
        else:
            said = "no steps"
        mode = ", classic mode" if self.classic else ""
        return f"<tfprof.Profiler: {len(self._profile.ops):,} ops, {said}{mode}>"

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
        step = step_number(step)
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
            self._views.settle()
            return self._source.add_run(step, run_meta)

    def add_checkpoint(self, source: str | os.PathLike[str] | Checkpoint) -> None:
        """Add a checkpoint: with ``tensor_value`` selected, views show values of its variables.

        Ops of their names, later ones included, get the type ``_checkpoint_variables``. Values
        are read when shown, from the checkpoint added last, and not saved with the profile.

        Args:
            source: A ``Checkpoint``, or what ``open_checkpoint`` takes.

        Raises:
            InputError: It can not be read, is something else or is damaged.
        """
        from tfprof.files.checkpoint.values import checkpoint_values

        values = checkpoint_values(source)
        with self._lock:
            self._update()
            self._source.mark(values.names(), CHECKPOINT_VARIABLES)
            self._profile.variable_values = values

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

    def advise(self, checkers: Wanted = None, *, options: Wanted = None) -> pb.AdviceProto:
        """Check the run; the reports are printed to ``sys.stdout`` and returned.

        Args:
            checkers: Names of checkers and callables as a list, TensorFlow's dict (whose values
                have never meant anything) or one name; by default all.
            options: TensorFlow's name for the same.

        Raises:
            UsageError: There is no checker of that name, or both arguments are given.
        """
        from tfprof.advisor.advice import report
        from tfprof.advisor.registry import one_of

        checkers = one_of(checkers, options)
        with self._lock:
            reports = report(self._check_context(), checkers)
        advice = pb.AdviceProto()
        for name, lines in reports.items():
            advice.checkers[name].reports.extend(lines)
        sys.stdout.write(render_advice(reports))
        return advice

    def findings(
        self, checkers: Wanted = None, *, show_library_frames: bool = False
    ) -> list[Finding]:
        """Check the run; what was found, checker by checker, and nothing is printed.

        Args:
            checkers: As for ``advise``.
            show_library_frames: Blame the innermost line of a call stack even if it is a
                library's, not the innermost one of the user's own code.

        Raises:
            UsageError: There is no checker of that name, or the profiler is in classic mode,
                which has TensorFlow's reports only.

        Example:
            >>> import tfprof
            >>> files = tfprof.demo_files()
            >>> profiler = tfprof.Profiler(files.graph, files.op_log)
            >>> profiler.add_step(0, files.run_meta)
            >>> profiler.findings("PeakMemoryChecker")[0].severity
            'info'
        """
        from tfprof.advisor.advice import find

        with self._lock:
            return find(self._check_context(show_library_frames), checkers)

    def _check_context(self, show_library_frames: bool = False) -> CheckContext:
        from tfprof.advisor.context import CheckContext

        self._take_up()
        return CheckContext(self._profile, self._views, show_library_frames=show_library_frames)

    def view(self, cmd: str, options: Mapping[str, Any] | None = None) -> ViewTree:
        """A view as a light object: columns and rows, no protobuf, nothing written.

        Args:
            cmd: ``scope``, ``graph``, ``op`` or ``code``.
            options: As in ``profile_name_scope``; ``output`` has no effect. None is
                ``ProfileOptionBuilder().order_by("auto").select(["auto"]).build()``.

        Raises:
            UsageError: The command or an option is wrong, or the step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        return self._view(cmd, options)

    def _view(
        self, cmd: str, options: Mapping[str, Any] | None, *, with_float_ops: bool = True
    ) -> ViewTree:
        """As ``view``; whoever shows no float operations saves the time of counting them."""
        kind = view_kind(cmd)
        if options is None:
            options = UNASKED
        if isinstance(options, Mapping):
            options = {**options, "output": "none"}
        parsed = parse_options(options, classic=self.classic)
        with self._lock:
            tree = self._build(kind, parsed, with_float_ops=with_float_ops)
        assert isinstance(tree, ViewTree)
        return tree

    def output_files(
        self, cmd: str, options: Mapping[str, Any] | None = None
    ) -> Iterator[OutputFile]:
        """The files that a view's ``output`` asks for, one after the other, without writing them.

        Arguments and errors as in ``view``.

        Yields:
            Path and content of each; none if the output is no file.
        """
        kind = view_kind(cmd)
        parsed = parse_options(UNASKED if options is None else options, classic=self.classic)
        with self._lock:
            yield from output_files(self._build(kind, parsed), self._views.build)

    def report(self, cmd: str, options: Mapping[str, Any] | None = None) -> str:
        """A view as the text that ``stdout`` output would print.

        Arguments and errors as in ``view``.
        """
        with self._lock:
            return render_stdout(self.view(cmd, options))

    def serialize_to_string(self, *, constants: bool = True) -> bytes:
        """The whole profile as the bytes of a ProfileProto, for ``load`` and for TensorFlow.

        Args:
            constants: Keep the tensors among the attributes of ops: the values of constants.

        Raises:
            UsageError: It would be larger than 2 GiB.
            MalformedProfileError: It was loaded, and attributes of its ops are damaged.
        """
        from tfprof.profiles.write.profile_proto import profile_to_bytes

        with self._lock:
            self._take_up()
            return profile_to_bytes(self._profile, constants=constants)

    def save(self, path: str | os.PathLike[str], *, constants: bool = True) -> None:
        """Write what ``serialize_to_string`` gives to a file; one that is there is overwritten.

        Raises:
            InputError: The file can not be written. What was there before is still there.
            UsageError: It would be larger than 2 GiB.
        """
        with self._lock:
            write_file(path, self._chunks(constants), overwrite=True)

    def merge(self, *others: Profiler) -> Profiler:
        """One profiler of several profiles of a program: of its workers, or of parts of a run.

        None of the profilers changes. Ops are united by name, what the first one knows of them
        wins; executions of the same step add up. The result has no live graph.

        Args:
            others: Other profilers; their classic mode has no effect.
        """
        merged = Profile(classic=self.classic)
        for profiler in (self, *others):
            with profiler._lock:
                profiler._take_up()
                merged.add_profile(profiler._profile)
        return self._of(merged)

    def _write_profile(self, filename: str) -> None:
        """As in TensorFlow: ``save``, and in classic mode a warning if that fails."""
        with self._lock:
            write_output(filename, self._chunks(), classic=self.classic)

    def _chunks(self, constants: bool = True) -> Iterator[bytes]:
        from tfprof.profiles.write.profile_proto import profile_to_chunks

        self._take_up()
        return profile_to_chunks(self._profile, constants=constants)

    def _take_up(self) -> None:
        """Bring the profile up to date with a live graph, call stacks included."""
        self._update()
        self._source.add_traces()
        self._source.count_flops()

    def __seen_program__(self, static: bool) -> SeenProgram:
        """The graph with its functions, and what runs have shown, as ``flops`` asks for it."""
        with self._lock:
            self._update()
            program, profile = self._source.program(), self._profile
            idle: Sequence[int] = ()
            if not (static or self.classic):
                idle = not_run(profile.ops, profile.steps.recorded(len(profile.ops))).tolist()
            return SeenProgram(program, observed_control_flow(profile), idle)

    def _update(self) -> None:
        """Take up what is new in a live graph; views that are held keep their numbers."""
        if self._source.is_behind:
            self._views.settle()
        self._source.update()

    def _build(
        self, kind: ViewKind, options: ProfileOptions, *, with_float_ops: bool = True
    ) -> views.ViewTree:
        self._update()
        if kind == "code":
            self._source.add_traces()
        return self._views.build(kind, options, with_float_ops=with_float_ops)

    def _answer(
        self, kind: ViewKind, options: Mapping[str, Any]
    ) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
        empty = pb.GraphNodeProto if kind in ("scope", "graph") else pb.MultiGraphNodeProto
        parsed: ProfileOptions | None = None
        try:
            parsed = parse_options(options, classic=self.classic)
            with self._lock:
                tree = self._build(kind, parsed)
                try:
                    write_view(tree, self._views.build)
                except UsageError as error:  # such a view is not written in that way
                    if not self.classic:
                        raise
                    warnings.warn(str(error), TfprofWarning, stacklevel=3)
                    return empty(name=tree.name)
                return empty() if _loses_result(tree) else _proto(tree)
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
            return empty()


def load(source: Source, *, classic: bool | None = None, recover: bool = False) -> Profiler:
    """A profiler from a saved profile. Arguments and errors as in ``Profiler.load``."""
    return Profiler.load(source, classic=classic, recover=recover)


def _proto(tree: views.ViewTree) -> pb.GraphNodeProto | pb.MultiGraphNodeProto:
    from tfprof.views.write.protos import view_to_proto

    return view_to_proto(tree)


def _loses_result(tree: views.ViewTree) -> bool:
    """Whether the original answers with an empty message although it has written files."""
    options = tree.options
    is_timeline = options.output.type == "timeline"
    return options.classic and is_timeline and tree.kind == "graph" and options.step < 0
