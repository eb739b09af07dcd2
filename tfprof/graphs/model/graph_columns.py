"""The nodes of a serialized GraphDef as columns, from which op tables and programs are made."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array, no_rows
from tfprof.core.columns.shapes import ShapeTable
from tfprof.core.columns.strings import InternTable
from tfprof.core.wire.scanned import Texts
from tfprof.core.wire.text_index import strings

Int32Array = npt.NDArray[np.int32]

AttrValue = str | int | bool | tuple[int, ...]
Attrs = tuple[tuple[str, AttrValue], ...]


def _no_narrow_rows() -> Int32Array:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class AttrPlaces:
    """Types of the nodes of a serialized GraphDef, and positions of their attributes in it.

    Attributes:
        data: The bytes that positions refer to: the graph, or only its texts if its encoding is
            unusual.
        op_types: The different op types.
        op_numbers: Place of each node's type in them, shape (n,).
        names: The different names of attributes.
        owners: Place of the node of each attribute, ascending, shape (m,).
        name_numbers: Place of each attribute's name in ``names``.
        starts: First byte of each value.
        lengths: Bytes of each value.
        function_starts: First byte of each function of the library.
        function_lengths: Bytes of each function.
    """

    data: bytes | memoryview = b""
    op_types: list[str] = field(default_factory=list)
    op_numbers: Int64Array = field(default_factory=no_rows)
    names: list[bytes] = field(default_factory=list)
    owners: Int32Array = field(default_factory=_no_narrow_rows)
    name_numbers: Int32Array = field(default_factory=_no_narrow_rows)
    starts: Int32Array = field(default_factory=_no_narrow_rows)
    lengths: Int32Array = field(default_factory=_no_narrow_rows)
    function_starts: Int64Array = field(default_factory=no_rows)
    function_lengths: Int64Array = field(default_factory=no_rows)


def no_texts() -> Texts:
    """No texts at all."""
    return Texts(b"", no_rows(), no_rows())


@dataclass(frozen=True, slots=True)
class InputTexts:
    """Inputs of nodes as they are written: ``a``, ``a:1`` or ``^a``.

    Attributes:
        texts: The text of each input, shape (m,).
        offsets: Start of each node's inputs in ``texts``, shape (n + 1,).
    """

    texts: Texts = field(default_factory=no_texts)
    offsets: Int64Array = field(default_factory=lambda: np.zeros(1, np.int64))

    def of(self, node: int) -> list[str]:
        """The inputs of a node."""
        return strings(self.texts.take(np.arange(*self.offsets[node : node + 2])))

    def without_marks(self) -> tuple[Texts, BoolArray]:
        """The texts without ``^``, and which of them are control inputs, shape (m,)."""
        texts = self.texts
        data = np.frombuffer(texts.data, np.uint8)
        is_control = texts.length > 0
        is_control[is_control] = data[texts.start[is_control]] == ord("^")
        return Texts(texts.data, texts.start + is_control, texts.length - is_control), is_control


@dataclass(slots=True)
class GraphColumns:
    """The columns of a graph, one entry per node, in the graph's order.

    Attributes:
        name_texts: Node names.
        inputs: Their inputs.
        places: Their op types, and positions of their attributes.
        shape_ids: Id of the attribute ``shape`` in ``shapes``, -1 if the node has none.
        output_shapes_ids: Id of the list ``_output_shapes``, -1 if the node has none.
        attrs_ids: Id in ``attrs`` of the attributes that FLOP formulas read.
        shapes: Table of the shape ids.
        attrs: Table of the attribute ids.
        trainable_variables: Names of ops that hold trainable variables.
        serialized: The nodes as a serialized GraphDef.
    """

    name_texts: Texts = field(default_factory=no_texts)
    inputs: InputTexts = field(default_factory=InputTexts)
    places: AttrPlaces = field(default_factory=AttrPlaces)
    shape_ids: Int64Array = field(default_factory=no_rows)
    output_shapes_ids: Int64Array = field(default_factory=no_rows)
    attrs_ids: Int64Array = field(default_factory=no_rows)
    shapes: ShapeTable = field(default_factory=ShapeTable)
    attrs: InternTable[Attrs] = field(default_factory=lambda: InternTable[Attrs]([()]))
    trainable_variables: list[str] = field(default_factory=list)
    serialized: bytes = b""

    @property
    def names(self) -> list[str]:
        """Node names, made anew at each use."""
        return strings(self.name_texts)
