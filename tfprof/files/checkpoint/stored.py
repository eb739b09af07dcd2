"""Tensors as both formats of checkpoints describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final, Literal, Protocol

from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, MalformedProfileError
from tfprof.files.checkpoint.dtypes import (
    ELEMENT_TYPES,
    Array,
    ElementType,
    dtype_name,
    is_readable,
)
from tfprof.files.remote.path import AnyPath

Format = Literal["V1", "V2"]

_MAX_RANK: Final = 254
"""TensorFlow's own limit."""

_NUMPY_MAX_RANK: Final = 32
_MAX_ELEMENTS: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as a checkpoint describes it.

    Attributes:
        name: Its key.
        type_number: Number of its ``DataType``.
        shape: Its shape.
        n_bytes: Bytes of its values, for texts those in the file; None if unknown until it is read.
    """

    name: str
    type_number: int
    shape: tuple[int, ...]
    n_bytes: int | None


class Store(Protocol):
    """A checkpoint of one of the formats."""

    @property
    def format(self) -> Format:
        """Which format."""

    @property
    def tensors(self) -> Mapping[str, StoredTensor]:
        """All tensors by name."""

    def missing_files(self) -> tuple[AnyPath, ...]:
        """Missing files."""

    def read(self, name: str, *, verify: bool) -> Array:
        """The values of a tensor."""


def plain_shape(shape: pb.TensorShapeProto, where: str) -> tuple[int, ...]:
    """A shape without unknowns.

    Args:
        shape: The message.
        where: File and variable, for errors.

    Raises:
        MalformedProfileError: A tensor cannot have this shape.
    """
    dims = tuple(int(dim.size) for dim in shape.dim)
    if (
        shape.unknown_rank
        or len(dims) > _MAX_RANK
        or min(dims, default=0) < 0
        or prod(dims) > _MAX_ELEMENTS
    ):
        raise damaged(where, "no tensor has such a shape")
    return dims


def damaged(where: str, problem: str) -> MalformedProfileError:
    """The error for a damaged part of a checkpoint."""
    return MalformedProfileError(
        f"{where}: damaged: {problem}. Copy the file again, or use another checkpoint"
    )


def readable_type(tensor: StoredTensor, where: str) -> ElementType | None:
    """The type of the elements of a tensor, None if they are texts.

    Raises:
        InputError: NumPy cannot hold the values.
    """
    number = tensor.type_number
    kind = ELEMENT_TYPES.get(number)
    if not is_readable(number):
        raise InputError(
            f"{where}: values of type {dtype_name(number)} cannot be read: only the code that "
            "wrote them can interpret them"
        )
    if len(tensor.shape) > _NUMPY_MAX_RANK:
        raise InputError(
            f"{where}: cannot be read: it has {len(tensor.shape)} dimensions, and NumPy's arrays "
            f"have {_NUMPY_MAX_RANK} at most"
        )
    return kind
