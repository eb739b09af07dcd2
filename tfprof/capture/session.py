"""A capture of this process: started, stopped, saved and checked."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import inspect
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tfprof.capture.arrived import notes_on, write_record
from tfprof.capture.folders import kept, staging_folder, writable
from tfprof.capture.frameworks import Framework, framework_of
from tfprof.capture.gpu_part import GpuPart
from tfprof.capture.program import CudaProgram
from tfprof.capture.settling import settle
from tfprof.capture.termination import Termination
from tfprof.captures.run.result import Note
from tfprof.captures.run.run import Run
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.files.local_folder import local_folder
from tfprof.options.captures import NO_FRAMEWORK, CaptureOptions

if TYPE_CHECKING:
    from tfprof.core.wire import messages as pb
    from tfprof.inputs.profiler import Profiler

F = TypeVar("F", bound=Callable[..., Any])

_log = logging.getLogger("tfprof")


class _Slot:
    """The capture that is active in this process; profilers record all of it, so there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.capture: Capture | None = None

    def take(self, capture: Capture) -> None:
        active = self.capture
        if active is not None and active.gives_way:
            active.stop()
        with self._lock:
            if self.capture is not None:
                raise UsageError(
                    f"capture: {self.capture} is active in this process, and there can be one "
                    "at a time; stop it first"
                )
            self.capture = capture

    def free(self, capture: Capture) -> None:
        with self._lock:
            if self.capture is capture:
                self.capture = None

    def leave_to_parent(self) -> None:
        """In a child of ``fork``: the parent records on, and its profiler is not usable here."""
        self._lock = threading.Lock()  # another thread may have held it
        capture, self.capture = self.capture, None
        if capture is not None:
            capture._leave_to_parent()


_slot = _Slot()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_slot.leave_to_parent)


