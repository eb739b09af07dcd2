"""Checkpoints of the second format: an index, and shards that hold only values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod
from typing import Final, Literal

import numpy as np

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.errors import InputError, MalformedProfileError
from tfprof.files.checkpoint.dtypes import ELEMENT_TYPES, Array, ElementType, values_of
from tfprof.files.checkpoint.slices import SLICE_KEY_START, Slice, assembled, may_cover
from tfprof.files.checkpoint.stored import (
    Format,
    StoredTensor,
    damaged,
    plain_shape,
    readable_type,
)
from tfprof.files.checkpoint.table import File, Table
from tfprof.files.crc32c import crc32c, masked
from tfprof.files.remote.path import AnyPath

INDEX_SUFFIX: Final = ".index"

_HEADER_KEY: Final = b""
_CHECKSUM_BYTES: Final = 4
_MOST_SHARDS: Final = 99_999
_MOST_SHARING: Final = 16


def _shards_with_shared_bytes(entries: Iterable[pb.BundleEntryProto]) -> frozenset[int]:
    """Shards of which variables take many times the bytes between the first and the last one.

    No writer lets variables share bytes, and thousands that do would take hours to read.
    """
    sizes, starts, ends = Counter[int](), dict[int, int](), dict[int, int]()
    for entry in entries:
        shard, start, end = entry.shard_id, entry.offset, entry.offset + entry.size
        sizes[shard] += entry.size
        starts[shard] = min(starts.get(shard, start), start)
        ends[shard] = max(ends.get(shard, end), end)
    between = {shard: ends[shard] - start for shard, start in starts.items()}
    return frozenset(shard for shard in sizes if sizes[shard] > _MOST_SHARING * between[shard])


class Bundle:
    """A checkpoint of the second format; its index is read at once.

    Args:
        prefix: Its path, without ``.index``.

    Attributes:
        format: ``"V2"``.
        tensors: Its tensors.

    Raises:
        InputError: The index cannot be read.
        MalformedProfileError: The index is damaged.
    """

    def __init__(self, prefix: AnyPath) -> None:
        self.format: Format = "V2"
        self._prefix = prefix
        self._index = prefix.with_name(prefix.name + INDEX_SUFFIX)
        self._entries: dict[bytes, pb.BundleEntryProto] = {}
        header = None
        for key, value in Table(self._index):
            if key == _HEADER_KEY:
                header = parse(pb.BundleHeaderProto, value, source=str(self._index))
            else:
                entry = parse(pb.BundleEntryProto, value, source=str(self._index))
                self._entries[key] = entry
        if header is None or not 0 < header.num_shards <= _MOST_SHARDS:
            raise damaged(str(self._index), "it does not say how many shards there are")
        self._n_shards = header.num_shards
        self._sharing = _shards_with_shared_bytes(self._entries.values())
        self._is_big_endian = header.endianness == pb.BundleHeaderProto.BIG
        self.tensors: Mapping[str, StoredTensor] = {
            tensor.name: tensor
            for key, entry in self._entries.items()
            if not key.startswith(SLICE_KEY_START)
            for tensor in [self._tensor(key, entry)]
        }

    def missing_files(self) -> tuple[AnyPath, ...]:
        """Missing shards."""
        shards = map(self._shard, range(self._n_shards))
        return tuple(path for path in shards if not path.is_file())

    def read(self, name: str, *, verify: bool) -> Array:
        """The values of a tensor.

        Args:
            name: Its key, which must be there.
            verify: Compare checksums.

        Raises:
            InputError: A shard cannot be read, or NumPy cannot hold the values.
            MalformedProfileError: They are damaged.
        """
        tensor = self.tensors[name]
        where = f"{self._prefix}: variable {name}"
        kind = readable_type(tensor, where)
        entry = self._entries[name.encode()]
        if not entry.slices:
            return self._values(entry, tensor.shape, kind, where, verify=verify)
        parts = [Slice.of(message) for message in entry.slices]
        places = [part.place(tensor.shape) for part in parts]
        known = [place for place in places if place is not None]
        if len(known) < len(parts) or not may_cover(tensor.shape, known):
            raise damaged(where, "its parts do not make up the whole")
        read = []
        for part, place in zip(parts, known, strict=True):
            stored = self._entries.get(part.key(name))
            shape = tuple(bounds.stop - bounds.start for bounds in place)
            if stored is None:
                raise damaged(where, "one of its parts is missing")
            if plain_shape(stored.shape, where) != shape or stored.dtype != entry.dtype:
                raise damaged(where, "one of its parts has an unexpected shape or type")
            read.append((place, self._values(stored, shape, kind, where, verify=verify)))
        whole = assembled(tensor.shape, read)
        if whole is None:
            raise damaged(where, "its parts overlap")
        return whole

    def _tensor(self, key: bytes, entry: pb.BundleEntryProto) -> StoredTensor:
        try:
            name = key.decode()
        except UnicodeDecodeError as error:
            raise damaged(str(self._index), f"the name {key[:60]!r} is not UTF-8") from error
        shape = plain_shape(entry.shape, f"{self._index}: variable {name}")
        kind = ELEMENT_TYPES.get(entry.dtype)
        if kind is not None:
            n_bytes = prod(shape) * kind.stored.itemsize
        else:
            n_bytes = entry.size + sum(self._part_bytes(name, part) for part in entry.slices)
        return StoredTensor(name, entry.dtype, shape, n_bytes)

    def _part_bytes(self, name: str, part: pb.TensorSliceProto) -> int:
        stored = self._entries.get(Slice.of(part).key(name))
        return 0 if stored is None else stored.size

    def _shard(self, number: int) -> AnyPath:
        suffix = f".data-{number:05}-of-{self._n_shards:05}"
        return self._prefix.with_name(self._prefix.name + suffix)

    def _values(
        self,
        entry: pb.BundleEntryProto,
        shape: tuple[int, ...],
        kind: ElementType | None,
        where: str,
        *,
        verify: bool,
    ) -> Array:
        path = self._shard(entry.shard_id)
        if not path.is_file():
            raise InputError(
                f"{where}: its values cannot be read: there is no file {path}. Copy it, too; "
                f"names and shapes are in {self._index.name}"
            )
        if entry.shard_id in self._sharing:
            raise damaged(where, f"variables share bytes of {path.name}, which none does")
        n_elements = prod(shape)
        if kind is not None and entry.size != n_elements * kind.stored.itemsize:
            raise damaged(where, f"{entry.size} bytes are not {n_elements} of {kind.name}")
        data = File(path).read(entry.offset, entry.size)
        checked: bytes | memoryview = data.data
        if kind is None:
            values, checked = self._strings(data.tobytes(), n_elements, where)
        else:
            order: Literal["<", ">"] = ">" if self._is_big_endian else "<"
            values = values_of(kind, data.view(kind.stored.newbyteorder(order)))
        if verify:
            _compare(f"{where}: its values in {path}", masked(crc32c(checked)), entry.crc32c)
        return values.reshape(shape)

    def _strings(self, data: bytes, count: int, where: str) -> tuple[Array, bytes]:
        """Texts, and the bytes for their checksum: lengths as 32-bit numbers, and the rest."""
        if count > len(data):  # a length is a byte, at least
            raise damaged(where, f"{len(data)} bytes are not {count} texts")
        lengths, place = _lengths(data, count, where)
        start = place + _CHECKSUM_BYTES
        if start + sum(lengths) != len(data):
            raise damaged(where, "the lengths of its texts do not add up")
        order: Literal["big", "little"] = "big" if self._is_big_endian else "little"
        checked = b"".join(
            length.to_bytes(4 if length < 1 << 32 else 8, order) for length in lengths
        )
        expected = int.from_bytes(data[place:start], order)
        _compare(f"{where}: the lengths of its texts", masked(crc32c(checked)), expected)
        values = np.empty(count, np.object_)
        for number, length in enumerate(lengths):
            values[number] = data[start : start + length]
            start += length
        return values, checked + data[place:]


def _lengths(data: bytes, count: int, where: str) -> tuple[list[int], int]:
    """Variable-length numbers at the start, and where they end."""
    lengths = []
    length = shift = 0
    for place, byte in enumerate(data if count else b""):
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte >= 0x80 and shift < 64:
            continue
        lengths.append(length)
        length = shift = 0
        if len(lengths) == count:
            return lengths, place + 1
    if count:
        raise damaged(where, "the lengths of its texts have no end")
    return [], 0


def _compare(what: str, computed: int, expected: int) -> None:
    if computed != expected:
        raise MalformedProfileError(
            f"{what} are damaged: their checksum is {computed:#010x}, not {expected:#010x} as was "
            "written. Copy the file again, or use another checkpoint"
        )
