"""Columns handed over through Arrow's C data interface, to whatever library takes them.

pandas, polars, pyarrow and DuckDB take any object with a method ``__arrow_c_stream__``. The
structures are those of https://arrow.apache.org/docs/format/CDataInterface.html; they point to
the memory of the NumPy columns, which is not copied. Written here with ctypes, because no package
that does it is small, and the small one (nanoarrow) cannot fill a dictionary, which is how texts
of many events are held (``docs/adr/0029-arrow-and-sql.md``).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray

T = TypeVar("T")

Texts = Sequence[str | None]


class HandedOver(Protocol):
    """A table that other libraries read through ``__arrow_c_stream__``."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of an ``ArrowArrayStream``."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Texts as places in a list of distinct ones.

    Attributes:
        places: Signed integers, shape (n,); below 0 there is none.
        texts: The distinct texts.
    """

    places: npt.NDArray[np.signedinteger[Any]]
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of which some are unknown.

    Attributes:
        values: Integers, floats or booleans, shape (n,).
        is_known: Which of them are known, shape (n,); None for all.
    """

    values: npt.NDArray[Any]
    is_known: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.values)


ArrowColumn = Coded | Numbers | Texts


@dataclass(frozen=True, slots=True)
class Field:
    """A column's name, type and metadata.

    Attributes:
        name: Its name.
        type: ``string``, ``bool`` or a NumPy type: ``int64``.
        metadata: Texts by key, such as its unit.
        is_coded: Whether it holds texts as places in a dictionary; ``type`` is that of the places.
    """

    name: str
    type: str
    metadata: dict[str, str] = field(default_factory=dict)
    is_coded: bool = False


_FORMATS = {
    "string": b"u", "bool": b"b", "int8": b"c", "int16": b"s", "int32": b"i", "int64": b"l",
    "float32": b"f", "float64": b"g",
}  # fmt: skip
_NULLABLE = 2


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_LastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _LastError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_STREAM = b"arrow_array_stream"
_FAILED = 5
"""EIO: the error number of a stream that cannot go on."""


def _hold(structure: Any, owner: object) -> None:
    """Keep an owner alive until the structure is released."""
    kept = ctypes.py_object(owner)
    ctypes.pythonapi.Py_IncRef(kept)
    structure.private_data = id(owner)


def _let_go(structure: Any) -> Any:
    """The owner of a structure, at its last use."""
    owner = ctypes.cast(structure.private_data, ctypes.py_object)
    structure.private_data = None
    value = owner.value
    ctypes.pythonapi.Py_DecRef(owner)
    return value


def _schema_is_released(pointer: Any) -> None:
    _release(pointer.contents, _ReleaseSchema)


def _array_is_released(pointer: Any) -> None:
    _release(pointer.contents, _ReleaseArray)


def _release(structure: Any, none: Callable[[], Any]) -> None:
    """Release the inner structures, unless they were taken out, and then the structure itself."""
    inner = [structure.children[place].contents for place in range(structure.n_children)]
    inner += [structure.dictionary.contents] if structure.dictionary else []
    for one in inner:
        if one.release:
            one.release(ctypes.pointer(one))
    structure.release = none()
    _let_go(structure)


def _stream_is_released(pointer: Any) -> None:
    pointer.contents.release = _ReleaseStream()
    _let_go(pointer.contents)


def _schema_is_asked(stream: Any, into: Any) -> int:
    owner = _owner_of(stream)
    return owner.write(lambda: _fill_schema(into.contents, "", owner.fields))


def _chunk_is_asked(stream: Any, into: Any) -> int:
    owner = _owner_of(stream)
    return owner.write(lambda: owner.next_into(into.contents))


def _error_is_asked(stream: Any) -> int | None:
    return _owner_of(stream).error_address()


class _Owner:
    """The content of a stream, and the error that ended it."""

    def __init__(self, fields: Sequence[Field], chunks: Iterable[Sequence[ArrowColumn]]) -> None:
        self.fields = tuple(fields)
        self._chunks = iter(chunks)
        self._error: ctypes.Array[ctypes.c_char] | None = None

    def write(self, fill: Callable[[], None]) -> int:
        """Fill a structure; a C function cannot raise, so it returns an error number.

        A signal's exception is an error, too: ctypes would drop it and return 0, which is the end
        of the table.
        """
        try:
            fill()
        except BaseException as error:
            self._error = ctypes.create_string_buffer((str(error) or type(error).__name__).encode())
            return _FAILED
        return 0

    def next_into(self, array: _Array) -> None:
        chunk = next(self._chunks, None)
        if chunk is None:
            array.release = _ReleaseArray()
        else:
            _fill_table(array, self.fields, chunk)

    def error_address(self) -> int | None:
        return None if self._error is None else ctypes.addressof(self._error)


