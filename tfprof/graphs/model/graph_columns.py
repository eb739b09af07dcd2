"""What a reader takes out of a GraphDef, node by node, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tfprof.columns.columns import Int64Array
from tfprof.columns.shapes import ShapeTable
from tfprof.columns.strings import InternTable

Int32Array = npt.NDArray[np.int32]

AttrValue = str | int | bool | tuple[int, ...]
Attrs = tuple[tuple[str, AttrValue], ...]


@dataclass(frozen=True, slots=True)
class AttrPlaces:
    """Types of the nodes of a serialized GraphDef, and where their attributes stand in it.

    Attributes:
        data: What all places are in: the graph, or its texts alone if it was written in an odd way.
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


@dataclass(slots=True)
class GraphColumns:
    """What a reader takes out of a graph, one entry per node in the graph's order.

    Attributes:
        names: Node names.
        ops: Op types (``MatMul``).
        inputs: Input texts of each node as written: ``a``, ``a:1`` or ``^a``.
        shape_ids: Id of the attribute ``shape`` in ``shapes``, -1 if the node has none.
        output_shapes_ids: Id of the list ``_output_shapes``, -1 if the node has none.
        attrs_ids: Id in ``attrs`` of the attributes that FLOP formulas read.
        shapes: Table of the shape ids.
        attrs: Table of the attribute ids.
        trainable_variables: Names of ops that hold trainable variables.
        serialized: The nodes as a serialized GraphDef; empty if nobody keeps it.
        places: Where in it the attributes are; there if it is.
    """

    names: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    inputs: list[Sequence[str]] = field(default_factory=list)
    shape_ids: list[int] = field(default_factory=list)
    output_shapes_ids: list[int] = field(default_factory=list)
    attrs_ids: list[int] = field(default_factory=list)
    shapes: ShapeTable = field(default_factory=ShapeTable)
    attrs: InternTable[Attrs] = field(default_factory=lambda: InternTable[Attrs]([()]))
    trainable_variables: list[str] = field(default_factory=list)
    serialized: bytes = b""
    places: AttrPlaces | None = None
