"""Facts as bytes: values of plain types, of records and of NumPy's arrays, as columns.

Equal things lie together, so that they compress well: of a list of records, all values of one
field follow each other, and every text is written once. The bytes say which class each record is
of, and only records, enumerations and calls of ``tfprof.captures`` are made from them.

Form: ``TFPART``, a version of two bytes, a checksum (CRC-32) of the rest, then, compressed by
zlib: the length of the texts, the texts as JSON, and one column with one value. A column is a
letter for its kind, its length, and what the kind needs (``_Writer.column``).
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.errors import MalformedProfileError

MAGIC = b"TFPART"
VERSION = 1
"""Is changed with the form of the bytes. Fields of records are checked by their names."""

_HEADER = struct.Struct("<6sHI")
_LENGTH = struct.Struct("<Q")
_HOME = "tfprof.captures."
_MOST_DEEP = 60

_EFFORT = 3
"""Of zlib: more takes three times as long for 3 % of the bytes."""


def encode(value: Any, *, stands_for: Mapping[type, str] | None = None) -> bytes:
    """A value as bytes; equal values are equal bytes.

    Args:
        value: None, numbers, texts, bytes, arrays, enumerations, records (named tuples and
            dataclasses), and tuples, lists, dicts and sets of these.
        stands_for: Types of which only a word is written, such as the host a fact is of.

    Raises:
        TypeError: A value is of another type.
    """
    writer = _Writer(stands_for or {})
    writer.column([value], 0)
    texts = json.dumps(list(writer.texts), ensure_ascii=True, separators=(",", ":")).encode()
    content = zlib.compress(_LENGTH.pack(len(texts)) + texts + bytes(writer.out), _EFFORT)
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(content)) + content


def decode(data: bytes, *, stands_for: Mapping[str, Any] | None = None) -> Any:
    """The value again.

    Args:
        data: What ``encode`` has made.
        stands_for: What words stand for.

    Raises:
        MalformedProfileError: The bytes are damaged, or of another version.
    """
    if len(data) < _HEADER.size or not data.startswith(MAGIC):
        raise MalformedProfileError("no partial results: they begin with TFPART")
    _, version, checksum = _HEADER.unpack_from(data)
    content = data[_HEADER.size :]
    if version != VERSION:
        raise MalformedProfileError(
            f"partial results of version {version}, and this tfprof has version {VERSION}: make "
            "them again with this one"
        )
    if zlib.crc32(content) != checksum:
        raise MalformedProfileError("partial results are damaged: make them again")
    try:
        plain = zlib.decompress(content)
        (length,) = _LENGTH.unpack_from(plain)
        texts = json.loads(plain[_LENGTH.size : _LENGTH.size + length])
        reader = _Reader(memoryview(plain)[_LENGTH.size + length :], texts, stands_for or {})
        (value,) = reader.column()
    except MalformedProfileError:
        raise
    except Exception as error:  # checksums are no proof against bytes that were made up
        raise MalformedProfileError(
            f"partial results cannot be read ({error}): make them again with this tfprof"
        ) from error
    return value


class _Writer:
    """Writes columns one after the other."""

    def __init__(self, stands_for: Mapping[type, str]) -> None:
        self.out = bytearray()
        self.texts: dict[str, int] = {}
        self._stands_for = stands_for

    def column(self, values: Sequence[Any], depth: int) -> None:
        """Values one below the other; of several kinds, those of each kind together."""
        if depth > _MOST_DEEP:
            raise TypeError("values are nested too deeply")
        alike = set(map(type, values))
        if len(alike) == 1 and alike <= _NEVER_MIXED:
            self._of_kind(alike.pop(), values, depth)
            return
        kinds: dict[Any, list[Any]] = {}
        places: list[int] = []
        numbers: dict[Any, int] = {}
        for value in values:
            kind = self._kind(value)
            places.append(numbers.setdefault(kind, len(numbers)))
            kinds.setdefault(kind, []).append(value)
        if len(kinds) == 1:
            self._of_kind(next(iter(kinds)), values, depth)
            return
        self._begin("m", len(values))
        self._ints(places)
        self._size(len(kinds))
        for kind, members in kinds.items():
            self._of_kind(kind, members, depth + 1)

    def _kind(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return (np.ndarray, value.dtype.str, value.ndim)
        type_ = type(value)
        if type_ is int and not -(2**63) <= value < 2**63:
            return _BigInt
        if type_ not in _PLAIN:
            for known in self._stands_for:
                if isinstance(value, known):
                    return known
        return type_

    def _of_kind(self, kind: Any, values: Sequence[Any], depth: int) -> None:
        if kind in self._stands_for:
            self._begin("h", len(values))
            self._text(self._stands_for[kind])
            return
        if isinstance(kind, tuple):
            self._arrays(kind, values)
            return
        write = _PLAIN.get(kind)
        if write is not None:
            write(self, values, depth)
        elif issubclass(kind, np.generic):
            self.column([value.item() for value in values], depth)
        elif issubclass(kind, enum.Enum):
            self._begin("e", len(values))
            self._class(kind)
            self.column([value.value for value in values], depth + 1)
        elif hasattr(kind, "_fields"):
            self._records(kind, kind._fields, values, depth)
        elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind) if field.init]
            self._records(kind, names, values, depth)
        elif hasattr(kind, "without_events"):
            self._begin("c", len(values))
            self._class(kind)
            self.column([value.without_events() for value in values], depth + 1)
        else:
            raise TypeError(f"no fact may hold {kind.__module__}.{kind.__qualname__}")

    def _begin(self, letter: str, length: int) -> None:
        self.out += letter.encode()
        self._size(length)

    def _size(self, number: int) -> None:
        self.out += _LENGTH.pack(number)

    def _text(self, text: str) -> None:
        self._size(self.texts.setdefault(text, len(self.texts)))

    def _class(self, kind: type) -> None:
        if not kind.__module__.startswith(_HOME):
            raise TypeError(f"no fact may hold {kind.__module__}.{kind.__qualname__}")
        self._text(f"{kind.__module__.removeprefix(_HOME)}:{kind.__qualname__}")

    def _ints(self, values: Sequence[int]) -> None:
        column = np.array(values, np.int64)
        least, most = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        bits = max(most, ~least).bit_length() + 1
        narrow = column.astype(f"i{next(size for size in (1, 2, 4, 8) if bits <= 8 * size)}")
        self._size(narrow.itemsize)
        # Bytes of one weight together: those of high weight are mostly alike.
        self.out += narrow.view(np.uint8).reshape(-1, narrow.itemsize).T.tobytes()

    def _records(self, kind: type, names: Sequence[str], values: Sequence[Any], depth: int) -> None:
        self._begin("r", len(values))
        self._class(kind)
        self._size(len(names))
        for name in names:
            self._text(name)
            self.column([getattr(value, name) for value in values], depth + 1)

    def _arrays(self, kind: tuple[Any, str, int], values: Sequence[Any]) -> None:
        _, dtype, n_axes = kind
        if np.dtype(dtype).hasobject:
            raise TypeError(f"no fact may hold an array of {dtype}")
        self._begin("a", len(values))
        self._text(dtype)
        self._size(n_axes)
        self._ints([length for value in values for length in value.shape])
        flat = np.concatenate([np.zeros(0, dtype), *(value.reshape(-1) for value in values)])
        if flat.dtype == np.int64:
            self._ints(flat.tolist() if len(flat) < 8 else flat)  # type: ignore[arg-type]
        else:
            self.out += flat.tobytes()


def _write_none(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("n", len(values))


def _write_bools(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("b", len(values))
    writer.out += np.packbits(np.array(values, np.bool_)).tobytes()


def _write_ints(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("i", len(values))
    writer._ints(values)


def _write_big(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("I", len(values))
    for value in values:
        writer._text(str(value))


def _write_floats(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("f", len(values))
    writer.out += np.array(values, np.float64).tobytes()


def _write_texts(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("t", len(values))
    texts = writer.texts
    writer._ints([texts.setdefault(value, len(texts)) for value in values])


def _write_bytes(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("y", len(values))
    writer._ints([len(value) for value in values])
    writer.out += b"".join(values)


def _write_many(letter: str) -> Callable[[_Writer, Sequence[Any], int], None]:
    def write(writer: _Writer, values: Sequence[Any], depth: int) -> None:
        writer._begin(letter, len(values))
        writer._ints([len(value) for value in values])
        if letter == "F":  # sets have no order of their own
            values = [sorted(value) for value in values]
        writer.column([one for value in values for one in value], depth + 1)

    return write


def _write_dicts(writer: _Writer, values: Sequence[Any], depth: int) -> None:
    writer._begin("d", len(values))
    writer._ints([len(value) for value in values])
    writer.column([key for value in values for key in value], depth + 1)
    writer.column([one for value in values for one in value.values()], depth + 1)


class _BigInt:
    """Kind of numbers that no machine word holds."""


_PLAIN: Mapping[Any, Callable[[_Writer, Sequence[Any], int], None]] = {
    type(None): _write_none,
    bool: _write_bools,
    int: _write_ints,
    _BigInt: _write_big,
    float: _write_floats,
    str: _write_texts,
    bytes: _write_bytes,
    tuple: _write_many("u"),
    list: _write_many("l"),
    set: _write_many("F"),
    frozenset: _write_many("F"),
    dict: _write_dicts,
}


_NEVER_MIXED = _PLAIN.keys() - {int, _BigInt}
"""Types of which all values are of one kind; most columns have but one, and are long."""


class _Reader:
    """Reads columns one after the other."""

    def __init__(
        self, data: memoryview, texts: Sequence[str], stands_for: Mapping[str, Any]
    ) -> None:
        self._data, self._at = data, 0
        self._texts, self._stands_for = texts, stands_for

    def column(self) -> Sequence[Any]:
        letter = bytes(self._take(1)).decode()
        n = self._size()
        values: Sequence[Any] = getattr(self, _READERS[letter])(n)
        return values

    def _take(self, size: int) -> memoryview:
        if size < 0 or self._at + size > len(self._data):
            raise MalformedProfileError("partial results end too early: make them again")
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def _size(self) -> int:
        (number,) = _LENGTH.unpack(self._take(_LENGTH.size))
        return int(number)

    def _text(self) -> str:
        return self._texts[self._size()]

    def _ints(self, n: int) -> Any:
        size = self._size()
        raw = np.frombuffer(self._take(size * n), np.uint8).reshape(size, n)
        return np.ascontiguousarray(raw.T).view(f"<i{size}").reshape(-1).astype(np.int64)

    def _class(self) -> Any:
        module, _, name = self._text().partition(":")
        kind: Any = importlib.import_module(_HOME + module)
        for part in name.split("."):
            kind = getattr(kind, part)
        is_record = isinstance(kind, type) and kind.__module__ == _HOME + module
        if not is_record:
            raise MalformedProfileError(
                f"partial results hold {module}:{name}, which is not a record"
            )
        return kind

    def read_none(self, n: int) -> Sequence[Any]:
        return [None] * self._bounded(n)

    def read_bools(self, n: int) -> Sequence[Any]:
        bits = np.frombuffer(self._take((n + 7) // 8), np.uint8)
        flags: list[bool] = np.unpackbits(bits, count=n).astype(np.bool_).tolist()
        return flags

    def read_ints(self, n: int) -> Sequence[Any]:
        numbers: list[int] = self._ints(n).tolist()
        return numbers

    def read_big(self, n: int) -> Sequence[Any]:
        return [int(self._text()) for _ in range(n)]

    def read_floats(self, n: int) -> Sequence[Any]:
        numbers: list[float] = np.frombuffer(self._take(8 * n), "<f8").tolist()
        return numbers

    def read_texts(self, n: int) -> Sequence[Any]:
        return [self._texts[number] for number in self._ints(n).tolist()]

    def read_bytes(self, n: int) -> Sequence[Any]:
        return [bytes(self._take(size)) for size in self._ints(n).tolist()]

    def read_tuples(self, n: int) -> Sequence[Any]:
        return self._split(n, tuple)

    def read_lists(self, n: int) -> Sequence[Any]:
        return self._split(n, list)

    def read_sets(self, n: int) -> Sequence[Any]:
        return self._split(n, frozenset)

    def _split(self, n: int, kind: Callable[[Sequence[Any]], Any]) -> Sequence[Any]:
        ends = np.cumsum(self._ints(n)).tolist()
        values = self.column()
        begins = [0, *ends[:-1]]
        return [kind(values[begin:end]) for begin, end in zip(begins, ends, strict=True)]

    def read_dicts(self, n: int) -> Sequence[Any]:
        ends = np.cumsum(self._ints(n)).tolist()
        keys, values = self.column(), self.column()
        begins = [0, *ends[:-1]]
        return [
            dict(zip(keys[begin:end], values[begin:end], strict=True))
            for begin, end in zip(begins, ends, strict=True)
        ]

    def read_enums(self, n: int) -> Sequence[Any]:
        kind = self._class()
        return [kind(value) for value in self.column()]

    def read_calls(self, n: int) -> Sequence[Any]:
        kind = self._class()
        return [kind.from_parts(*parts) for parts in self.column()]

    def read_records(self, n: int) -> Sequence[Any]:
        kind = self._class()
        columns = {}
        for _ in range(self._size()):
            name = self._text()
            columns[name] = self.column()
        known = set(getattr(kind, "_fields", ())) or {
            field.name for field in dataclasses.fields(kind) if field.init
        }
        if known != columns.keys():
            raise MalformedProfileError(
                f"partial results of another tfprof: {kind.__name__} has other fields. Make them "
                "again with this one"
            )
        names = list(columns)
        if not names:
            return [kind() for _ in range(self._bounded(n))]
        rows = zip(*columns.values(), strict=True)
        return [kind(**dict(zip(names, row, strict=True))) for row in rows]

    def read_hosts(self, n: int) -> Sequence[Any]:
        return [self._stands_for[self._text()]] * self._bounded(n)

    def read_arrays(self, n: int) -> Sequence[Any]:
        dtype, n_axes = np.dtype(self._text()), self._size()
        shapes = self._ints(n * n_axes).reshape(n, n_axes)
        sizes = shapes.prod(axis=1)
        total = int(sizes.sum())
        if dtype == np.int64:
            flat = self._ints(total)
        else:
            flat = np.frombuffer(self._take(total * dtype.itemsize), dtype)
        parts = np.split(flat, np.cumsum(sizes)[:-1]) if n else []
        return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]

    def read_mixed(self, n: int) -> Sequence[Any]:
        places = self._ints(n).tolist()
        kinds = [iter(self.column()) for _ in range(self._size())]
        return [next(kinds[place]) for place in places]

    def _bounded(self, n: int) -> int:
        """A length that no bytes vouch for."""
        if n > len(self._data) * 8 + 64:
            raise MalformedProfileError("partial results have an impossible length")
        return n


_READERS = {
    "n": "read_none", "b": "read_bools", "i": "read_ints", "I": "read_big", "f": "read_floats",
    "t": "read_texts", "y": "read_bytes", "u": "read_tuples", "l": "read_lists", "F": "read_sets",
    "d": "read_dicts", "e": "read_enums", "c": "read_calls", "r": "read_records",
    "h": "read_hosts", "a": "read_arrays", "m": "read_mixed",
}  # fmt: skip