def _owner_of(stream: Any) -> _Owner:
    owner: _Owner = ctypes.cast(stream.contents.private_data, ctypes.py_object).value
    return owner


def _capsule_is_gone(capsule: int) -> None:
    """Release the stream of a capsule, unless it was taken and so has no release any more."""
    stream = ctypes.cast(_capsule_pointer(capsule, _STREAM), ctypes.POINTER(_Stream))
    if stream.contents.release:
        stream.contents.release(stream)
    _free(stream)


# These live as long as the module: holders of a structure may call them at any time.
_release_schema = _ReleaseSchema(_schema_is_released)
_release_array = _ReleaseArray(_array_is_released)
_release_stream = _ReleaseStream(_stream_is_released)
_get_schema = _GetSchema(_schema_is_asked)
_get_next = _GetNext(_chunk_is_asked)
_last_error = _LastError(_error_is_asked)
_destroy = _Destructor(_capsule_is_gone)

_malloc, _free = ctypes.pythonapi.PyMem_RawMalloc, ctypes.pythonapi.PyMem_RawFree
_malloc.restype, _malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


def stream_of(fields: Sequence[Field], chunks: Iterable[Sequence[ArrowColumn]]) -> object:
    """A capsule with an ``ArrowArrayStream``, for ``__arrow_c_stream__``.

    Args:
        fields: The columns of the table.
        chunks: Its rows, a column for each field, all of one length. Made on request.
    """
    address = _malloc(ctypes.sizeof(_Stream))
    if not address:
        raise MemoryError
    ctypes.memset(address, 0, ctypes.sizeof(_Stream))
    stream = _Stream.from_address(address)
    stream.get_schema, stream.get_next = _get_schema, _get_next
    stream.get_last_error, stream.release = _last_error, _release_stream
    _hold(stream, _Owner(fields, chunks))
    return _capsule_new(address, _STREAM, ctypes.cast(_destroy, ctypes.c_void_p))


def read_apart(read: Callable[[], T]) -> T:
    """Let a library of this process read streams in a thread of its own; returns its answer.

    Python raises what a signal brings, such as Ctrl-C, in the main thread alone, also in a callback
    from C, which loses it. The main thread waits here, and raises it when the library is done.

    Args:
        read: Calls the library.

    Raises:
        BaseException: What the library raises, or a signal brings.
    """
    with ThreadPoolExecutor(1) as pool:
        try:
            answer = pool.submit(read)
        except RuntimeError:  # no thread can be started; a signal is then as Python has it
            return read()
        return answer.result()


def _fill_schema(schema: _Schema, name: str, fields: Sequence[Field]) -> None:
    """A table: a structure of its columns."""
    inner = [_schema_of(one) for one in fields]
    _fill(schema, _Schema, _release_schema, inner)
    schema.format, schema.name = b"+s", name.encode()


def _schema_of(one: Field) -> _Schema:
    schema = _Schema()
    inner = _schema_of(Field("", "string")) if one.is_coded else None
    _fill(schema, _Schema, _release_schema, [], inner)
    schema.format = _FORMATS[one.type]
    schema.name, schema.flags = one.name.encode(), _NULLABLE
    if one.metadata:
        schema.metadata = ctypes.cast(_metadata(schema, one.metadata), ctypes.c_char_p)
    return schema


def _metadata(schema: _Schema, texts: dict[str, str]) -> ctypes.Array[ctypes.c_char]:
    """The number of entries, then keys and values, each after its length; owned by the schema.

    Numbers are in the order of the machine, as Arrow's C data interface demands.
    """
    packed = len(texts).to_bytes(4, sys.byteorder)
    for text in (part for pair in texts.items() for part in pair):
        packed += len(text.encode()).to_bytes(4, sys.byteorder) + text.encode()
    held = ctypes.create_string_buffer(packed, len(packed))
    ctypes.cast(schema.private_data, ctypes.py_object).value.append(held)
    return held


