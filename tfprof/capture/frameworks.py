"""The profilers of TensorFlow and JAX, which write a capture into a folder."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tfprof.capture.program import CudaProgram
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.graphs.live.running_tensorflow import tensorflow_module
from tfprof.options.captures import FRAMEWORKS, CaptureOptions

_ACTIVE = (
    "capture: this process is being recorded already, by {api}, tfprof.trace, a TensorBoard "
    "callback or a profiler server. There can be one recording at a time; end the other one first"
)


_COLLECTING_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 10.0


class Framework(Protocol):
    """A profiler of this process.

    Attributes:
        name: Name of its framework, for messages.
        unsupported: Options that it does not have.
    """

    name: str
    unsupported: tuple[str, ...]

    def begin(self, folder: Path, options: CaptureOptions) -> None:
        """Begin to record.

        Raises:
            UsageError: Something else records this process.
        """

    def end(self, *, save: bool = True) -> None:
        """End the recording; it ends also if it cannot be written."""

    def devices(self) -> list[str]:
        """Names of the accelerators that the program can use."""

    def serve(self, port: int) -> Callable[[], None] | None:
        """Start a profiler server on a free port; it may fail in silence.

        Returns:
            A function that stops it, or raises UsageError if it cannot; None if nothing can.

        Raises:
            UsageError: The program has started one itself.
        """


class _Level:
    """A tracer level. TensorFlow 2.21 takes plain integers for booleans and ignores them."""

    def __init__(self, level: int) -> None:
        self._level = level

    def __index__(self) -> int:
        return self._level


class TensorFlow:
    """TensorFlow's profiler."""

    name: str = "TensorFlow"
    unsupported: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._tensorflow = tensorflow_module()

    def begin(self, folder: Path, options: CaptureOptions) -> None:
        """See ``Framework``."""
        profiler = self._tensorflow.profiler.experimental
        levels = {name: _Level(level) for name, level in options.levels.items()}
        levels["delay_ms"] = _Level(0)  # None causes a warning on stderr
        from tensorflow.python.profiler import profiler_v2

        was_free = getattr(profiler_v2, "_profiler", profiler_v2) is None
        try:
            profiler.start(str(folder), profiler.ProfilerOptions(**levels))
        except self._tensorflow.errors.AlreadyExistsError as error:
            if was_free:  # else TensorFlow keeps a dead session, and refuses each later one
                with contextlib.suppress(Exception):
                    profiler.stop(save=False)
            raise UsageError(_ACTIVE.format(api="tf.profiler")) from error
        except BaseException:  # Ctrl-C, perhaps after it began
            with contextlib.suppress(Exception):
                self.end(save=False)
            raise

    def end(self, *, save: bool = True) -> None:
        """See ``Framework``."""
        stop = self._tensorflow.profiler.experimental.stop
        try:
            stop(save=save)
        except BaseException:  # TensorFlow keeps its session at Ctrl-C
            with contextlib.suppress(Exception):
                stop(save=False)
            raise

    def devices(self) -> list[str]:
        """See ``Framework``."""
        devices = self._tensorflow.config.list_physical_devices()
        return [
            each.name.removeprefix("/physical_device:")
            for each in devices
            if each.device_type in ("GPU", "TPU")
        ]

    def serve(self, port: int) -> None:
        """See ``Framework``."""
        self._tensorflow.profiler.experimental.server.start(port)


class Jax:
    """JAX's profiler."""

    name: str = "JAX"
    unsupported: tuple[str, ...] = ("device_tracer_level",)

    def __init__(self) -> None:
        try:
            import jax
        except ImportError as error:
            raise MissingDependencyError(
                f"recording a JAX program needs JAX ({error}): pip install jax"
            ) from error
        self._jax: Any = jax

    def begin(self, folder: Path, options: CaptureOptions) -> None:
        """See ``Framework``."""
        profiler = self._jax.profiler
        wanted = profiler.ProfileOptions()
        for name, level in options.levels.items():
            if name not in self.unsupported:
                setattr(wanted, name, level)
        try:
            profiler.start_trace(str(folder), profiler_options=wanted)
        except BaseException as error:
            if isinstance(error, RuntimeError) and "one profile" in str(error).lower():
                raise UsageError(_ACTIVE.format(api="jax.profiler")) from error
            self._forget()
            raise

    def end(self, *, save: bool = True) -> None:
        """See ``Framework``."""
        if not save:
            self._forget()
            return
        try:
            self._jax.profiler.stop_trace()
        except BaseException:  # JAX keeps its session if it could not be written
            self._forget()
            raise

    @staticmethod
    def _forget() -> None:
        with contextlib.suppress(Exception):  # a private name
            from jax._src import profiler

            state: Any = profiler._profile_state
            state.reset()

    def devices(self) -> list[str]:
        """See ``Framework``."""
        return [str(each) for each in self._jax.local_devices() if each.platform != "cpu"]

    def serve(self, port: int) -> Callable[[], None]:
        """See ``Framework``."""
        try:
            self._jax.profiler.start_server(port)
        except ValueError as error:
            raise UsageError(
                "serve: this program has started a server of JAX itself, and JAX allows one; use "
                "that one"
            ) from error
        return self._stop_serving

    def _stop_serving(self) -> None:
        """Stop the server between captures: during one JAX would hang for good."""
        is_recording = self._jax.profiler.StepTraceAnnotation.is_enabled
        end = time.monotonic() + _LONGEST_WAIT_SECONDS
        while is_recording():
            if time.monotonic() > end:
                raise UsageError(
                    "the profiler server of JAX cannot be stopped during a capture, and one is "
                    "under way; try again when it has ended"
                )
            time.sleep(_COLLECTING_SECONDS)  # it collects events for a while after it has ended
        with contextlib.suppress(ValueError):  # the program has stopped it itself
            self._jax.profiler.stop_server()


def framework_of(name: str) -> Framework:
    """The profiler of a framework; for an empty name, of the one that the program uses.

    If both are loaded, Keras' backend decides, and without Keras TensorFlow counts. If neither is,
    only markers are recorded: nothing is imported that the program does not name.

    Raises:
        UsageError: There is no such framework.
        MissingDependencyError: It is not installed.
    """
    if name not in ("", *FRAMEWORKS):
        raise UsageError(f"framework={name!r} must be one of {', '.join(FRAMEWORKS)}, or empty")
    if not name and not loaded_frameworks():
        return CudaProgram()
    name = name or _used()
    return Jax() if name == "jax" else TensorFlow()


def loaded_frameworks() -> list[str]:
    """The frameworks that this program has imported."""
    return [name for name in FRAMEWORKS if sys.modules.get(name) is not None]


def _used() -> str:
    loaded = loaded_frameworks()
    if len(loaded) == 1:
        return loaded[0]
    if len(loaded) == 2 and "keras" in sys.modules:
        with contextlib.suppress(Exception):  # Keras 2 has another backend
            return str(sys.modules["keras"].backend.backend())
    return "tensorflow"
