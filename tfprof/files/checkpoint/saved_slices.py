"""Checkpoints of the first format: tables of messages, which hold parts of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

import numpy as np

from tfprof.core.wire import messages as pb
from tfprof.core.wire.parsing import parse
from tfprof.errors import InputError
from tfprof.files.checkpoint.dtypes import ELEMENT_TYPES, STRING, Array, ElementType, values_of
from tfprof.files.checkpoint.slices import Slice, assembled, may_cover, n_elements
from tfprof.files.checkpoint.stored import (
    Format,
    StoredTensor,
    damaged,
    plain_shape,
    readable_type,
)
from tfprof.files.checkpoint.table import Table
from tfprof.files.remote.path import AnyPath

_META_KEY: Final = b""
_HALF: Final = 19
_COMPLEX: Final = {8: "scomplex_val", 18: "dcomplex_val"}
_VALUE_FIELDS: Final = {
    1: "float_val", 2: "double_val", 9: "int64_val", 10: "bool_val", _HALF: "half_val",
    22: "uint32_val", 23: "uint64_val", STRING: "string_val", **_COMPLEX,
}  # fmt: skip
"""Field of a TensorProto that holds the values of a type; ``int_val`` for the others."""


@dataclass(slots=True)
class _Parts:
    """Where a tensor is.

    Attributes:
        path: The first file that describes it.
        type_number: Number of its type.
        shape: Its shape.
        parts: Its parts, and which table has each.
    """

    path: AnyPath
    type_number: int
    shape: tuple[int, ...]
    parts: list[tuple[Slice, Table]] = field(default_factory=list)


class SavedSlices:
    """A checkpoint of the first format; its list of tensors is read at once.

    Args:
        paths: Its files, one or more.
        missing: Missing files.

    Attributes:
        format: ``"V1"``.
        tensors: What is in it.

    Raises:
        InputError: A file cannot be read.
        UnknownFormatError: A file is not part of such a checkpoint.
        MalformedProfileError: A file is damaged.
    """

    def __init__(self, paths: Sequence[AnyPath], missing: Sequence[AnyPath] = ()) -> None:
        self.format: Format = "V1"
        self._missing = tuple(missing)
        self._parts: dict[str, _Parts] = {}
        for path in paths:
            self._add(Table(path))
        self.tensors: Mapping[str, StoredTensor] = {
            name: StoredTensor(
                name, stored.type_number, stored.shape, _size(stored.type_number, stored.shape)
            )
            for name, stored in self._parts.items()
        }

    def missing_files(self) -> tuple[AnyPath, ...]:
        """Missing shards."""
        return self._missing

    def read(self, name: str, *, verify: bool) -> Array:
        """The values of a tensor.

        Args:
            name: Its name, which must be there.
            verify: Compare checksums.

        Raises:
            InputError: A file cannot be read, or NumPy cannot hold the values.
            MalformedProfileError: They are damaged.
        """
        stored = self._parts[name]
        where = f"{stored.path}: variable {name}"
        kind = readable_type(self.tensors[name], where)
        places = [part.place(stored.shape) for part, _ in stored.parts]
        known = [place for place in places if place is not None]
        if len(known) < len(stored.parts) or not may_cover(stored.shape, known):
            if self._missing:
                raise InputError(
                    f"{where}: its values cannot be read: some are in {self._missing[0]}, which "
                    "is not there. Copy it, too"
                )
            raise damaged(where, "its parts are not all there, or do not fit")
        read = []
        for (part, table), place in zip(stored.parts, known, strict=True):
            data = table.get(part.key(name), verify=verify)
            if data is None:
                raise damaged(where, f"one of its parts is missing in {table.file.path}")
            message = parse(pb.SavedTensorSlices, data, source=where).data.data
            values = _values(message, stored.type_number, kind)
            if values is None or values.size != n_elements(place):
                raise damaged(where, "its number of values does not match its shape")
            read.append((place, values))
        whole = assembled(stored.shape, read)
        if whole is None:
            raise damaged(where, "its parts overlap")
        return whole

    def _add(self, table: Table) -> None:
        path = str(table.file.path)
        data = table.get(_META_KEY)
        if data is None:
            raise damaged(path, "it does not list its tensors")
        for tensor in parse(pb.SavedTensorSlices, data, source=path).meta.tensor:
            where = f"{path}: variable {tensor.name}"
            shape = plain_shape(tensor.shape, where)
            fresh = _Parts(table.file.path, tensor.type, shape)
            stored = self._parts.setdefault(tensor.name, fresh)
            if (stored.type_number, stored.shape) != (tensor.type, shape):
                raise damaged(where, "another file gives it another shape or type")
            stored.parts += [(Slice.of(part), table) for part in tensor.slice]


def _size(type_number: int, shape: tuple[int, ...]) -> int | None:
    kind = ELEMENT_TYPES.get(type_number)
    return None if kind is None else prod(shape) * kind.stored.itemsize


def _values(message: pb.TensorProto, type_number: int, kind: ElementType | None) -> Array | None:
    """The elements of a part, in a row; None if there are no such values."""
    listed: Any = getattr(message, _VALUE_FIELDS.get(type_number, "int_val"))
    if kind is None:
        texts = np.empty(len(listed), np.object_)
        texts[:] = list(listed)
        return texts
    if type_number in _COMPLEX:
        pairs = np.array(listed, np.float32 if type_number == 8 else np.float64)
        return None if pairs.size % 2 else pairs.view(kind.stored.newbyteorder("="))
    if type_number == _HALF:
        return np.array(listed, np.int64).astype(np.uint16).view(np.float16)
    if type_number in (1, 2, 9, 10, 22, 23):
        return np.array(listed, kind.stored)
    # Small numbers are stored as int32.
    return values_of(kind, np.array(listed, np.int64).astype(kind.stored))
