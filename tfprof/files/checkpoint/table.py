"""Sorted string tables, as LevelDB writes them: the container of checkpoints.

A table is a list of blocks. The last one, the index, has the positions of the others. A block is a
list of entries, each a key and a value; a key leaves out the prefix that it shares with the one
before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.errors import MalformedProfileError, UnknownFormatError
from tfprof.files.checkpoint.snappy import SnappyError, decompress
from tfprof.files.crc32c import crc32c, masked
from tfprof.files.disk import opened, unreadable
from tfprof.files.remote.path import AnyPath

TABLE_MAGIC: Final = 0xDB4775248B80FB57.to_bytes(8, "little")
"""The last bytes of a table."""

_FOOTER_BYTES: Final = 48
_TRAILER_BYTES: Final = 5
"""Size of a block's trailer: its compression, and the masked checksum of both."""

_PLAIN, _SNAPPY = 0, 1
_MOST_KEY_GROWTH: Final = 32
"""How much longer keys may be than their block. Writers spell one in 16 out."""

_MOST_KEPT_BYTES: Final = 1 << 18
"""Size at which writers end a block: smaller values share one, often with thousands of others."""


class File:
    """A file that is read in parts, and open only during each read.

    Attributes:
        path: Its path.
        size: In bytes.

    Raises:
        InputError: There is no such file.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        try:
            self.size = path.stat().st_size
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from error

    def read(self, offset: int, size: int) -> npt.NDArray[np.uint8]:
        """A part, which must be there.

        Raises:
            InputError: The file cannot be read.
            MalformedProfileError: It ends before.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise MalformedProfileError(
                f"{self.path}: cut off or damaged: {size} bytes wanted at byte {offset} of "
                f"{self.size}. Copy the file again"
            )
        part = np.empty(size, np.uint8)
        with opened(self.path, whole=False) as stream:
            stream.seek(offset)
            n_read = stream.readinto(part)  # type: ignore[attr-defined]
        if n_read < size:
            raise MalformedProfileError(f"{self.path}: became shorter while it was read")
        return part


class Entry(NamedTuple):
    """A key and its value."""

    key: bytes
    value: bytes


class _Handle(NamedTuple):
    """Where a block is."""

    offset: int
    size: int


class Table:
    """A table. Only its index is read at once.

    Args:
        path: The file.

    Attributes:
        file: The file.

    Raises:
        InputError: It cannot be read.
        UnknownFormatError: It is not a table.
        MalformedProfileError: It is damaged.
    """

    def __init__(self, path: AnyPath) -> None:
        self.file = File(path)
        if not is_table(self.file):
            raise UnknownFormatError(
                f"{path}: not a TensorFlow checkpoint: it does not end as a table does. Check "
                "that it is the right file, and whole"
            )
        footer = self.file.read(self.file.size - _FOOTER_BYTES, _FOOTER_BYTES).tobytes()
        _, place = self._handle(footer, 0)
        index, _ = self._handle(footer, place)
        self._last_keys: list[bytes] = []
        self._handles: list[_Handle] = []
        self._kept: tuple[tuple[int, bool], dict[bytes, bytes]] = ((-1, False), {})
        end = 0
        for key, value in self._entries(index, verify=True):
            handle, _ = self._handle(value, 0)
            # Then a block is read once, whatever the index says.
            if handle.offset < end or (self._last_keys and key < self._last_keys[-1]):
                raise self._damaged(f"the block at byte {handle.offset} is out of order")
            end = handle.offset + handle.size
            self._last_keys.append(key)
            self._handles.append(handle)

    def __iter__(self) -> Iterator[Entry]:
        """All entries in order.

        Raises:
            InputError: The file cannot be read.
            MalformedProfileError: It is damaged.
        """
        for handle in self._handles:
            yield from self._entries(handle, verify=True)

    def get(self, key: bytes, *, verify: bool = True) -> bytes | None:
        """The value of a key, or None. Errors as in iteration.

        Small values of the block are cached, so that reading them one by one reads it once.

        Args:
            key: The key.
            verify: Compare checksums.
        """
        place = bisect_left(self._last_keys, key)
        if place == len(self._last_keys):
            return None
        block, kept = self._kept
        if block != (place, verify) or key not in kept:
            values = dict(self._entries(self._handles[place], verify=verify))
            small = {name: value for name, value in values.items() if len(value) < _MOST_KEPT_BYTES}
            self._kept = ((place, verify), small)
            return values.get(key)
        return kept[key]

    def _entries(self, handle: _Handle, *, verify: bool) -> Iterator[Entry]:
        block = self._block(handle, verify=verify)
        end = self._end_of_entries(block, handle)
        place = n_key_bytes = 0
        key = b""
        while place < end:
            n_shared, place = self._number(block, place, end)
            n_own, place = self._number(block, place, end)
            n_value, place = self._number(block, place, end)
            value_start = place + n_own
            n_key_bytes += n_shared + n_own
            if (
                n_shared > len(key)
                or value_start + n_value > end
                or n_key_bytes > _MOST_KEY_GROWTH * len(block)
            ):
                raise self._damaged(f"an entry of the block at byte {handle.offset} is too long")
            key = key[:n_shared] + block[place:value_start]
            place = value_start + n_value
            yield Entry(key, block[value_start:place])

    def _block(self, handle: _Handle, *, verify: bool) -> bytes:
        data = self.file.read(handle.offset, handle.size + _TRAILER_BYTES)
        compression = int(data[handle.size])
        if verify:
            expected = int.from_bytes(data[handle.size + 1 :].tobytes(), "little")
            computed = masked(crc32c(data.data[: handle.size + 1]))
            if expected != computed:
                raise self._damaged(
                    f"the block at byte {handle.offset} has the checksum {computed:#010x}, not "
                    f"{expected:#010x} as was written"
                )
        block = data[: handle.size].tobytes()
        if compression == _PLAIN:
            return block
        if compression != _SNAPPY:
            raise self._damaged(
                f"the block at byte {handle.offset} is compressed in an unknown way ({compression})"
            )
        try:
            return decompress(block)
        except SnappyError as error:
            message = f"the compressed block at byte {handle.offset}: {error}"
            raise self._damaged(message) from error

    def _end_of_entries(self, block: bytes, handle: _Handle) -> int:
        """Start of the list of whole keys, which only a search needs."""
        n_restarts = int.from_bytes(block[-4:], "little")
        end = len(block) - 4 * (n_restarts + 1)
        if len(block) < 4 or end < 0:
            raise self._damaged(f"the block at byte {handle.offset} is too short")
        return end

    def _handle(self, data: bytes, place: int) -> tuple[_Handle, int]:
        offset, place = self._number(data, place, len(data))
        size, place = self._number(data, place, len(data))
        return _Handle(offset, size), place

    def _number(self, data: bytes, place: int, end: int) -> tuple[int, int]:
        """A variable-length number and where it ends."""
        value = shift = 0
        while place < end and shift < 64:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, place
            shift += 7
        raise self._damaged("a number has no end")

    def _damaged(self, problem: str) -> MalformedProfileError:
        return MalformedProfileError(
            f"{self.file.path}: damaged: {problem}. Copy the file again, or use another checkpoint"
        )


def is_table(file: File) -> bool:
    """Whether a file ends as a table does.

    Raises:
        InputError: It cannot be read.
    """
    n_magic = len(TABLE_MAGIC)
    if file.size < _FOOTER_BYTES:
        return False
    return file.read(file.size - n_magic, n_magic).tobytes() == TABLE_MAGIC
