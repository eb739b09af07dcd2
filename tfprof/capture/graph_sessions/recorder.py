"""Traces chosen runs of a training loop: the base of ``ProfileContext`` and ``ProfilerHook``."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tfprof.capture.graph_sessions.schedule import (
    MAX_TRACED_STEPS,
    AutomaticTracing,
    Schedule,
    Wishes,
    step_numbers,
)
from tfprof.core.columns.remarks import Notice, Notices
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, TfprofWarning, UsageError
from tfprof.files.disk import write_file
from tfprof.graphs.live.live_graph import default_graph
from tfprof.inputs.profiler import Profiler, session_of
from tfprof.options.parse import is_classic, parse_options
from tfprof.views.result import view_kind
from tfprof.views.write.outputs import answer

Answer: TypeAlias = pb.GraphNodeProto | pb.MultiGraphNodeProto

Reporting: TypeAlias = Callable[[str, str], contextlib.AbstractContextManager[None]]

_DEFAULT_DUMP_STEPS = (100,)
_MOST_WAITING_BYTES = 32 << 20


class GraphProfile:
    """The traced runs of one graph.

    Runs wait as bytes until the profiler is needed or they become too many: reading the graph and
    the first run takes longer than a short training step.

    Args:
        graph: The live graph.
        classic: As for ``Profiler``.
        reporting: A context that reports errors with a code and a text.
    """

    def __init__(self, graph: Any, classic: bool, reporting: Reporting) -> None:
        self._graph, self._classic, self._reporting = graph, classic, reporting
        self._lock = threading.RLock()
        self._profiler: Profiler | None = None
        self._waiting: list[tuple[int, bytes]] = []

    def add(self, step: int, run_metadata: bytes) -> None:
        """Add a traced run."""
        with self._lock:
            self._waiting.append((step, run_metadata))
            if sum(len(data) for _, data in self._waiting) > _MOST_WAITING_BYTES:
                self.profiler()

    def profiler(self) -> Profiler:
        """The profiler, with all runs so far."""
        with self._lock:
            if self._profiler is None:
                self._profiler = Profiler(self._graph, classic=self._classic)
            waiting, self._waiting = self._waiting, []
            for step, data in waiting:
                with self._reporting("tracing-failed", f"the trace of step {step} was lost"):
                    self._profiler.add_step(step, data)
            return self._profiler


class RunRecorder:
    """Traces, saves and profiles runs, which the subclasses pass to it.

    Args:
        profile_dir: Folder for ``profile_<step>`` files; made when the first is written.
        trace_steps: Runs to trace, 100 at most. None traces automatically: after a warm-up of 10
            runs, each new set of fetches once; and up to run 100, further runs at random while
            less than half of the graph's ops were seen.
        dump_steps: Runs after which the profile is saved. None means run 100.
        enabled: If not, every method does nothing and ``profiler`` is None.
        debug: Write the run metadata of each traced run as text to ``run_meta_<step>``, too.
        classic: As for ``Profiler``.

    Raises:
        UsageError: An argument is wrong.
    """

    def __init__(
        self,
        profile_dir: str | os.PathLike[str],
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
        *,
        classic: bool | None = None,
    ) -> None:
        self._enabled = enabled
        if not enabled:
            return
        self._profile_dir = _folder(profile_dir, "profile_dir")
        self._debug = debug
        self._lock = threading.Lock()
        self._notices = Notices()
        self._classic = is_classic(classic)
        self._profiles: dict[Any, GraphProfile] = {}  # by graph, in the order of their first runs
        self._schedule = Schedule()
        self._automatic = AutomaticTracing() if trace_steps is None else None
        self._n_traced = 0
        self._answers: dict[str, dict[int, Answer]] = {}
        self._run_meta: Any = None
        if trace_steps is not None:
            chosen = step_numbers(trace_steps, "trace_steps", most=MAX_TRACED_STEPS)
            self._schedule.add(chosen, Wishes(trace=True))
        if dump_steps is None:
            dump_steps = _DEFAULT_DUMP_STEPS
        saved = step_numbers(dump_steps, "dump_steps")
        self._schedule.add(saved, Wishes(folders=(self._profile_dir,)))

    @property
    def profiler(self) -> Profiler | None:
        """The profiler of the first graph that ran, with all runs traced so far.

        Before the first traced or saved run, that of TensorFlow's default graph. None if not
        enabled. It stays usable when the recording is over.

        Raises:
            EmptyProfileError: No run was traced, and there is no default graph.
        """
        if not self._enabled:
            return None
        graph = next(iter(self._profiles), None) or default_graph()
        if graph is None:
            raise EmptyProfileError(
                "no session run was traced so far, and TensorFlow has no default graph, so there "
                "is nothing to profile; call trace_next_step() before Session.run"
            )
        return self._profiler_of(graph)

    @property
    def profilers(self) -> list[Profiler]:
        """A profiler for each graph that had a run traced or saved, oldest first."""
        profiles = list(self._profiles.values()) if self._enabled else []
        return [profile.profiler() for profile in profiles]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Errors in tracing, saving and profiling, after which the program went on."""
        return self._notices.as_tuple() if self._enabled else ()

    def add_auto_profiling(
        self, cmd: str, options: Mapping[str, Any], profile_steps: Iterable[int]
    ) -> None:
        """Trace runs and make a view after each; see ``get_profiles``.

        Args:
            cmd: ``scope``, ``graph``, ``op`` or ``code``.
            options: As ``ProfileOptionBuilder.build()`` gives them.
            profile_steps: Numbers of the runs.

        Raises:
            UsageError: The command, an option or a step is wrong.
        """
        if not self._enabled:
            return
        view_kind(cmd)
        if not self._classic:  # there the view itself warns of what is wrong
            parse_options(options)
        wishes = Wishes(trace=True, views=((cmd, dict(options)),))
        self._schedule.add(step_numbers(profile_steps, "profile_steps"), wishes)

    def add_auto_profile_dump(
        self, outdir: str | os.PathLike[str], dump_steps: Iterable[int]
    ) -> None:
        """Trace runs and save the profile after each to ``<outdir>/profile_<step>``.

        Raises:
            UsageError: The folder has no name, or a step is wrong.
        """
        if not self._enabled:
            return
        wishes = Wishes(trace=True, folders=(_folder(outdir, "outdir"),))
        self._schedule.add(step_numbers(dump_steps, "dump_steps"), wishes)

    def get_profiles(self, cmd: str) -> dict[int, Answer]:
        """The views of ``add_auto_profiling`` so far, by step.

        Raises:
            UsageError: No view of that kind was made.
        """
        if not self._enabled:
            return {}
        with self._lock:
            if cmd not in self._answers:
                raise UsageError(
                    f"no {cmd!r} view was made so far; ask for one with add_auto_profiling "
                    "and run the steps"
                )
            return dict(self._answers[cmd])

    def trace_next_step(self) -> None:
        """Trace the next run that begins."""
        self._wish(Wishes(trace=True))

    def dump_next_step(self) -> None:
        """Save the profile after the next run that begins; this does not trace that run."""
        if self._enabled:
            self._wish(Wishes(folders=(self._profile_dir,)))

    def capture_next_run_meta(self) -> None:
        """Trace the next run that begins and keep its run metadata for ``run_meta()``."""
        self._wish(Wishes(trace=True, capture=True))

    def run_meta(self) -> Any:
        """TensorFlow's ``RunMetadata`` of the last captured run; None if not enabled.

        Raises:
            UsageError: No run was captured.
        """
        if not self._enabled:
            return None
        if self._run_meta is None:
            raise UsageError(
                "no run metadata were captured; call capture_next_run_meta() before Session.run"
            )
        return self._run_meta

    def _wish(self, wishes: Wishes) -> None:
        if self._enabled:
            self._schedule.add_to_next(wishes)

    def plan_run(self, session: Any, fetches: Any) -> RecordedRun | None:
        """Called before each run; None if it may run as it is."""
        step, wishes = self._schedule.begin()
        may_trace = self._n_traced < MAX_TRACED_STEPS
        if wishes is not None and wishes.trace:
            if not may_trace:
                why = f"because {MAX_TRACED_STEPS} runs were traced before"
                self._report("too-many-traces", f"step {step} was not traced, {why}")
            return RecordedRun(self, step, wishes, may_trace)
        if may_trace and self._is_worth_tracing(step, session, fetches):
            return RecordedRun(self, step, wishes or Wishes(), True, fetches)
        return None if wishes is None else RecordedRun(self, step, wishes)

    def _is_worth_tracing(self, step: int, session: Any, fetches: Any) -> bool:
        """Whether automatic tracing, if it is on, chooses this run."""
        if self._automatic is None:
            return False
        try:  # faster than a context
            return self._automatic.wants(step, session, fetches, self._coverage)
        except Exception as error:
            self._report_failure("tracing-failed", f"step {step} was not traced", error)
            return False

    def _of(self, graph: Any) -> GraphProfile:
        profile = self._profiles.get(graph)
        if profile is None:
            new = GraphProfile(graph, self._classic, self._reporting)
            profile = self._profiles.setdefault(graph, new)  # another thread may be faster
        return profile

    def _profiler_of(self, graph: Any) -> Profiler:
        return self._of(graph).profiler()

    def _coverage(self, graph: Any) -> float:
        return self._profiler_of(graph).coverage

    def _finish(self, run: RecordedRun, graph: Any, run_metadata: Any, is_full: bool) -> None:
        """Carry out the wishes for a run; a failure must not end the user's program."""
        step = run.step
        if run.traced and not is_full:
            with self._lock:
                self._notices.add(
                    "partial-trace",
                    "runs were traced while another trace or TensorFlow's profiler was active, so "
                    "they lack the times of GPU kernels",
                )
        if run.traced:
            with self._reporting("tracing-failed", f"the trace of step {step} was lost"):
                self._keep(run, graph, run_metadata)
        if run.traced and self._debug:
            with self._reporting("saving-failed", f"run_meta_{step} was not written"):
                folder = Path(self._profile_dir)
                folder.mkdir(parents=True, exist_ok=True)
                text = str(run_metadata).encode()
                write_file(folder / f"run_meta_{step}", [text], overwrite=True)
        for name in run.wishes.folders:
            with self._reporting("saving-failed", f"profile_{step} was not written"):
                Path(name).mkdir(parents=True, exist_ok=True)
                self._profiler_of(graph).save(Path(name) / f"profile_{step}")
        for cmd, options in run.wishes.views:
            with self._reporting("profiling-failed", f"step {step} has no {cmd} view"):
                view = answer(session_of(self._profiler_of(graph)), view_kind(cmd), options)
                with self._lock:
                    self._answers.setdefault(cmd, {})[step] = view

    def _keep(self, run: RecordedRun, graph: Any, run_metadata: Any) -> None:
        self._of(graph).add(run.step, run_metadata.SerializeToString())
        with self._lock:
            self._n_traced += 1
        if self._automatic is not None and run.fetches is not None:
            self._automatic.traced(graph, run.fetches)
        if run.wishes.capture:
            captured = type(run_metadata)()
            captured.CopyFrom(run_metadata)  # the message may be the user's
            self._run_meta = captured

    @contextlib.contextmanager
    def _reporting(self, code: str, text: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the user's program goes on
            self._report_failure(code, text, error)

    def _report_failure(self, code: str, text: str, error: Exception) -> None:
        self._report(code, f"{text}: {error or type(error).__name__}")

    def _report(self, code: str, text: str) -> None:
        """Keep a notice; the first of its kind is a warning, too."""
        with self._lock:
            is_first = all(notice.code != code for notice in self._notices.as_tuple())
            self._notices.add(code, text)
        if is_first:
            warnings.warn(f"{text}; the program goes on", TfprofWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that is traced, or after which something is saved or shown.

    Attributes:
        recorder: The recorder.
        step: Number of the run.
        wishes: The wishes for it.
        traced: Whether it is traced.
        fetches: Its fetches, if automatic tracing chose it for them.
    """

    recorder: RunRecorder
    step: int
    wishes: Wishes
    traced: bool = False
    fetches: Any = None

    def finished(self, graph: Any, run_metadata: Any, is_full: bool) -> None:
        """Called after a run that raised nothing; ``is_full``: with the times of GPU kernels."""
        self.recorder._finish(self, graph, run_metadata, is_full)


def _folder(name: str | os.PathLike[str], argument: str) -> str:
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        raise UsageError(f"{argument}={name!r} must name a folder for the profiles")
    return os.fspath(name)
