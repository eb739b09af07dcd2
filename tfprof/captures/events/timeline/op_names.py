"""Ops in the names of events: ``scope/name:Type``, ``Iterator::…``, copies.

The rules are those of ``tf_op_utils.cc``.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple


class OpKind(enum.IntEnum):
    """The framework of an op, or the direction of a copy."""

    UNKNOWN = 0
    TENSORFLOW = 1
    DATASET = 2
    JAX = 3
    COPY_H2D = 4
    COPY_D2H = 5
    COPY_D2D = 6
    COPY_H2H = 7


class OpName(NamedTuple):
    """A parsed name.

    Attributes:
        kind: The framework of the op, or the direction of a copy.
        name: The name without the type; the whole text unless it is ``name:Type``.
        type: ``MatMul``, ``Dataset``, ``MemcpyHToD`` …; empty if unknown.
    """

    kind: OpKind
    name: str
    type: str


_COPIES = {
    "memcpyhtod": (OpKind.COPY_H2D, "MemcpyHToD"),
    "memcpydtoh": (OpKind.COPY_D2H, "MemcpyDToH"),
    "memcpydtod": (OpKind.COPY_D2D, "MemcpyDToD"),
    "memcpyhtoh": (OpKind.COPY_H2H, "MemcpyHToH"),
}
_COPY_LENGTH = len("memcpyhtod")

_OP_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_OP_TYPE = re.compile(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = re.compile(r"([a-z_][a-z0-9_]*)(\[.*\])?", re.DOTALL)
_NUMBERED = re.compile(r"(.*)_\d+", re.DOTALL)

_VERSION_AT_END = re.compile(r"(?:V\d+)?(?:\[\d+\])?$")


def parse_op_name(text: str) -> OpName:
    """Parse the name of an event, or a ``tf_op``.

    Example:
        >>> parse_op_name("model/dense/MatMul:MatMul")
        OpName(kind=<OpKind.TENSORFLOW: 1>, name='model/dense/MatMul', type='MatMul')
    """
    first, colon, second = text.partition(":")
    if not colon:
        kind, type_ = _COPIES.get(text[:_COPY_LENGTH].lower(), (OpKind.UNKNOWN, ""))
        return OpName(kind, text, type_)
    if first == "Iterator":
        return OpName(OpKind.DATASET, text, "Dataset")
    if _OP_NAME.fullmatch(first) and _OP_TYPE.fullmatch(second):
        return OpName(OpKind.TENSORFLOW, first, second)
    type_ = second or _type_of_name(first)
    jax_type = _JAX_TYPE.fullmatch(type_)
    if jax_type is not None:
        return OpName(OpKind.JAX, first, jax_type[1])
    if not second:
        return OpName(OpKind.TENSORFLOW, first, type_)
    return OpName(OpKind.UNKNOWN, text, "")


def _type_of_name(name: str) -> str:
    """The last part of a name, without a number at its end."""
    last = name.rpartition("/")[2]
    numbered = _NUMBERED.fullmatch(last)
    return last if numbered is None else numbered[1]


def name_scopes(name: str) -> list[str]:
    """The scopes around an op, the outermost first."""
    return name.split("/")[:-1]


def iterator_type(long_name: str) -> str:
    """The last component of an iterator's long name, as written."""
    return long_name.rpartition("::")[2]


def plain_iterator_type(long_name: str) -> str:
    """The type without version and index: ``ParallelInterleaveV4[0]`` is ParallelInterleave."""
    return _VERSION_AT_END.sub("", iterator_type(long_name), count=1)


def display_name(op: OpName, text: str) -> str:
    """The text to show for an event of this name."""
    if op.kind in (OpKind.TENSORFLOW, OpKind.JAX):
        return op.type
    if op.kind is OpKind.DATASET:
        return f"Iterator::{iterator_type(op.name)}"
    return text.rstrip()
