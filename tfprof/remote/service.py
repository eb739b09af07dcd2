"""Calls of the profiler service with grpcio; messages are bytes here."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from tfprof.errors import MissingDependencyError
from tfprof.remote.addresses import Address
from tfprof.remote.grpc_probe import probe
from tfprof.remote.troubles import ServerError, of_probe, of_status

_CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),  # a second session would begin unseen
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # no backoff is shared with earlier calls
    ("grpc.compression_enabled_algorithms_bitset", 1),  # none: an answer is as large as it is sent
)
_LARGEST = (1 << 31) - 1
"""Bytes of a message of protobuf, so also of an honest answer."""

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 8.0

_SOON_SECONDS = 0.05
"""Time in which a thread of gRPC finishes what it has begun."""


def load_grpc() -> Any:
    """The module ``grpc``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        import grpc
    except ImportError as error:
        raise MissingDependencyError(
            "calling a profiler server needs grpcio: pip install 'tfprof[remote]'"
        ) from error
    return grpc


def pauses() -> Iterator[float]:
    """Seconds between attempts: twice as long each time, up to a limit."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


class Stop:
    """Ends calls that are under way, from another thread; used once."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._lock = threading.Lock()
        self._calls: set[Any] = set()

    @property
    def is_set(self) -> bool:
        """Whether the work is to end."""
        return self._is_set.is_set()

    def now(self) -> None:
        """End all calls; servers give up their sessions."""
        self._is_set.set()
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait so long; whether the work is to end."""
        return self._is_set.wait(seconds)

    def result(self, call: Any) -> bytes:
        """The answer of a call."""
        with self._lock:
            self._calls.add(call)
        try:
            if self.is_set:
                call.cancel()
            answer: bytes = call.result()
            return answer
        finally:
            with self._lock:
                self._calls.discard(call)


class ProfilerServer:
    """A profiler server, for one call after the other.

    Attributes:
        is_lost: Whether its connection was lost since ``watch``.

    Args:
        address: Where it listens.
        stop: Ends its calls.
        most_bytes: Largest answer that is received; by default the largest that there can be, as
            captures are larger than the 4 MiB of gRPC's own default.

    Raises:
        MissingDependencyError: grpcio is not installed.
    """

    def __init__(
        self, address: Address, stop: Stop | None = None, most_bytes: int | None = None
    ) -> None:
        self._grpc = load_grpc()
        self._address, self._stop = address, stop or Stop()
        most = _LARGEST if most_bytes is None else min(most_bytes, _LARGEST)
        options = (*_CHANNEL_OPTIONS, ("grpc.max_receive_message_length", most))
        self._channel = self._grpc.insecure_channel(str(address), options=options)
        self._is_watched = self._was_ready = self.is_lost = False

    def watch(self) -> None:
        """Notice when the connection is lost, as it is when the program ends: ``is_lost``.

        The next call connects anew, maybe to another program that listens at this address now.
        """
        self._is_watched = True
        self._channel.subscribe(self._note_state)

    def _note_state(self, state: Any) -> None:
        is_ready = state is self._grpc.ChannelConnectivity.READY
        self.is_lost |= self._was_ready and not is_ready
        self._was_ready |= is_ready

    def __enter__(self) -> ProfilerServer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_watched:
            # gRPC's thread that polls the state may be on its way to a channel that is then closed:
            # it prints a traceback.
            self._channel.unsubscribe(self._note_state)
            time.sleep(_SOON_SECONDS)
        self._channel.close()

    def look(self, timeout_seconds: float) -> None:
        """Check that the server answers.

        Raises:
            ServerError: It does not.
        """
        stop = self._stop
        address = self._address
        answer = probe(address.host, address.port, timeout_seconds, lambda: stop.is_set)
        if stop.is_set:
            raise ServerError("stopped", may_pass=False)
        trouble = of_probe(answer, address)
        if trouble is not None:
            raise trouble

    def call(self, method: str, request: bytes, timeout_seconds: float) -> bytes:
        """Call a method of ``tensorflow.ProfilerService``.

        Args:
            method: Its name.
            request: The serialized request.
            timeout_seconds: Limit for the whole call.

        Returns:
            The serialized answer.

        Raises:
            ServerError: There is none.
        """
        remote = self._channel.unary_unary(f"/tensorflow.ProfilerService/{method}")
        call = remote.future(request, timeout=timeout_seconds)
        try:
            return self._stop.result(call)
        except self._grpc.RpcError as error:
            raise of_status(error.code().name, error.details() or "", timeout_seconds) from error
        except self._grpc.FutureCancelledError as error:
            raise ServerError("stopped", may_pass=False) from error
