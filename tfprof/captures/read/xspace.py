"""Bytes of an XSpace → ``XSpace``, plane by plane, in parallel and without messages."""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.captures.model.xspace import Plane, XSpace
from tfprof.captures.read.xspace_damage import Damage
from tfprof.captures.read.xspace_plane import MAX_LINES, PlaneReader
from tfprof.core.columns.remarks import Notice
from tfprof.core.wire import messages as pb
from tfprof.core.wire.walk import WireError, read_varint
from tfprof.core.wire.xspace_lines import Elements, elements
from tfprof.errors import MalformedProfileError, UsageError
from tfprof.files.compression import decompressed
from tfprof.files.disk import forget, read_file
from tfprof.files.open import LoadedFile, parse_text
from tfprof.files.remote.path import named
from tfprof.files.sniff import Format, check_expected, packed_format
from tfprof.files.spill import Room
from tfprof.files.threads import number_of_threads

if TYPE_CHECKING:
    from tfprof.files.open import Source

DAMAGED: Final = "damaged-xspace"
"""Code of the notice on a capture with unreadable parts."""

_LONGEST = 1 << 40
"""Lengths that lead beyond this offset are damaged."""

MAX_PLANES = 500
"""Real captures have some dozens. Every plane, even a small one, costs some kilobytes, and a third
of a millisecond in the reader alone."""

_SMALL = 1 << 20
"""Bytes below which threads cost more time than they save."""

_ARGUMENT = "xspace"
_PLANES, _ERRORS, _WARNINGS, _HOSTNAMES = 1, 2, 3, 4


def read_xspace(
    source: Source,
    *,
    threads: int | None = None,
    strict: bool = False,
    memory_bytes: int | None = None,
) -> XSpace:
    """Read the TensorFlow 2 profiler's capture of one host.

    A file may be of any size that fits into memory. Its content is copied, so that later changes of
    the file have no effect. The reader releases bytes of the copy as they become columns. Columns
    take about seven tenths of an ordinary file's size, and reading takes no more memory than the
    file.

    Args:
        source: An XSpace as message, bytes or file (``.xplane.pb``, also compressed).
        threads: Number of threads; by default ``TFPROF_THREADS``, or one for each core up to four.
            The result does not depend on it.
        strict: Refuse damaged captures. By default the readable part is returned, with a notice.
        memory_bytes: Bound of the memory for the capture and all data derived from it: columns
            beyond it, and the copy, lie in files without a name in the system's folder for
            temporary files (``TMPDIR``). The result does not depend on it. By default all is in
            memory.

    Raises:
        UsageError: The source has an unsupported type, or ``threads`` is below 1.
        InputError: The file cannot be read, or was written to meanwhile; or the disk has no space
            for data beyond ``memory_bytes``.
        UnknownFormatError: The source is not a capture.
        MalformedProfileError: It is damaged and ``strict`` is set, or compressed and damaged, or
            its bytes changed meanwhile.
    """
    n_threads = number_of_threads(threads)
    room = Room(memory_bytes)
    data, label, is_ours = _open(source, room)
    damage = Damage()
    top = elements(data, 0, len(data))
    is_text = np.frombuffer(data, np.uint8)[top.tag] & 7 == 2 if len(data) else np.zeros(0, bool)
    places = np.flatnonzero((top.number == _PLANES) & is_text)
    if len(places) > MAX_PLANES:
        first = int(top.tag[places[MAX_PLANES]])
        where = f"planes[{MAX_PLANES}], beyond the {MAX_PLANES} planes that are read"
        damage.add(first, where, len(data) - first)
        places = places[:MAX_PLANES]
    readers = [
        PlaneReader(data, int(top.start[place]), int(top.stop[place]), number)
        for number, place in enumerate(places.tolist())
    ]
    if top.end < len(data):
        if len(places) and top.tag[places[-1]] == top.end:
            readers[-1].is_cut = True  # it finds the exact place
        else:
            damage.add(top.end, "", len(data) - top.end)
    n_threads = 1 if len(data) < _SMALL else n_threads
    for one in readers:
        one.is_alone = n_threads == 1
        one.room = room
        one.forget = functools.partial(forget, data) if is_ours else None
    _read_planes(readers, n_threads)
    if any(reader.has_changed for reader in readers):
        raise MalformedProfileError(
            f"{label}: was written to while it was read; read it when it is complete"
        )
    planes = tuple([reader.plane() for reader in readers])
    for reader in readers:
        damage.extend(reader.damage)
    texts = {number: _texts(data, top, is_text, number) for number in (2, 3, 4)}
    missing = _missing(data, top.end) if top.end < len(data) else 0
    notices = _judge(damage, planes, len(data), label, strict=strict, missing=missing)
    return XSpace(planes, texts[_ERRORS], texts[_WARNINGS], texts[_HOSTNAMES], notices, room)


