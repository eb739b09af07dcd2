"""Requests to a profiler server and its answers, in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.core.wire import messages
from tfprof.core.wire.walk import LENGTH_DELIMITED, WireError, walk
from tfprof.options.captures import CaptureOptions
from tfprof.remote.troubles import ServerError, shortened

_VERSION = 1
_XSPACE, _EMPTY_TRACE = 8, 7  # of ProfileResponse
_ERRORS, _WARNINGS = 2, 3  # of XSpace
_MOST_REMARKS, _MOST_REMARK_BYTES = 100, 2000


def profile_request(
    options: CaptureOptions,
    duration_seconds: float,
    *,
    start_ns: int = 0,
    place: tuple[str, str, str] | None = None,
) -> bytes:
    """A serialized ``ProfileRequest``.

    Args:
        options: What to record; the levels of the tracers count.
        duration_seconds: How long.
        start_ns: When to begin, in nanoseconds since 1970; 0 is at once.
        place: Folder of runs (a path of the server's machine), run, and stem of the file's name,
            if the server writes the file; None requests the capture in the answer.
    """
    duration_ms = max(1, round(duration_seconds * 1000))
    opts = messages.ProfileOptions(
        version=_VERSION,
        include_dataset_ops=True,
        enable_hlo_proto=True,
        host_tracer_level=options.host_tracer_level,
        python_tracer_level=options.python_tracer_level,
        device_tracer_level=options.device_tracer_level,
        start_timestamp_ns=start_ns,
        duration_ms=duration_ms,
    )
    request = messages.ProfileRequest(duration_ms=duration_ms, opts=opts, emit_xspace=place is None)
    if place is not None:
        request.repository_root, request.session_id, request.host_name = place
    return request.SerializeToString()


@dataclass(frozen=True, slots=True)
class Received:
    """A capture out of an answer.

    Attributes:
        parts: The XSpace, whose bytes are these one after the other.
        is_empty: Whether nothing was recorded.
        remarks: What the profiler itself reports as errors and warnings: the first of them, and
            the beginning of each.
    """

    parts: tuple[memoryview, ...]
    is_empty: bool
    remarks: tuple[str, ...]

    @property
    def n_bytes(self) -> int:
        """Size of the capture."""
        return sum(map(len, self.parts))


def received(response: bytes) -> Received:
    """The capture in a serialized ``ProfileResponse``; its bytes are not touched.

    Raises:
        ServerError: The bytes are not a ``ProfileResponse``.
    """
    view = memoryview(response)
    parts: list[memoryview] = []
    remarks: dict[str, None] = {}
    is_empty = False
    try:
        for field in walk(view):
            if field.number == _XSPACE and field.wire_type == LENGTH_DELIMITED:
                parts.append(view[field.offset : field.offset + field.value])
            elif field.number == _EMPTY_TRACE:
                is_empty = bool(field.value)
        for part in parts:
            for field in walk(part):
                is_remark = field.number in (_ERRORS, _WARNINGS)
                if is_remark and field.wire_type == LENGTH_DELIMITED:
                    n_bytes = min(field.value, _MOST_REMARK_BYTES)
                    text = bytes(part[field.offset : field.offset + n_bytes])
                    if len(remarks) < _MOST_REMARKS:
                        remarks[shortened(text.decode("utf-8", "replace"))] = None
    except WireError as error:
        raise ServerError(f"its answer is damaged: {error.problem}", may_pass=True) from error
    return Received(tuple(parts), is_empty, tuple(remarks))
