"""Facts as bytes: values of plain types, of records and of NumPy's arrays, as columns.

Similar values are adjacent, so that they compress well: for a list of records, all values of one
field follow each other. The bytes contain the class of each record. The reader makes only records,
enumerations and calls of ``tfprof.captures`` from them.

Form: ``TFPART``, a version of two bytes, a checksum (CRC-32) of the rest, then JSON, compressed by
zlib. A column of numbers, texts, truth values and None is a list; any other column is an object
whose first key determines how to read it (``_Reader``).
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
import itertools
import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np

from tfprof.errors import MalformedProfileError

MAGIC = b"TFPART"
VERSION = 2
"""Version of the form of the bytes. Changes of records are found by the names of fields."""

_HEADER = struct.Struct("<6sHI")
_HOME = "tfprof.captures."
_MOST_DEEP = 60
_WIDEST_BYTES = 1024
"""Most bytes of one value in an array."""

_EFFORT = 3
"""Level of zlib: a higher one takes three times as long to save 3 % of the bytes."""

_SCALARS = frozenset((NoneType, bool, int, float, str))
_MANY: Mapping[type, str] = {tuple: "tuples", list: "lists", set: "sets", frozenset: "sets"}

Column = list[Any] | dict[str, Any]
"""Values of a column in the form of JSON."""


def encode(value: Any, *, stands_for: Mapping[type, str] | None = None) -> bytes:
    """A value as bytes; equal values are equal bytes.

    Args:
        value: None, numbers, texts, bytes, arrays, enumerations, records (named tuples and
            dataclasses), and tuples, lists, dicts and sets of these.
        stands_for: Types that are written as a word alone, such as the host of a fact.

    Raises:
        TypeError: A value has another type.
    """
    column = _Writer(stands_for or {}).column([value])
    content = zlib.compress(json.dumps(column, separators=(",", ":")).encode(), _EFFORT)
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(content)) + content


def decode(data: bytes, *, stands_for: Mapping[str, Any] | None = None) -> Any:
    """The value of encoded bytes.

    Args:
        data: Bytes from ``encode``.
        stands_for: The value for each word.

    Raises:
        MalformedProfileError: The bytes are damaged, or have another version.
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
        column = json.loads(zlib.decompress(content))
        (value,) = _Reader(stands_for or {}).column(column)
    except MalformedProfileError:
        raise
    except Exception as error:  # checksums do not protect from forged bytes
        raise MalformedProfileError(
            f"partial results cannot be read ({error}): make them again with this tfprof"
        ) from error
    return value


class _Writer:
    def __init__(self, stands_for: Mapping[type, str]) -> None:
        self._stands_for = stands_for

    def column(self, values: Sequence[Any], depth: int = 0) -> Column:
        """Values as a column; for several types, the values of each type together."""
        if depth > _MOST_DEEP:
            raise TypeError("values are nested too deeply")
        types = set(map(type, values))
        if types <= _SCALARS:
            return list(values)
        if len(types) == 1:
            return self._of_kind(types.pop(), values, depth)
        kinds: dict[type, list[Any]] = {}
        for value in values:
            kind = type(value)
            kinds.setdefault(NoneType if kind in _SCALARS else kind, []).append(value)
        numbers = {kind: number for number, kind in enumerate(kinds)}
        of = [numbers[NoneType if type(one) in _SCALARS else type(one)] for one in values]
        return {"mixed": of, "of": [self.column(members, depth + 1) for members in kinds.values()]}

    def _of_kind(  # noqa: PLR0911 - a list of cases
        self, kind: type, values: Sequence[Any], depth: int
    ) -> Column:
        """Values of one type that JSON does not have."""

        def inner(values: Iterable[Any]) -> Column:
            return self.column(list(values), depth + 1)

        for known, word in self._stands_for.items():
            if issubclass(kind, known):
                return {"words": [word] * len(values)}
        if kind in _MANY:
            if _MANY[kind] == "sets":  # sets have no order of their own
                values = [sorted(value) for value in values]
            flat = itertools.chain.from_iterable(values)
            return {_MANY[kind]: list(map(len, values)), "of": inner(flat)}
        if kind is dict:
            keys, cells = itertools.chain(*values), itertools.chain(*map(dict.values, values))
            return {"dicts": list(map(len, values)), "of": [inner(keys), inner(cells)]}
        if kind is bytes:
            return {"bytes": [base64.b64encode(value).decode() for value in values]}
        if kind is np.ndarray:
            return {"arrays": list(map(_plain_array, values))}
        if issubclass(kind, np.generic):
            return inner(value.item() for value in values)
        if issubclass(kind, enum.Enum):
            return {"enums": _class_name(kind), "of": inner(value.value for value in values)}
        if hasattr(kind, "_fields") or dataclasses.is_dataclass(kind):
            of = {name: inner(getattr(one, name) for one in values) for name in _fields(kind)}
            rows = [] if of else [0] * len(values)
            return {"records": _class_name(kind), "of": of, "rows": rows}
        if hasattr(kind, "without_events"):
            return {"calls": _class_name(kind), "of": inner(one.without_events() for one in values)}
        raise TypeError(f"no fact may hold {kind.__module__}.{kind.__qualname__}")


