"""A long session: the service's continuous profiling, or short captures back to back.

A program has one session at a time, and the service does not report its owner. A session whose
recorder was killed never ends; one without requests for snapshots counts as abandoned.
"""

from __future__ import annotations

import time
from typing import Literal, NamedTuple

from tfprof.options.captures import CaptureOptions
from tfprof.remote.addresses import Address
from tfprof.remote.flight.snapshots import look
from tfprof.remote.requests import profile_request, received
from tfprof.remote.service import ProfilerServer, Stop
from tfprof.remote.troubles import BUSY, ServerError

Way = Literal["continuous", "captures"]

LONGEST_INTERVAL_SECONDS = 10.0
"""Longest time between snapshots, so that other recorders can detect that this one is alive."""

LIVING_SECONDS = 1.2 * LONGEST_INTERVAL_SECONDS
"""A session without a request for this long is abandoned."""

TAKEN = "ALREADY_EXISTS"
"""Code of the error if another recorder is at work."""

_CALL_SECONDS = 5.0
_END_SECONDS = 2.0
_ALMOST = 0.9


class Snapshot(NamedTuple):
    """Recorded data since the session began, or since the last snapshot.

    Attributes:
        data: A serialized XSpace; empty if nothing happened.
        begin_ns: Latest time at which it began, by our monotonic clock.
        seconds: How long the server took to collect and send it.
    """

    data: bytes
    begin_ns: int
    seconds: float


class Session:
    """A session of one server.

    Args:
        address: The server.
        options: What is recorded.
        stop: Ends its calls.
        answer_seconds: How long the server may take for a snapshot.
        most_bytes: Largest snapshot that is received.
    """

    def __init__(
        self, address: Address, options: CaptureOptions, stop: Stop, answer_seconds: float,
        most_bytes: int | None = None,
    ) -> None:  # fmt: skip
        self._address, self._options, self._stop = address, options, stop
        self._answer_seconds = answer_seconds
        self._server = ProfilerServer(address, stop, most_bytes)
        self._server.watch()
        self._begin_ns = 0
        self._is_on = False
        self.way: Way = "continuous"
        self.has_cleared = False

    @property
    def is_lost(self) -> bool:
        """Whether the connection was lost: another program may answer now."""
        return self._server.is_lost

    def begin(self, connect_seconds: float) -> None:
        """Begin, after ending an abandoned session.

        Raises:
            ServerError: The server does not answer, another session is active, or another program
                answers.
        """
        self._check_connection()
        self._server.look(connect_seconds)
        if self.way == "captures":
            return
        request = profile_request(self._options, LONGEST_INTERVAL_SECONDS)
        try:
            self._begin(request)
        except ServerError as error:
            if error.code == "UNIMPLEMENTED":
                self.way = "captures"
                return
            if error.code != TAKEN:
                raise
            self._clear()
            self._begin(request)
            self.has_cleared = True

    def snapshot(self, capture_seconds: float) -> Snapshot:
        """What was recorded; the session goes on.

        Args:
            capture_seconds: How long to record where there are only captures.

        Raises:
            ServerError: There is no answer, or the session is gone.
        """
        begin_ns, asked = self._begin_ns, time.monotonic()
        if self.way == "captures":
            self._check_connection()
            begin_ns = time.monotonic_ns()
            request = profile_request(self._options, capture_seconds)
            answer = self._server.call("Profile", request, capture_seconds + self._answer_seconds)
            taken = time.monotonic() - asked - capture_seconds
            self._check_connection()  # it may be another program that has answered
        else:
            answer = self._server.call("GetSnapshot", b"", self._answer_seconds)
            taken = time.monotonic() - asked
        self._begin_ns = time.monotonic_ns()
        return Snapshot(b"".join(received(answer).parts), begin_ns, max(taken, 0.0))

    def _check_connection(self) -> None:
        if self.is_lost:
            raise ServerError(
                "its connection was lost, as when a program ends", may_pass=True, code="UNAVAILABLE"
            )

    def end(self) -> None:
        """End the session; does nothing if there is none, or the server is gone."""
        if not self._is_on:
            return
        self._is_on = False
        # Not with the recorder's own Stop, which is set by now.
        with ProfilerServer(self._address, Stop()) as server:
            try:
                server.call("StopContinuousProfiling", b"", _END_SECONDS)
            except ServerError:
                return

    def close(self) -> None:
        """End the session and close the connection."""
        try:
            self.end()
        finally:
            self._server.__exit__(None, None, None)

    def _begin(self, request: bytes) -> None:
        self._is_on = True  # also if Ctrl-C or a deadline hides the answer
        try:
            self._server.call("StartContinuousProfiling", request, _CALL_SECONDS)
        except ServerError as error:
            if error.code in (TAKEN, "UNIMPLEMENTED"):
                self._is_on = False  # it is not ours
            raise
        self._begin_ns = time.monotonic_ns()

    def _clear(self) -> None:
        """End the active session if it is abandoned.

        Raises:
            ServerError: The session is in use.
        """
        if self._seconds_since_last() < LIVING_SECONDS:
            if self._stop.wait(LIVING_SECONDS):
                raise ServerError(
                    f"another client has a session there, which may be abandoned: it takes "
                    f"{LIVING_SECONDS:g} s to see that. Record for longer, or end that client",
                    may_pass=False,
                    code=TAKEN,
                )
            if self._seconds_since_last() < _ALMOST * LIVING_SECONDS:
                raise ServerError(
                    "another recorder is at work there, and a program has only one session at a "
                    "time. End that recorder",
                    may_pass=False,
                    code=TAKEN,
                )
        self._server.call("StopContinuousProfiling", b"", _CALL_SECONDS)

    def _seconds_since_last(self) -> float:
        """Seconds since the last request for a snapshot; this call is one."""
        try:
            answer = self._server.call("GetSnapshot", b"", self._answer_seconds)
        except ServerError as error:
            if error.code != "NOT_FOUND":
                raise
            raise ServerError(BUSY, may_pass=True) from error
        times = look(b"".join(received(answer).parts)).times
        return 0.0 if times is None else (times.stop_ns - times.start_ns) / 1e9
