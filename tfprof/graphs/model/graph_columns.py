"""The nodes of a serialized GraphDef as columns, from which op tables and programs are made."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.shapes import ShapeTable
from tfprof.core.columns.strings import InternTable
from tfprof.core.wire.scanned import Texts
from tfprof.core.wire.text_index import strings

Int32Array = npt.NDArray[np.int32]

AttrValue = str | int | bool | tuple[int, ...]
Attrs = tuple[tuple[str, AttrValue], ...]


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

    data: bytes | memoryview
    op_types: list[str]
    op_numbers: Int64Array
    names: list[bytes]
    owners: Int32Array
    name_numbers: Int32Array
    starts: Int32Array
    lengths: Int32Array
    function_starts: Int64Array
    function_lengths: Int64Array


@dataclass(frozen=True, slots=True)
class InputTexts:
    """Inputs of nodes in the graph's notation: ``a``, ``a:1`` or ``^a``.

    Attributes:
        texts: The text of each input, shape (m,).
        offsets: Start of each node's inputs in ``texts``, shape (n + 1,).
    """

    texts: Texts
    offsets: Int64Array

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
        serialized: The nodes as a serialized GraphDef.
        trainable_variables: Names of ops that hold trainable variables.
    """

    name_texts: Texts
    inputs: InputTexts
    places: AttrPlaces
    shape_ids: Int64Array
    output_shapes_ids: Int64Array
    attrs_ids: Int64Array
    shapes: ShapeTable
    attrs: InternTable[Attrs]
    serialized: bytes
    trainable_variables: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Node names, made anew at each use."""
        return strings(self.name_texts)
