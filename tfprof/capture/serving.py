"""The profiler server of a running program, for captures from outside."""

from __future__ import annotations

import contextlib
import logging
import operator
import os
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from tfprof.capture.frameworks import Framework, framework_of, loaded_frameworks
from tfprof.errors import InputError, UsageError
from tfprof.options.captures import FRAMEWORKS
from tfprof.remote.grpc_probe import probe

_log = logging.getLogger("tfprof")

_HIGHEST_PORT = 65535
_ANSWER_SECONDS = 5.0


class ProfilerServer:
    """The profiler server of this program; ``serve`` starts it.

    As a context manager it is stopped at the end of the block. TensorFlow cannot stop its server:
    there the end of the block logs that it goes on.

    Attributes:
        port: Its TCP port, on all interfaces of this machine.
        address: ``HOST:PORT`` for ``tfprof capture`` on another machine, with this machine's name.
        framework: The framework of the server.
    """

    gives_way = False
    """Whether another server may take its place."""

    def __init__(self, port: int, framework: str, stop: Callable[[], None] | None) -> None:
        self.port, self.framework = port, framework
        self.address = f"{socket.gethostname()}:{port}"
        self._stop = stop

    def __str__(self) -> str:
        return f"the profiler server of {self.framework} on port {self.port}"

    @property
    def can_stop(self) -> bool:
        """Whether the framework can stop it: JAX can, TensorFlow cannot."""
        return self._stop is not None

    def stop(self) -> None:
        """Stop listening, after any active capture. A second call does nothing.

        Raises:
            UsageError: The framework cannot stop its server, or a capture does not end.
        """
        if self._stop is None:
            raise UsageError(
                f"{self} cannot be stopped: {self.framework} has no way to. It listens until the "
                "program ends"
            )
        with _slot.lock:
            if _slot.server is self:
                self._stop()
                _slot.server = None

    def __enter__(self) -> ProfilerServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        except UsageError as kept:  # the program goes on
            _log.warning("%s", kept)


class _Slot:
    """The server of this process: a second one would record the same."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.server: ProfilerServer | None = None


_slot = _Slot()


def serve(port: int = 6009, framework: str = "") -> ProfilerServer:
    """Start the profiler server of TensorFlow or JAX in this program.

    From then on ``tfprof capture HOST:PORT`` records the program, from any machine that reaches
    it. The server listens on all interfaces without a password, which is logged: keep the port
    inside your network.

    Args:
        port: TCP port; 0 takes a free one.
        framework: ``tensorflow`` or ``jax``; empty for the one that the program uses. TensorFlow
            is imported if it has imported neither.

    Returns:
        The server, which answers; also a context manager.

    Raises:
        UsageError: The port is invalid or in use, or this program has a server already.
        InputError: The server does not start.
        MissingDependencyError: The framework is not installed.
    """
    server = _served(port, framework)
    _log.warning(
        "%s listens on all interfaces, without a password: any machine that reaches the port can "
        "record this program. To capture it: tfprof capture %s --logdir DIR",
        server, server.address,
    )  # fmt: skip
    return server


def serve_until_another(framework: str = "") -> ProfilerServer:
    """Start a server on a free port, in silence, which gives way to one of the program.

    Arguments and errors as for ``serve``.
    """
    server = _served(0, framework)
    server.gives_way = True
    return server


def _served(port: int, framework: str) -> ProfilerServer:
    wanted = _port(port)
    profiler = framework_of(framework or ("" if loaded_frameworks() else FRAMEWORKS[0]))
    earlier = _slot.server
    if earlier is not None and earlier.gives_way and earlier.can_stop:
        earlier.stop()
    with _slot.lock:
        if _slot.server is not None and not _slot.server.gives_way:
            raise UsageError(
                f"serve: {_slot.server} runs in this program already, and one is enough: it "
                "records all of the program"
            )
        _slot.server = _started(_free(wanted), profiler)
        return _slot.server


def running_server() -> ProfilerServer | None:
    """The server that ``serve`` has started in this process; None if there is none."""
    return _slot.server


def _port(port: object) -> int:
    try:
        number = operator.index(port)  # type: ignore[arg-type]  # the error says that it is none
    except TypeError:
        number = -1
    if not 0 <= number <= _HIGHEST_PORT:  # the frameworks take 70000 for 4464
        raise UsageError(f"serve: port={port!r} must be a whole number from 0 to {_HIGHEST_PORT}")
    return number


def _free(port: int) -> int:
    """A free port; the frameworks share one that is in use, or fail silently."""
    is_dual = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if is_dual else socket.AF_INET
    try:
        with socket.create_server(("", port), family=family, dualstack_ipv6=is_dual) as own:
            taken: int = own.getsockname()[1]
    except OSError as error:
        raise UsageError(
            f"serve: port {port} cannot be taken ({os.strerror(error.errno or 0)}): choose "
            "another, or 0 for a free one"
        ) from error
    return taken


def _started(port: int, profiler: Framework) -> ProfilerServer:
    stop = profiler.serve(port)
    answer = probe("localhost", port, _ANSWER_SECONDS)
    if answer.kind != "profiler":
        if stop is not None:
            with contextlib.suppress(UsageError):
                stop()
        raise InputError(
            f"serve: the profiler server of {profiler.name} does not answer on port {port} "
            f"({answer.kind}); choose another port"
        )
    return ProfilerServer(port, profiler.name, stop)