class Capture:
    """A capture of this process: a context manager, a decorator, or ``start()`` and ``stop()``.

    The framework's own profiler records: TensorFlow's, or JAX's. The result is a file
    ``plugins/profile/RUN/HOST.xplane.pb`` in the log folder, which TensorBoard reads, too. It is
    saved also if the block raises, if the program ends, and if SIGTERM ends it, where the program
    has no handler of its own for that signal and the capture begins in the main thread. What is
    missing in it is in ``notes``, and is logged (logger ``tfprof``).

    As a decorator, each call of the function is a capture, a run of its own; the function's
    attribute ``capture`` is that of the latest call.

    Args:
        logdir: Folder for the run; made if missing. None keeps the capture in memory.
        options: What to record, and when.

    Raises:
        UsageError: The folder is on another machine.
    """

    gives_way = False
    """Whether it ends where the program starts a capture itself."""
    _file_host = ""
    """Name of the host in the run; empty for the machine's."""

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        options: CaptureOptions | None = None,
    ) -> None:
        self._logdir = None if logdir is None else local_folder(logdir)
        self._options = CaptureOptions() if options is None else options
        self._lock = threading.RLock()
        self._state = "new"  # then waiting (for the delay), recording, over
        self._gpu: GpuPart | None = None
        self._framework: Framework | None = None
        self._staging: Path | None = None
        self._timer: threading.Thread | None = None
        self._stopping = threading.Event()
        self._error: BaseException | None = None
        self._folder: Path | None = None
        self._notes: list[Note] = []
        self._notes_of_program: list[Note] = []
        self._termination = Termination(self._at_exit)
        self._run: Run | None = None
        self._host = ""

    def __str__(self) -> str:
        return f"a capture {'in memory' if self._logdir is None else f'into {self._logdir}'}"

    @property
    def _asked(self) -> CaptureOptions:
        """Options for the framework's profiler: there is one tracer of a GPU at a time."""
        is_ours = self._options.gpu_tracer == "cupti"
        return replace(self._options, device_tracer_level=0) if is_ours else self._options

    @property
    def options(self) -> CaptureOptions:
        """What to record, and when."""
        return self._options

    @property
    def is_active(self) -> bool:
        """Whether it records, or waits for its delay to end."""
        return self._state in ("waiting", "recording")

    @property
    def folder(self) -> Path | None:
        """The run's folder; None before it is written, and for a capture in memory."""
        return self._folder

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on missing data, with reasons; empty until the capture is over."""
        return tuple(self._notes)

    @property
    def run(self) -> Run:
        """The capture, for the functions of ``tfprof.tools``.

        Raises:
            UsageError: It is not over, or there is none.
        """
        if self._run is None:
            said = "is not over: stop it, or leave its block" if self.is_active else "has no result"
            raise UsageError(f"{self} {said}")
        return self._run

    @property
    def profiler(self) -> Profiler:
        """A new profiler of the capture, with the views of ``tfprof.Profiler``.

        Raises:
            UsageError: As for ``run``.
        """
        from tfprof.inputs.profiler import Profiler

        return Profiler.from_xspace(self.run)

    def gpu_run_metadata(self, step: int | None = None) -> pb.RunMetadata:
        """GPU activity as run metadata for ``Profiler.add_step``; with ``gpu_tracer="cupti"``.

        Args:
            step: Only activities launched in the step of this number; by default all.

        Raises:
            UsageError: As for ``run``; no such step is marked; or CUPTI was not used.
            EmptyProfileError: CUPTI could not record; the message has the reason.
        """
        run = self.run
        if self._gpu is None:
            raise UsageError(f"{self} has no GPU activity of its own: set gpu_tracer='cupti'")
        [host] = [each for each in run.hosts if each.name == self._host]
        return self._gpu.run_metadata(host, step)

    def add_note(self, note: Note) -> None:
        """Add a remark of the program that captures, which is saved with those of the capture."""
        self._notes_of_program.append(note)

    def start(self) -> Capture:
        """Start to record, or to wait for the delay.

        Raises:
            UsageError: It was started before, or something else records this process.
            InputError: The folder cannot be written.
            MissingDependencyError: The framework is not installed.
        """
        if self._state != "new":
            raise UsageError(f"{self} was started before; make a new one for each recording")
        if self._logdir is not None:
            self._logdir = writable(self._logdir)
        chosen = self._options.framework
        framework = CudaProgram() if chosen == NO_FRAMEWORK else framework_of(chosen)
        _slot.take(self)
        try:
            self._framework = framework
            atexit.register(self._at_exit)
            self._termination.install()
            if self._options.delay:
                self._state = "waiting"
            else:
                self._begin()
            if self._options.delay or self._options.duration is not None:
                self._timer = threading.Thread(
                    target=self._on_time, name="tfprof-capture", daemon=True
                )
                self._timer.start()
        except BaseException:
            self._abandon()
            raise
        return self

    def stop(self) -> Capture:
        """Stop recording, save and check the capture; does nothing if it is over.

        Raises:
            UsageError: It was not started; or, after a delay, something else recorded.
            InputError: The capture could not be written, and is lost.
        """
        if self._state == "new":
            raise UsageError(f"{self} was not started")
        self._stopping.set()
        timer = self._timer
        try:
            if timer is not None and timer is not threading.current_thread():
                timer.join()
        finally:
            self._end()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self

    def __enter__(self) -> Capture:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        except TfprofError as own:
            if error is None:
                raise
            self._say(Note("error", str(own)))  # and the program's own error goes on

    def __call__(self, function: F) -> F:
        """Capture each call of a function.

        Raises:
            UsageError: The function is a generator.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"capture: {function.__qualname__} is a generator, which runs only when a loop "
                "takes its values; capture that loop"
            )
        wrapper: Any
        if asyncio.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self._of_call(wrapper):
                    return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with self._of_call(wrapper):
                    return function(*args, **kwargs)

        wrapper.capture = None
        return cast(F, wrapper)

    def _of_call(self, wrapper: Any) -> contextlib.AbstractContextManager[Any]:
        latest: Capture | None = wrapper.capture
        if latest is not None and latest.is_active:  # it calls itself
            return contextlib.nullcontext()
        capture = Capture(self._logdir, self._options)
        wrapper.capture = capture
        return capture

    def _begin(self) -> None:
        assert self._framework is not None
        self._staging = staging_folder(self._logdir)
        self._framework.begin(self._staging, self._asked)
        self._state = "recording"
        if self._options.gpu_tracer == "cupti":
            self._gpu = GpuPart()
            self._gpu.start()

    def _on_time(self) -> None:
        """In a thread: begins after the delay, ends after the duration."""
        try:
            if self._state == "waiting":
                if self._stopping.wait(self._options.delay):
                    return
                with self._lock:
                    self._begin()
            duration = self._options.duration
            if duration is not None and not self._stopping.wait(duration):
                self._end()
        except BaseException as error:
            self._error = error
            self._abandon()
            _log.warning("%s", error)

    def _end(self) -> None:
        """Save and check, once; the slot is free afterwards, whatever happens."""
        with self._lock:
            if not self.is_active:
                return
            was_recording = self._state == "recording"
            self._state = "over"
            try:
                if was_recording:
                    with self._termination.held():
                        self._save()
                else:
                    self._say(
                        Note("warning", f"nothing was captured: the program ended it before its "
                             f"delay of {self._options.delay:g} s was over")
                    )  # fmt: skip
            finally:
                self._release()

    def _save(self) -> None:
        framework, staging = self._framework, self._staging
        assert framework is not None and staging is not None
        try:
            try:
                settle()
            finally:
                if self._gpu is not None:
                    self._gpu.stop()
                framework.end()
            said = [] if self._gpu is None else self._gpu.add_to(staging)
            name = self._options.session_id
            run, host, self._folder, notes = kept(staging, self._logdir, name, self._file_host)
            notes = [*self._notes_of_program, *said, *notes]
            self._host = host
            self._run = run  # it is there, whatever happens while it is looked at
        except (KeyboardInterrupt, SystemExit, TfprofError):
            raise
        except Exception as error:
            raise InputError(
                f"{self} could not be written, and is lost: {error}; make sure that the disk has "
                "room and that the folder can be written"
            ) from error
        notes += notes_on(run, host, framework, self._options, self._asked)
        if self._folder is not None:
            try:
                write_record(self._folder, run, host, self._options, notes)
            except InputError as error:
                why = getattr(error.__cause__, "strerror", None) or error
                notes.append(Note("warning", f"capture.json could not be written: {why}"))
        for note in notes:
            self._say(note)

    def _say(self, note: Note) -> None:
        self._notes.append(note)
        level = logging.INFO if note.severity == "info" else logging.WARNING
        where = f"{self._folder or self._logdir or 'capture'}"
        _log.log(level, "%s: %s", where, note.message)

    def _abandon(self) -> None:
        """End without a result."""
        with self._lock:
            was_recording = self._state == "recording"
            self._state = "over"
            try:
                if self._gpu is not None:
                    self._gpu.stop()
                if was_recording and self._framework is not None:
                    with contextlib.suppress(Exception):
                        self._framework.end(save=False)
            finally:
                self._release()

    def _release(self) -> None:
        """Restore all process-wide state."""
        atexit.unregister(self._at_exit)
        self._termination.release()
        if self._staging is not None:
            import shutil

            shutil.rmtree(self._staging, ignore_errors=True)
            self._staging = None
        _slot.free(self)

    def _leave_to_parent(self) -> None:
        self._lock = threading.RLock()
        self._state, self._timer, self._staging = "over", None, None
        self._notes.append(Note("info", "this process was forked: its parent has the capture"))
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        """The program ends during the capture, which is saved."""
        try:
            self.stop()
        except TfprofError as error:
            _log.warning("%s", error)


def start(
    logdir: str | os.PathLike[str] | None = None, options: CaptureOptions | None = None
) -> Capture:
    """Start a capture of this process; if the program ends before ``stop()``, it is saved then.

    Arguments and errors as for ``Capture`` and its ``start``.
    """
    return Capture(logdir, options).start()


def stop() -> Capture:
    """Stop the capture of this process, save and check it.

    Returns:
        The capture, with its ``run`` and ``notes``.

    Raises:
        UsageError: No capture is active.
        InputError: The capture could not be written, and is lost.
    """
    capture = _slot.capture
    if capture is None:
        raise UsageError("capture: none is active; start one with tfprof.capture.start(logdir)")
    return capture.stop()
