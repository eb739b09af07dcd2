"""Limits idle connections: few at once, and none for long.

Any user of the machine could block a server that only counts its connections, by opening as many
and sending nothing. Here the connection that has waited longest is closed for a new one, so that
requests are always served.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 64
HEADER_SECONDS: Final = 10.0
"""Time limit from the begin of a connection, or the end of an answer, to the next header's end."""


def bounded_protocol(
    most_connections: int = MOST_CONNECTIONS, header_seconds: float = HEADER_SECONDS
) -> type[H11Protocol]:
    """The protocol of uvicorn with limits on idle connections.

    Args:
        most_connections: How many connections there may be.
        header_seconds: How long one of them may wait for a request.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    opened: set[Bounded] = set()

    class Bounded(H11Protocol):
        waits_since = 0.0
        _watch: asyncio.TimerHandle | None = None

        @property
        def is_waiting(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.waits_since = self.loop.time()
            self._look_later(header_seconds)
            others = [one for one in opened if one.is_waiting]
            opened.add(self)
            if len(opened) > most_connections and others:
                min(others, key=lambda one: one.waits_since).abort()

        def on_response_complete(self) -> None:
            self.waits_since = self.loop.time()
            super().on_response_complete()

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
            left = self.waits_since + header_seconds - self.loop.time()
            if self.is_waiting and left <= 0:
                self.abort()
            else:
                self._look_later(max(left, 1.0))

    return Bounded
