"""Names and types of the outputs of TensorFlow's ops.

``protos/generate_op_outputs.py`` writes the table ``op_outputs.tsv`` and explains its lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tfprof.graphs.model.tensors import MOST_OUTPUTS


class Output(NamedTuple):
    """An output, or consecutive outputs with the same name.

    Attributes:
        name: Its name in the op's signature.
        type_attr: Attribute that gives the type, or the types; empty if the type is fixed.
        dtype: The fixed type, or the attribute's default; 0 without one.
        number_attr: Attribute with their number; empty for one.
        is_list: The type attribute lists one type for each output.
    """

    name: str
    type_attr: str
    dtype: int
    number_attr: str = ""
    is_list: bool = False

    def types(self, attrs: Mapping[str, Any]) -> list[int]:
        """Element type of each output, 0 if unknown."""
        if self.is_list:
            types = attrs.get(self.type_attr, ())
            if not isinstance(types, tuple):
                return []
            return [kind if isinstance(kind, int) else 0 for kind in types]
        dtype = attrs.get(self.type_attr, self.dtype) if self.type_attr else self.dtype
        number = attrs.get(self.number_attr, 0) if self.number_attr else 1
        number = number if isinstance(number, int) and 0 <= number <= MOST_OUTPUTS else 0
        return [dtype if isinstance(dtype, int) else 0] * number


@cache
def _lines() -> dict[str, str]:
    """The outputs of each op type, unread."""
    text = (Path(__file__).parent / "op_outputs.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in text.splitlines())


def op_types() -> Iterable[str]:
    """All op types that TensorFlow has."""
    return _lines()


@cache
def outputs_of(op_type: str) -> tuple[Output, ...] | None:
    """The outputs of an op type; None for a type that TensorFlow does not have."""
    line = _lines().get(op_type)
    return None if line is None else tuple(map(_output, line.lstrip("!").split()))


def is_stateful(op_type: str) -> bool:
    """Whether an op has side effects; unknown op types may."""
    line = _lines().get(op_type)
    return line is None or line.startswith("!")


def _output(text: str) -> Output:
    name, _, kind = text.partition("=")
    if kind.startswith("*"):
        return Output(name, kind[1:], 0, is_list=True)
    kind, _, number_attr = kind.partition("*")
    type_attr, _, default = kind.partition(":")
    if type_attr.isdigit():
        return Output(name, "", int(type_attr), number_attr)
    return Output(name, type_attr, int(default or 0), number_attr)


def output_types(op_type: str, attrs: Mapping[str, Any]) -> tuple[int, ...]:
    """Element type of every output of a node, 0 where unknown; none for an unknown op type."""
    return tuple(kind for output in outputs_of(op_type) or () for kind in output.types(attrs))


def first_slots(op_type: str, attrs: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Name of each output, and its first slot."""
    slot = 0
    for output in outputs_of(op_type) or ():
        yield output.name, slot
        slot += len(output.types(attrs))
