"""``Profiler``, the main class of the package."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfprof.core.columns.mixins import DiffMixin, NotebookMixin
from tfprof.core.columns.remarks import Notice
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, TfprofWarning
from tfprof.files.disk import write_file
from tfprof.graphs.live.live_graph import default_graph
from tfprof.graphs.model.seen_program import SeenProgram
from tfprof.options.parse import is_classic, parse_options
from tfprof.options.spec import UNASKED
from tfprof.profiles.model.profile import Profile
from tfprof.profiles.model.steps import step_number
from tfprof.views.result import ViewTree, view_kind
from tfprof.views.session import Session
from tfprof.views.show.tfprof_text import render_advice, render_stdout
from tfprof.views.write.outputs import OutputFile, answer, output_files, write_output

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfprof.advisor.context import CheckContext
    from tfprof.advisor.registry import Wanted
    from tfprof.captures.run.run import Run
    from tfprof.core.columns.findings import Finding
    from tfprof.files.checkpoint import Checkpoint
    from tfprof.files.open import Source

_MOST_STEPS_OF_LINES = 4
"""Steps whose source lines are kept."""

_MOST_LISTED = 8  # of more steps, the first and the last


class Profiler(NotebookMixin, DiffMixin):
    """Collects the steps of a run and answers with views of them.

    Any number of profilers can live side by side, and each may be used from several threads.

    Args:
        graph: The graph that runs: a live ``tf.Graph``, FuncGraph or ConcreteFunction; or a
            GraphDef, MetaGraphDef or SavedModel as message, bytes or path. Without one,
            TensorFlow's default graph is taken if TensorFlow is imported and not executing
            eagerly; else the ops are those that the run metadata name.
        op_log: Types, float operations and call stacks to add: an OpLogProto as message, bytes
            or path.
        classic: Reproduce the original where it is wrong (see docs/differences.md). None takes
            the environment variable ``TFPROF_CLASSIC``.

    Raises:
        UsageError: An argument is of the wrong type.
        InputError: An input cannot be read, is something else or is broken.

    Example:
        >>> import tfprof
        >>> graph = tfprof.demo_files().graph
        >>> profiler = tfprof.Profiler(graph)
        >>> options = tfprof.ProfileOptionBuilder().with_empty_output().build()
        >>> profiler.profile_operations(options).children[0].name
        'Abs'
    """

    _session: Session

    def __init__(
        self, graph: Any = None, op_log: Source | None = None, *, classic: bool | None = None
    ) -> None:
        self._session = new_session(graph, op_log, classic=classic)

    @classmethod
    def load(cls, source: Source, *, classic: bool | None = None, recover: bool = False) -> Self:
        """A profiler from a saved profile, with its float operations; steps may be added.

        Args:
            source: A ProfileProto as message, bytes or path, from ``save`` or from TensorFlow.
            classic: As for ``Profiler``.
            recover: Load the readable part of a damaged profile; ``notices`` list what is missing.

        Raises:
            InputError: It cannot be read, is something else or, without ``recover``, damaged.
        """
        from tfprof.profiles.read.profile_proto import read_profile

        profile = read_profile(source, classic=is_classic(classic), recover=recover)
        return cls._of(Session(profile))

    @classmethod
    def from_xspace(
        cls,
        run: Run | Source | Sequence[Source],
        graph: Any = None,
        *,
        host: str | None = None,
        classic: bool | None = None,
    ) -> Self:
        """A profiler of a capture of the TensorFlow 2 profiler.

        Ops on threads and kernels on devices become runs of ops, step by step, with their memory
        and, from the Python tracer, their call stacks. ``notices`` list events outside of steps
        and ops. Stages of input pipelines (``tfprof.tools.tf_data``) and instructions of XLA on a
        CPU (``tfprof.tools.hlo_stats``) are not ops.

        Args:
            run: A run of ``tfprof.tools.open_run``, or an argument for it.
            graph: The graph that ran, as for ``Profiler``, with shapes and data flow. Without one,
                the ops are those that the capture names.
            host: Only this host. By default all, as tasks whose steps add up.
            classic: As for ``Profiler``.

        Raises:
            InputError: An input cannot be read, is something else or is broken.
            UsageError: There is no such host, or the graph is of the wrong type.
        """
        from tfprof.captures.run.run import Run, open_run
        from tfprof.profiles.from_captures.captured_lines import (
            compiled_float_ops,
            profile_of_lines,
        )
        from tfprof.profiles.from_captures.captured_steps import add_capture

        captured = run if isinstance(run, Run) else open_run(run)
        session = Session(Profile(classic=is_classic(classic)), graph)
        add_capture(session.profile, captured, host)
        if not session.profile.classic:
            session.of_lines = lru_cache(_MOST_STEPS_OF_LINES)(
                lambda step: Session(profile_of_lines(captured, host, step))
            )
            session.take_compiled(lambda: compiled_float_ops(captured, host))
        return cls._of(session)

    @classmethod
    def _of(cls, session: Session) -> Self:
        profiler = cls.__new__(cls)
        profiler._session = session
        return profiler

    def __repr__(self) -> str:
        """A summary: ``<tfprof.Profiler: 9,513 ops, step 0>``."""
        steps = self.steps
        if len(steps) > _MOST_LISTED:
            steps_text = f"{len(steps):,} steps from {steps[0]} to {steps[-1]}"
        elif steps:
            steps_text = f"step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps))}"
        else:
            steps_text = "no steps"
        mode = ", classic mode" if self.classic else ""
        return f"<tfprof.Profiler: {len(self._session.profile.ops):,} ops, {steps_text}{mode}>"

    @property
    def classic(self) -> bool:
        """Whether it reproduces the original where the original is wrong."""
        return self._session.profile.classic

    @property
    def coverage(self) -> float:
        """Share of the ops that ran in some step, 0 to 1."""
        return self._session.profile.coverage

    @property
    def steps(self) -> list[int]:
        """Steps that were added, ascending."""
        return self._session.profile.steps.steps

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Remarks on the results: dropped, repaired or partial data."""
        return self._session.profile.notices.as_tuple()

    def add_step(self, step: int, run_meta: Source) -> None:
        """Add the run metadata of a step; a step that was added before grows.

        Ops that a live graph gained since the last call are picked up.

        Args:
            step: Step number, a signed 64-bit integer.
            run_meta: A RunMetadata as message, bytes or path.

        Raises:
            UsageError: The step is not a 64-bit integer.
            EmptyProfileError: The run metadata hold no step stats.
            InputError: The run metadata cannot be read, are something else or are broken.
        """
        step = step_number(step)
        if self._session.add_run(step, run_meta):
            return
        message = (
            f"step {step}: the run metadata hold no step_stats, so the run was not traced; "
            "pass RunOptions(trace_level=FULL_TRACE) to Session.run"
        )
        if not self.classic:
            raise EmptyProfileError(message)
        warnings.warn(message, TfprofWarning, stacklevel=2)

    def add_checkpoint(self, source: str | os.PathLike[str] | Checkpoint) -> None:
        """Add a checkpoint: with ``tensor_value`` selected, views show values of its variables.

        Ops of their names, later ones included, get the type ``_checkpoint_variables``. Values
        are read when shown, from the checkpoint added last, and not saved with the profile.

        Args:
            source: A ``Checkpoint``, or an argument for ``open_checkpoint``.

        Raises:
            InputError: It cannot be read, is something else or is damaged.
        """
        from tfprof.files.checkpoint.values import checkpoint_values

        self._session.add_values(checkpoint_values(source))

    def profile_name_scope(self, options: Mapping[str, Any]) -> pb.GraphNodeProto:
        """Ops by name scope.

        Args:
            options: As ``ProfileOptionBuilder.build()`` gives them.

        Raises:
            UsageError: An option is wrong, or the step was never added.
            InputError: The output file cannot be written.
        """
        return answer(self._session, "scope", options)  # type: ignore[return-value]  # GraphNode

    def profile_graph(self, options: Mapping[str, Any]) -> pb.GraphNodeProto:
        """Ops by data flow. Arguments and errors as in ``profile_name_scope``."""
        return answer(self._session, "graph", options)  # type: ignore[return-value]

    def profile_operations(self, options: Mapping[str, Any]) -> pb.MultiGraphNodeProto:
        """Op types. Arguments and errors as in ``profile_name_scope``."""
        return answer(self._session, "op", options)  # type: ignore[return-value]

    def profile_python(self, options: Mapping[str, Any]) -> pb.MultiGraphNodeProto:
        """Ops by Python line. Arguments and errors as in ``profile_name_scope``.

        Raises:
            EmptyProfileError: No op has a call stack.
        """
        return answer(self._session, "code", options)  # type: ignore[return-value]

    def advise(self, checkers: Wanted = None, *, options: Wanted = None) -> pb.AdviceProto:
        """Check the run; the reports are printed to ``sys.stdout`` and returned.

        Args:
            checkers: A list of names of checkers and callables, TensorFlow's dict (whose values
                have no meaning) or one name; by default all.
            options: TensorFlow's name for the same.

        Raises:
            UsageError: There is no checker of that name, or both arguments are given.
        """
        from tfprof.advisor.advice import report
        from tfprof.advisor.registry import one_of

        checkers = one_of(checkers, options)
        with self._session.lock:
            reports = report(self._check_context(), checkers)
        advice = pb.AdviceProto()
        for name, lines in reports.items():
            advice.checkers[name].reports.extend(lines)
        sys.stdout.write(render_advice(reports))
        return advice

    def findings(
        self, checkers: Wanted = None, *, show_library_frames: bool = False
    ) -> list[Finding]:
        """Check the run; returns the findings, checker by checker, and prints nothing.

        Args:
            checkers: As for ``advise``.
            show_library_frames: Name the innermost line of a call stack, even a library's.

        Raises:
            UsageError: There is no checker of that name, or the profiler is in classic mode,
                which has only TensorFlow's reports.

        Example:
            >>> import tfprof
            >>> files = tfprof.demo_files()
            >>> profiler = tfprof.Profiler(files.graph, files.op_log)
            >>> profiler.add_step(0, files.run_meta)
            >>> profiler.findings("PeakMemoryChecker")[0].severity
            'info'
        """
        from tfprof.advisor.advice import find

        with self._session.lock:
            return find(self._check_context(show_library_frames), checkers)

    def _check_context(self, show_library_frames: bool = False) -> CheckContext:
        from tfprof.advisor.context import CheckContext

        profile, views = self._session.complete(), self._session.views
        return CheckContext(profile, views, show_library_frames=show_library_frames)

    def view(self, cmd: str, options: Mapping[str, Any] | None = None) -> ViewTree:
        """A view as columns and rows; nothing is written.

        Args:
            cmd: ``scope``, ``graph``, ``op`` or ``code``.
            options: As in ``profile_name_scope``; ``output`` has no effect. None is
                ``ProfileOptionBuilder().order_by("auto").select(["auto"]).build()``.

        Raises:
            UsageError: The command or an option is wrong, or the step was never added.
            EmptyProfileError: The code view has no call stacks to show.
        """
        kind = view_kind(cmd)
        options = UNASKED if options is None else options
        if isinstance(options, Mapping):
            options = {**options, "output": "none"}
        return self._session.view(kind, parse_options(options, classic=self.classic))

    def output_files(
        self, cmd: str, options: Mapping[str, Any] | None = None
    ) -> Iterator[OutputFile]:
        """Path and content of each file of a view's ``output``, without writing them.

        Arguments and errors as in ``view``.
        """
        kind = view_kind(cmd)
        parsed = parse_options(UNASKED if options is None else options, classic=self.classic)
        with self._session.lock:
            yield from output_files(self._session.view(kind, parsed), self._session.view)

    def report(self, cmd: str, options: Mapping[str, Any] | None = None) -> str:
        """A view as the text that ``stdout`` output would print.

        Arguments and errors as in ``view``.
        """
        with self._session.lock:
            return render_stdout(self.view(cmd, options))

    def serialize_to_string(self, *, constants: bool = True) -> bytes:
        """The whole profile as the bytes of a ProfileProto, for ``load`` and for TensorFlow.

        Args:
            constants: Keep the values of constants, which are attributes of ops.

        Raises:
            UsageError: It would be larger than 2 GiB.
            MalformedProfileError: The profile was loaded, and attributes of its ops are damaged.
        """
        with self._session.lock:
            return b"".join(self._chunks(constants))

    def save(self, path: str | os.PathLike[str], *, constants: bool = True) -> None:
        """Write ``serialize_to_string`` to a file, which may exist. Arguments and errors as there.

        Raises:
            InputError: The file cannot be written; one that existed is unchanged.
        """
        with self._session.lock:
            write_file(path, self._chunks(constants), overwrite=True)

    def merge(self, *others: Profiler) -> Profiler:
        """One profiler of several profiles of a program: of its workers, or of parts of a run.

        None of the profilers changes. Ops of the same name are one, with the facts of the first
        profiler; executions of the same step add up. The result has no live graph.

        Args:
            others: Other profilers; their classic mode has no effect.
        """
        merged = Profile(classic=self.classic)
        for profiler in (self, *others):
            with profiler._session.lock:
                merged.add_profile(profiler._session.complete())
        return self._of(Session(merged))

    def _write_profile(self, filename: str) -> None:
        """As in TensorFlow: ``save``, and in classic mode a warning if that fails."""
        with self._session.lock:
            write_output(filename, self._chunks(), classic=self.classic)

    def _chunks(self, constants: bool = True) -> Iterator[bytes]:
        from tfprof.profiles.write.profile_proto import profile_to_chunks

        return profile_to_chunks(self._session.complete(), constants=constants)

    def __seen_program__(self, static: bool) -> SeenProgram:
        """The graph with its functions, and the control flow of its runs, for ``flops``."""
        return self._session.seen_program(static=static)


def load(source: Source, *, classic: bool | None = None, recover: bool = False) -> Profiler:
    """A profiler from a saved profile. Arguments and errors as in ``Profiler.load``."""
    return Profiler.load(source, classic=classic, recover=recover)


def new_session(
    graph: Any, op_log: Source | None, *, classic: bool | None, one_shot: bool = False
) -> Session:
    """A session without steps. Arguments as for ``Profiler`` and for ``Session``."""
    profile = Profile(classic=is_classic(classic))
    graph = default_graph() if graph is None else graph
    return Session(profile, graph, op_log, one_shot=one_shot)


def session_of(profiler: Profiler) -> Session:
    """The session of a profiler, for other modules of the package."""
    return profiler._session


def profiler_of_session(session: Session) -> Profiler:
    """The profiler of a session."""
    return Profiler._of(session)