def _fields(kind: Any) -> list[str]:
    """Names of the fields from which a record is made."""
    if hasattr(kind, "_fields"):
        return list(kind._fields)
    return [field.name for field in dataclasses.fields(kind) if field.init]


def _class_name(kind: type) -> str:
    if not kind.__module__.startswith(_HOME):
        raise TypeError(f"no fact may hold {kind.__module__}.{kind.__qualname__}")
    return f"{kind.__module__.removeprefix(_HOME)}:{kind.__qualname__}"


def _plain_array(array: Any) -> tuple[str, tuple[int, ...], list[Any]]:
    if not _is_plain(array.dtype):
        raise TypeError(f"no fact may hold an array of {array.dtype}")
    return array.dtype.str, array.shape, array.reshape(-1).tolist()


def _array(dtype: str, shape: Sequence[int], values: list[Any]) -> Any:
    array = np.array(values, dtype)
    return array if array.shape == tuple(shape) else array.reshape(shape)  # a view takes twice


def _is_plain(dtype: Any) -> bool:
    return not dtype.hasobject and dtype.itemsize <= _WIDEST_BYTES


class _Reader:
    """Reads columns; the key of a column's object names the method."""

    def __init__(self, stands_for: Mapping[str, Any]) -> None:
        self._stands_for = stands_for

    def column(self, column: Column) -> Sequence[Any]:
        if isinstance(column, list):
            return column
        kind, told = next(iter(column.items()))
        values: Sequence[Any] = getattr(self, f"read_{kind}")(told, column)
        return values

    def read_mixed(self, places: Sequence[int], column: Any) -> Sequence[Any]:
        kinds = [iter(self.column(members)) for members in column["of"]]
        return [next(kinds[place]) for place in places]

    def read_words(self, words: Sequence[str], column: Any) -> Sequence[Any]:
        return [self._stands_for[word] for word in words]

    def read_tuples(self, lengths: Sequence[int], column: Any) -> Sequence[Any]:
        return list(map(tuple, self.read_lists(lengths, column)))

    def read_sets(self, lengths: Sequence[int], column: Any) -> Sequence[Any]:
        return list(map(frozenset, self.read_lists(lengths, column)))

    def read_lists(self, lengths: Sequence[int], column: Any) -> Sequence[Any]:
        values = iter(self.column(column["of"]))
        return [list(itertools.islice(values, length)) for length in lengths]

    def read_dicts(self, lengths: Sequence[int], column: Any) -> Sequence[Any]:
        pairs = zip(*map(self.column, column["of"]), strict=True)
        return [dict(itertools.islice(pairs, length)) for length in lengths]

    def read_bytes(self, texts: Sequence[str], column: Any) -> Sequence[Any]:
        return list(map(base64.b64decode, texts))

    def read_arrays(self, arrays: Sequence[Any], column: Any) -> Sequence[Any]:
        if not all(_is_plain(np.dtype(dtype)) for dtype, _, _ in arrays):
            raise MalformedProfileError("partial results hold arrays that no fact may hold")
        return [_array(*array) for array in arrays]

    def read_enums(self, name: str, column: Any) -> Sequence[Any]:
        return list(map(_class_of(name), self.column(column["of"])))

    def read_calls(self, name: str, column: Any) -> Sequence[Any]:
        kind = _class_of(name)
        return [kind.from_parts(*parts) for parts in self.column(column["of"])]

    def read_records(self, name: str, column: Any) -> Sequence[Any]:
        kind, columns = _class_of(name), column["of"]
        if set(_fields(kind)) != columns.keys():
            raise MalformedProfileError(
                f"partial results of another tfprof: {kind.__name__} has other fields. Make them "
                "again with this one"
            )
        if not columns:
            return [kind() for _ in column["rows"]]
        values = (self.column(columns[name]) for name in _fields(kind))
        return list(itertools.starmap(kind, zip(*values, strict=True)))


def _may_be_made(kind: type) -> bool:
    """Whether the construction of an object only stores values."""
    is_record = hasattr(kind, "_fields") or dataclasses.is_dataclass(kind)
    return is_record or issubclass(kind, enum.Enum) or hasattr(kind, "from_parts")


def _class_of(text: str) -> Any:
    """The class of a record, an enumeration or a call of ``tfprof.captures``.

    Raises:
        MalformedProfileError: The text does not name such a class.
    """
    module, _, name = text.partition(":")
    kind: Any = importlib.import_module(_HOME + module)
    for part in name.split("."):
        kind = getattr(kind, part)
    if not isinstance(kind, type) or kind.__module__ != _HOME + module or not _may_be_made(kind):
        raise MalformedProfileError(f"partial results hold {text}, which is not a record")
    return kind
