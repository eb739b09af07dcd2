"""JSON text of Chrome's trace events, made in chunks so that no trace is ever held as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

EVENTS_PER_CHUNK: Final = 1 << 14
"""Number of events to make at once; they take a few megabytes."""


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
    return [
        f'{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"{text}"}}}}',
        f'{{"ph":"M","name":"process_sort_index","pid":{pid},"args":{{"sort_index":{pid}}}}}',
    ]


def thread_event(pid: int, tid: int, name: str) -> str:
    """The name of a thread."""
    (text,) = html_safe([name])
    return f'{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":"{text}"}}}}'


def classic_process_event(pid: int, name: str) -> str:
    """The name of a process as the original writes it: an escaped text, keys in their order."""
    return f'{{"args":{{"name":"{name}"}},"name":"process_name","ph":"M","pid":{pid}}}'


def trace_chunks(
    head: str, batches: Iterable[Sequence[str]], tail: str, separator: str = ","
) -> Iterator[bytes]:
    """A trace as bytes: ``head``, the texts of events with separators between them, ``tail``."""
    before = head
    for events in batches:
        if events:
            yield (before + separator.join(events)).encode("ascii")
            before = separator
    yield (tail if before is separator else head + tail).encode("ascii")


def blocks(size: int) -> Iterator[slice]:
    """Slices that cover ``size`` events, each small enough for one chunk."""
    for start in range(0, size, EVENTS_PER_CHUNK):
        yield slice(start, min(size, start + EVENTS_PER_CHUNK))