def read_plane(data: memoryview, label: str) -> Plane:
    """Read an XSpace that consists of a single undamaged plane.

    Args:
        data: The field of the plane, with its tag.
        label: Its name in errors.

    Raises:
        MalformedProfileError: The plane is damaged.
    """
    top = elements(data, 0, len(data))
    reader = PlaneReader(data, int(top.start[0]), int(top.stop[0]), 0)
    reader.is_alone = len(data) < _SMALL
    _read_planes([reader], 1 if reader.is_alone else number_of_threads(None))
    plane = reader.plane()
    _judge(reader.damage, (plane,), len(data), label, strict=True)
    return plane


def _read_planes(readers: Sequence[PlaneReader], n_threads: int) -> None:
    """Take each step for all planes together, so that one large plane keeps all threads busy."""
    if n_threads == 1:
        _in_steps(readers, lambda tasks: deque(map(_call, tasks), 0))
    else:
        with ThreadPoolExecutor(n_threads, "tfprof") as pool:
            _in_steps(readers, lambda tasks: deque(pool.map(_call, tasks), 0))


def _in_steps(
    readers: Sequence[PlaneReader], run: Callable[[Iterable[Callable[[], None]]], object]
) -> None:
    run([reader.outline for reader in readers])
    room = MAX_LINES
    for reader in readers:
        room -= reader.keep_lines(room)
    run([reader.split for reader in readers])
    run([task for reader in readers for task in reader.counting()])
    waiting = list(readers)
    while waiting:
        run([task for reader in waiting for task in reader.reading()])
        waiting = [reader for reader in waiting if not reader.fits()]


def _call(task: Callable[[], None]) -> None:
    task()


def _texts(data: memoryview, top: Elements, is_text: Any, number: int) -> tuple[str, ...]:
    """The texts of a repeated field; a truncated one ends early."""
    places = np.flatnonzero((top.number == number) & is_text)
    bounds = zip(top.start[places].tolist(), top.stop[places].tolist(), strict=True)
    return tuple([str(data[start:stop], "utf-8", "replace") for start, stop in bounds])


def _missing(data: memoryview, tag: int) -> int:
    """Bytes of a field that are missing after the end of the data, by its stated length.

    Args:
        data: The message.
        tag: Where the field begins.
    """
    try:
        number, start = read_varint(data, tag, len(data))
        size, start = read_varint(data, start, len(data))
    except WireError:  # cut within the length itself
        return 0
    end = start + size
    return end - len(data) if number & 7 == 2 and end < _LONGEST else 0


def _judge(
    damage: Damage,
    planes: Sequence[Plane],
    size: int,
    label: str,
    *,
    strict: bool,
    missing: int = 0,
) -> tuple[Notice, ...]:
    """A notice of the damage; an error if ``strict`` is set."""
    if damage.first is None:
        return ()
    offset, where = damage.first
    place = f"byte {offset} of {size}" + (f", in {where}" if where else "")
    lost = f"{min(damage.lost, size)} bytes cannot be read"
    if missing > 0:
        lost += f", and by the lengths it states {missing} more are missing behind its end"
    if strict:
        raise MalformedProfileError(
            f"{label}: truncated or damaged XSpace message: it breaks at {place}; {lost}. "
            "Copy or record the file again, or read it without strict"
        )
    n_events = sum(len(plane.events) for plane in planes)
    text = (
        f"{label} is truncated or damaged: it breaks at {place}; {lost}. "
        f"{len(planes)} planes with {n_events} events were read. Copy or record the file again"
    )
    return (Notice(DAMAGED, text, damage.count),)


def _open(source: Source, room: Room) -> tuple[memoryview, str, bool]:
    """The serialized message, its name, and whether no other code holds it."""
    name = getattr(getattr(source, "DESCRIPTOR", None), "full_name", "")
    if name:
        if name != pb.XSpace.DESCRIPTOR.full_name:
            raise UsageError(f"xspace must be an XSpace message; got a {name}")
        message: Any = source
        return memoryview(message.SerializePartialToString()), _ARGUMENT, True
    if isinstance(source, LoadedFile):
        return _binary(memoryview(source.data), source.path), source.path, False
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _binary(memoryview(bytes(source)), _ARGUMENT), _ARGUMENT, True
    if isinstance(source, (str, os.PathLike)):
        content = memoryview(read_file(source, room=room))
        return _binary(content, named(source)), named(source), True
    raise UsageError(
        f"xspace must be an XSpace message, its bytes or a path; got {type(source).__name__}"
    )


def _binary(data: memoryview, label: str) -> memoryview:
    """The message, decompressed if necessary, and serialized if it is text."""
    if packed_format(data) is not None:
        data = memoryview(decompressed(bytes(data), label))
    if not check_expected(data, Format.XSPACE, label):
        return data
    return memoryview(parse_text(pb.XSpace, bytes(data), label).SerializeToString())
