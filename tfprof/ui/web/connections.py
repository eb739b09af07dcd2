"""Limits connections that wait for their client: few at once, and none for long.

Any user of the machine could block a server that only counts its connections, by opening as many
and sending nothing, or by requesting much and reading nothing. Here the connection that has waited
longest is closed for a new one, so that requests are always served.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

try:
    import resource
except ImportError:  # Windows, where sockets have no such limit
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 1024
"""Those of 170 browsers: each opens six."""

WAIT_SECONDS: Final = 10.0
"""Time limit from the begin of a connection, or the end of an answer, to the next header's end;
and of a client that reads nothing of an answer."""


def bounded_protocol(
    most_connections: int | None = None, wait_seconds: float = WAIT_SECONDS
) -> type[H11Protocol]:
    """The protocol of uvicorn with limits on connections that wait for their client.

    Args:
        most_connections: How many connections there may be; by default ``MOST_CONNECTIONS``, or
            half of the descriptors that this process may have.
        wait_seconds: How long one of them may wait.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    most = most_connections or min(MOST_CONNECTIONS, _most_descriptors() // 2)
    opened: set[Bounded] = set()

    class Bounded(H11Protocol):
        waits_since = 0.0
        _watch: asyncio.TimerHandle | None = None
        _unsent_bytes = 0

        @property
        def is_waiting(self) -> bool:
            """Whether the client has to send a request, or to read."""
            return self.cycle is None or self.cycle.response_complete or self.flow.write_paused

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.waits_since = self.loop.time()
            self._look_later(wait_seconds)
            if len(opened) >= most and (others := [one for one in opened if one.is_waiting]):
                min(others, key=lambda one: one.waits_since).abort()
            opened.add(self)

        def on_response_complete(self) -> None:
            self.waits_since = self.loop.time()
            super().on_response_complete()

        def pause_writing(self) -> None:
            self.waits_since = self.loop.time()
            super().pause_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._watch is not None:
                self._watch.cancel()
            opened.discard(self)
            super().connection_lost(exc)

        def abort(self) -> None:
            opened.discard(self)  # at once, as the loop calls connection_lost later
            self.transport.abort()

        def _look_later(self, seconds: float) -> None:
            self._watch = self.loop.call_later(seconds, self._look)

        def _look(self) -> None:
            before, self._unsent_bytes = self._unsent_bytes, self.transport.get_write_buffer_size()
            if self._unsent_bytes < before:  # the client reads, if slowly
                self.waits_since = self.loop.time()
            left = self.waits_since + wait_seconds - self.loop.time()
            if self.is_waiting and left <= 0:
                self.abort()
            else:
                self._look_later(max(left, wait_seconds / 10))

    return Bounded


def _most_descriptors() -> int:
    if resource is None:
        return 2 * MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else soft
