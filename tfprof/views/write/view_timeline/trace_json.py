"""JSON text of Chrome's trace events, made in chunks so that no trace is ever held as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tfprof.views.write.client_timeline.step import escaped

EVENTS_PER_CHUNK: Final = 1 << 14
"""So many events are made at once; they take a few megabytes."""


def json_texts(texts: Sequence[str]) -> list[str]:
    """Texts as they stand between the quotes of a JSON string, in ASCII."""
    return escaped(list(texts))


def html_safe_texts(texts: Sequence[str]) -> list[str]:
    """As ``json_texts``, and no text can end a script element of a page that holds the trace."""
    return [text.replace("<", "\\u003c") for text in json_texts(texts)]


def trace_chunks(
    head: str, batches: Iterable[Sequence[str]], tail: str, separator: str = ","
) -> Iterator[bytes]:
    """A trace as bytes.

    Args:
        head: What stands before the first event.
        batches: Texts of events, some at a time.
        tail: What stands behind the last event.
        separator: What stands between two events.
    """
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
