"""Chrome's trace format: what stands around events, for all that write some.

Traces are made in chunks, so that none is ever held as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

EVENTS_PER_CHUNK: Final = 1 << 14
"""Number of events to make at once; they take a few megabytes."""

HEAD: Final = b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
"""Begins a trace in nanoseconds; each of its events stands on a line of its own."""

_PLAIN: Final = bytes(byte for byte in range(0x20, 0x7F) if byte not in b'"\\')
"""Characters that are not escaped in a JSON string."""


def escaped(texts: Sequence[str]) -> list[str]:
    """Texts as they stand between the quotes of a JSON string, in ASCII."""
    if not "".join(texts).encode("utf-8", "surrogatepass").translate(None, _PLAIN):
        return list(texts)
    return [json.dumps(text)[1:-1] for text in texts]


def unescaped(texts: Sequence[str]) -> list[str]:
    """The texts that ``escaped`` was given."""
    return [json.loads(f'"{text}"') if "\\" in text else text for text in texts]


def html_safe(texts: Sequence[str]) -> list[str]:
    """As ``escaped``, and no text can end a script element of a page that holds the trace."""
    return [text.replace("<", "\\u003c") for text in escaped(texts)]


def process_events(pid: int, name: str) -> list[str]:
    """The name of a process, and its place among the others."""
    (text,) = html_safe([name])
    place = f'"pid":{pid}'
    return [
        metadata_event("process_name", place, f'"name":"{text}"'),
        metadata_event("process_sort_index", place, f'"sort_index":{pid}'),
    ]


def thread_event(pid: int, tid: int, name: str) -> str:
    """The name of a thread."""
    (text,) = html_safe([name])
    return metadata_event("thread_name", f'"pid":{pid},"tid":{tid}', f'"name":"{text}"')


def metadata_event(kind: str, place: str, args: str) -> str:
    """What a process or thread is called, or its place among others; ``args`` are JSON members."""
    return f'{{"ph":"M","name":"{kind}",{place},"args":{{{args}}}}}'


def classic_process_event(pid: int, name: str) -> str:
    """The name of a process as the original writes it: an escaped text, keys in their order."""
    return f'{{"args":{{"name":"{name}"}},"name":"process_name","ph":"M","pid":{pid}}}'


def lines_of(events: Iterable[str]) -> bytes:
    """Some events, one a line."""
    return ",\n".join(events).encode()


def whole_trace(
    pieces: Iterable[bytes],
    head: bytes,
    tail: bytes = b"\n]}\n",
    *,
    first: bytes = b"",
    between: bytes = b",\n",
) -> Iterator[bytes]:
    """A whole trace.

    Args:
        pieces: Some events each; empty ones are passed over.
        head: What the trace begins with.
        tail: What it ends with.
        first: Between the head and the first event.
        between: Between events of two pieces.
    """
    before = head + first
    for piece in pieces:
        if piece:
            yield before + piece
            before = between
    yield tail if before is between else head + tail


def blocks(size: int) -> Iterator[slice]:
    """Slices that cover ``size`` events, each small enough for one chunk."""
    for start in range(0, size, EVENTS_PER_CHUNK):
        yield slice(start, min(size, start + EVENTS_PER_CHUNK))
