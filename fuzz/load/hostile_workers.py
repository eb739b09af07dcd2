"""Profiler servers that a client should not meet, each with a bad habit, and honest ones between.

    python -m fuzz.load.hostile_workers COUNT

prints a line ``HABIT HOST:PORT`` for each, and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import grpc

from tfprof.core.wire import messages

_METHODS: Final = "/tensorflow.ProfilerService/"
_LARGE_BYTES: Final = 192 << 20
_EVIL: Final = "../../x\x1b]0;\x07\r\n\u202e=cmd()<script>"

Habit = Callable[[bytes, Any], Awaitable[bytes]]
"""The answer to a request for a profile, with its context."""


def capture(name: str = "/host:CPU", **fields: Any) -> bytes:
    """A small capture as an answer."""
    steps = messages.XLine(id=1, name="python", timestamp_ns=1_000_000)
    plane = messages.XPlane(name=name, lines=[steps])
    plane.event_metadata[1].name = "train"
    for number in range(20):
        steps.events.add(metadata_id=1, offset_ps=number * 10**9, duration_ps=9 * 10**8)
    plane.lines[0].CopyFrom(steps)
    space = messages.XSpace(planes=[plane], hostnames=["box"], **fields)
    return messages.ProfileResponse(xspace=space).SerializeToString()


async def _honest(_: bytes, context: Any) -> bytes:
    return capture()


async def _never(_: bytes, context: Any) -> bytes:
    await asyncio.sleep(3600)
    return b""


async def _wrong(_: bytes, context: Any) -> bytes:
    return random.randbytes(5000)


async def _cut(_: bytes, context: Any) -> bytes:
    return capture()[:-7]


async def _large(_: bytes, context: Any) -> bytes:
    return capture(errors=["x" * _LARGE_BYTES])


async def _bomb(_: bytes, context: Any) -> bytes:
    context.set_compression(grpc.Compression.Gzip)
    return capture(errors=["x" * _LARGE_BYTES])


async def _names(_: bytes, context: Any) -> bytes:
    return capture(_EVIL, errors=[_EVIL] * 1000, warnings=["\0" * 1000])


async def _many_remarks(_: bytes, context: Any) -> bytes:
    return capture(errors=[f"remark {number}" for number in range(100_000)])


async def _long_error(_: bytes, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.INTERNAL, _EVIL * 200)
    return b""


async def _busy(_: bytes, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.INTERNAL, "Another profiling session active.")
    return b""


CALLS: Final[Mapping[str, Habit]] = {
    "honest": _honest, "never": _never, "wrong": _wrong, "cut": _cut, "large": _large,
    "bomb": _bomb, "names": _names, "remarks": _many_remarks, "error": _long_error, "busy": _busy,
}  # fmt: skip
"""Habits of servers that speak the protocol."""


async def _speak(writer: asyncio.StreamWriter, *pieces: bytes, pause_seconds: float = 0.0) -> None:
    """Send pieces, the last one again and again."""
    at = 0
    while not writer.is_closing():
        writer.write(pieces[min(at, len(pieces) - 1)])
        await writer.drain()
        await asyncio.sleep(pause_seconds)
        at += 1


async def _silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _redirects(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    )


async def _drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _speak(writer, b"\0\0\0\4\0\0\0\0\0", b"\0", pause_seconds=1.0)


async def _floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    settings, ping = b"\0\0\0\4\0\0\0\0\0", b"\0\0\x08\6\0\0\0\0\0" + bytes(8)
    await _speak(writer, settings, ping * 100, pause_seconds=0.01)


LINKS: Final = {
    "silent": _silent, "hangs-up": _hangs_up, "redirects": _redirects, "drips": _drips,
    "floods": _floods,
}  # fmt: skip
"""Habits of servers that do not."""


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, habit: Habit) -> None:
        self._habit = habit

    def service(self, details: Any) -> Any:
        if details.method != f"{_METHODS}Profile":
            return None
        return grpc.unary_unary_rpc_method_handler(self._habit)


async def _serve(n_workers: int) -> None:
    kept: list[Any] = []
    for number in range(n_workers):
        habits = [*CALLS, *LINKS]
        name = habits[number % len(habits)]
        if name in CALLS:
            server = grpc.aio.server()
            server.add_generic_rpc_handlers([_Handler(CALLS[name])])
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
        else:
            server = await asyncio.start_server(_ended_quietly(LINKS[name]), "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
        kept.append(server)
        print(name, f"127.0.0.1:{port}", flush=True)
    print(flush=True)
    await asyncio.sleep(86_400)


def _ended_quietly(habit: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await habit(reader, writer)
        except OSError:
            pass
        finally:
            writer.close()

    return link


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