def _fill_table(array: _Array, fields: Sequence[Field], chunk: Sequence[ArrowColumn]) -> None:
    lengths = {len(column) for column in chunk}
    if len(lengths) > 1 or len(fields) != len(chunk):
        raise ValueError(f"columns of different lengths: {sorted(lengths)}")
    inner = [_array_of(one, column) for one, column in zip(fields, chunk, strict=True)]
    _fill_array(array, max(lengths, default=0), None, [], inner)


def _array_of(one: Field, column: ArrowColumn) -> _Array:
    array = _Array()
    if isinstance(column, Coded):
        places, is_known, texts = _dictionary(column)
        places = np.ascontiguousarray(places, one.type)
        _fill_array(array, len(places), is_known, [places], [], _texts(texts))
    elif isinstance(column, Numbers):
        values = column.values
        packed = np.packbits(values, bitorder="little") if one.type == "bool" else values
        wanted = np.uint8 if one.type == "bool" else one.type
        _fill_array(array, len(values), column.is_known, [np.ascontiguousarray(packed, wanted)], [])
    else:
        return _texts(column)
    return array


def _dictionary(
    column: Coded,
) -> tuple[npt.NDArray[np.signedinteger[Any]], BoolArray | None, Texts]:
    """Places, which of them are known, and distinct texts, as strict readers need them.

    pandas refuses a dictionary that holds a text twice, and polars a place outside of it, also if
    it is unknown. The places are copied only where that is so.
    """
    places, texts = column.places, column.texts
    is_known = None if not len(places) or int(places.min()) >= 0 else places >= 0
    if is_known is not None:
        places = np.maximum(places, 0)
    numbers: dict[str, int] = {}
    new = [numbers.setdefault(_plain(text), len(numbers)) for text in texts]
    if len(numbers) < len(texts):
        places = np.array(new).astype(places.dtype)[places]
    # An unknown value needs a place, too.
    return places, is_known, [*numbers] or [""]


def _plain(text: str) -> str:
    """Without lone surrogates, which no other library holds."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _texts(texts: Texts) -> _Array:
    """Texts one after the other, with the place at which each begins."""
    coded = [b"" if text is None else text.encode("utf-8", "replace") for text in texts]
    ends = np.zeros(len(coded) + 1, np.int64)
    np.cumsum([len(text) for text in coded], out=ends[1:])
    if ends[-1] > np.iinfo(np.int32).max:
        raise ValueError("texts of more than 2 GiB in one column; request fewer rows")
    is_known = np.array([text is not None for text in texts], np.bool_)
    array = _Array()
    joined = np.frombuffer(b"".join(coded) or b"\0", np.uint8)
    _fill_array(
        array, len(coded), None if is_known.all() else is_known, [ends.astype(np.int32), joined], []
    )
    return array


def _fill_array(
    array: _Array,
    length: int,
    is_known: BoolArray | None,
    buffers: Sequence[npt.NDArray[Any]],
    inner: Sequence[_Array],
    dictionary: _Array | None = None,
) -> None:
    mask = None if is_known is None else np.packbits(is_known, bitorder="little")
    addresses = [None if mask is None else mask.ctypes.data, *(b.ctypes.data for b in buffers)]
    held = (ctypes.c_void_p * len(addresses))(*addresses)
    _fill(array, _Array, _release_array, inner, dictionary, (mask, *buffers, held))
    array.length, array.offset = length, 0
    array.null_count = 0 if is_known is None else int(length - np.count_nonzero(is_known))
    array.n_buffers, array.buffers = len(addresses), held


def _fill(
    structure: Any,
    kind: Any,
    release: Any,
    inner: Sequence[Any],
    dictionary: Any = None,
    kept: Sequence[object] = (),
) -> None:
    """The parts that schemas and arrays have in common; the memory is held until the release."""
    ctypes.memset(ctypes.addressof(structure), 0, ctypes.sizeof(structure))
    pointers = (ctypes.POINTER(kind) * len(inner))(*map(ctypes.pointer, inner))
    owner: list[object] = [inner, pointers, dictionary, *kept]
    structure.n_children, structure.children = len(inner), pointers
    if dictionary is not None:
        structure.dictionary = ctypes.pointer(dictionary)
    structure.release = release
    _hold(structure, owner)
