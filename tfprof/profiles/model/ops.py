"""The op table: one row per op, its inputs as a CSR graph, everything else as columns.

A row is either a node of a graph or a name seen only at run time (``_arg_x_0_0``, ``_Send``…).
Row numbers are the ids of the original's ``ProfileProto``: order of first appearance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.core.columns import tree_walks
from tfprof.core.columns.columns import BoolArray, Int64Array, Int64Column
from tfprof.core.columns.frames import NO_STACK
from tfprof.core.columns.names import NameTable
from tfprof.core.columns.numerals import whole_number
from tfprof.core.columns.shapes import ShapeTable
from tfprof.core.columns.strings import InternTable, StringTable
from tfprof.core.wire.scanned import Texts
from tfprof.core.wire.text_index import TextIndex, places_of
from tfprof.graphs.model.graph_columns import (
    AttrPlaces,
    Attrs,
    AttrValue,
    GraphColumns,
    InputTexts,
)

_INT64_MAX = (1 << 63) - 1

_NO_SUCH_PORT = (1 << 31) - 1
"""More outputs than any op has."""


class FloatOps(NamedTuple):
    """Float operations of ops, according to their graph.

    Attributes:
        flops: Float operations of one run of each op, shape (n,).
        runs: How often one run of the program runs each op, shape (n,).
    """

    flops: Int64Array
    runs: Int64Array


@dataclass(frozen=True, slots=True)
class GraphNodes:
    """Serialized nodes of rows, with what the columns leave out.

    Attributes:
        rows: The rows, shape (n,).
        graph: A serialized GraphDef.
        places: Place of each row's node in the GraphDef.
        attrs: Where the attributes are in the GraphDef.
    """

    rows: Int64Array
    graph: bytes
    places: Int64Array
    attrs: AttrPlaces


@dataclass(frozen=True, slots=True)
class SavedNodes:
    """Serialized nodes of rows of a saved profile.

    Attributes:
        rows: The rows, shape (n,).
        data: Holds serialized ProfileNodes.
        start: First byte of the node of each row.
        end: One past the last byte of each node.
    """

    rows: Int64Array
    data: bytes
    start: Int64Array
    end: Int64Array


class OpTable:
    """Ops and their graph.

    Attributes:
        names: Every node name, and every name that some input mentions.
        row_of_name: Row of each name id, -1 for a name that is only mentioned.
        name_ids: Name id of each row.
        strings: Op types, devices and added types.
        op_ids: Op type of each row.
        label_op_ids: Op type that a run-time label gave, -1 without one.
        device_ids: Canonical device of each row (the first seen wins), -1 without one.
        float_ops: Float operations of one run of the op; 0 if unknown or none.
        static_runs: How often one run of the program runs the op, according to the graph.
        shape_ids: Id of the attribute ``shape``, -1 without one.
        output_shapes_ids: Id of the output shapes, -1 if unknown.
        attrs_ids: Id of the attributes kept for FLOP formulas.
        stack_ids: Call stack, ``NO_STACK`` without one.
        added_types: Types that op logs add to a row, in order.
        names_with_colon: Ids of names with a colon, which node stats cannot refer to.
        definitions: Serialized nodes of the rows that were read from one.
    """

    def __init__(self) -> None:
        self.names = NameTable()
        self.row_of_name = Int64Column(fill=-1)
        self.name_ids = Int64Column()
        self.strings = StringTable()
        self.op_ids = Int64Column()
        self.label_op_ids = Int64Column(fill=-1)
        self.device_ids = Int64Column(fill=-1)
        self.float_ops = Int64Column()
        self.static_runs = Int64Column(fill=1)
        self.shape_ids = Int64Column(fill=-1)
        self.output_shapes_ids = Int64Column(fill=-1)
        self.attrs_ids = Int64Column()
        self.stack_ids = Int64Column(fill=NO_STACK)
        self.added_types: dict[int, list[int]] = {}
        self.names_with_colon: list[int] = []
        self.definitions: list[GraphNodes | SavedNodes] = []
        self.shapes = ShapeTable()
        self.attrs: InternTable[Attrs] = InternTable([()])
        self._rows_by_name: Int64Array = np.zeros(0, np.int64)
        self._input_counts = Int64Column()
        self._input_names = Int64Column()
        self._input_ports = Int64Column()

    def __len__(self) -> int:
        return len(self.name_ids)

    def name(self, row: int) -> str:
        """Name of a row."""
        return self.names[int(self.name_ids.array[row])]

    def row(self, name: str) -> int:
        """Row of a name, -1 if there is none."""
        name_id = self.names.find(name)
        return -1 if name_id < 0 else int(self.row_of_name.array[name_id])

    def rows(self, names: Sequence[str]) -> Int64Array:
        """Row of each name, -1 for those that have none, shape (n,)."""
        rows: Int64Array = np.append(self.row_of_name.array, -1)[self.names.find_all(names)]
        return rows

    def static_float_ops(self) -> FloatOps:
        """A copy of ``float_ops`` and ``static_runs``."""
        return FloatOps(self.float_ops.array.copy(), self.static_runs.array.copy())

    def rows_by_name(self) -> Int64Array:
        """Rows in byte order of their names (code point order is the byte order of UTF-8)."""
        if len(self._rows_by_name) != len(self):  # rows are only ever added
            texts = tree_walks.taken(self.names.values, self.name_ids.array)
            self._rows_by_name = tree_walks.name_order(texts)
        return self._rows_by_name

    def attrs_of(self, row: int) -> Mapping[str, AttrValue]:
        """The attributes of a row that FLOP formulas read."""
        return dict(self.attrs[int(self.attrs_ids.array[row])])

    def type_ids(self, *, classic: bool) -> Int64Array:
        """Op type of each row, shape (n,).

        An op seen only at run time has the type that its timeline label names (``_Arg``,
        ``_Send``); in classic mode, as in the original, its own name.
        """
        labelled = self.label_op_ids.array
        return np.where((labelled >= 0) & (not classic), labelled, self.op_ids.array)

    def is_own_type(self) -> BoolArray:
        """Whether the type of each row is its own name, as for ops seen only at run time."""
        name_of_type = self.names.find_all(self.strings.values)
        is_own: BoolArray = name_of_type[self.op_ids.array] == self.name_ids.array
        return is_own

    def input_offsets(self) -> Int64Array:
        """Start of each row's inputs in the input columns, shape (n + 1,)."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self._input_counts.array, out=offsets[1:])
        return offsets

    def input_rows(self) -> Int64Array:
        """Producer row of each input, -1 where the producer is not in the table."""
        # The last entry is for inputs without a name, id -1.
        rows: Int64Array = np.append(self.row_of_name.array, -1)[self._input_names.array]
        return rows

    @property
    def input_ports(self) -> Int64Array:
        """Output index that each input reads; -1 for a control input."""
        return self._input_ports.array

    def add_graph(self, graph: GraphColumns) -> int:
        """Append the nodes whose names are new, in order; returns how many those are.

        A name that is already there is skipped with its inputs: the first definition wins, as
        in ``TFStats::AddGraph``.
        """
        shapes, lists = self._shape_maps(graph.shapes)
        attrs_map = np.array([*map(self.attrs.intern, graph.attrs.values)], np.int64)

        first_row = len(self)
        names = graph.name_texts
        rows = self._claim_rows(self.names.intern_texts(names))
        has_colon = places_of(b":", names.take(rows)) >= 0
        self.names_with_colon += self.name_ids.array[first_row:][has_colon].tolist()
        if len(rows):
            new_rows = np.arange(first_row, len(self), dtype=np.int64)
            self.definitions.append(GraphNodes(new_rows, graph.serialized, rows, graph.places))
        op_ids = np.array([*map(self.strings.intern, graph.places.op_types)], np.int64)
        self.op_ids.extend(op_ids[graph.places.op_numbers[rows]])
        self.shape_ids.extend(shapes[graph.shape_ids[rows]])
        self.output_shapes_ids.extend(lists[graph.output_shapes_ids[rows]])
        self.attrs_ids.extend(attrs_map[graph.attrs_ids[rows]])
        self._add_inputs(graph.inputs, rows)
        self._resize_rest()
        return len(rows)

    def add_named(
        self, names: Sequence[str], counts: Int64Array, sources: Int64Array, ports: Int64Array
    ) -> list[int]:
        """Append the nodes whose names are new with nothing but their inputs.

        Args:
            names: Node names.
            counts: Number of inputs of each node.
            sources: Place in ``names`` of the producer of each input, -1 for one that has none.
            ports: Output index that each input reads.

        Returns:
            Places in ``names`` of the nodes that got a row, in order.
        """
        fresh = self._claim_names(names)
        self.op_ids.resize(len(self))
        chosen = np.zeros(len(names), np.bool_)
        chosen[fresh] = True
        of_fresh = np.repeat(chosen, counts)
        self._input_counts.extend(counts[chosen])
        self._input_names.extend(np.append(self.names.find_all(names), -1)[sources[of_fresh]])
        self._input_ports.extend(ports[of_fresh])
        self._resize_rest()
        return fresh

    def add_table(self, other: OpTable) -> Int64Array:
        """Append the ops of another table whose names are new, without their call stacks.

        An op in both tables keeps its type, inputs and attributes, and its device, shapes and
        float operations if it has any; it gets the added types of both.

        Returns:
            The row of each row of the other table.
        """
        names = tree_walks.taken(other.names.values, other.name_ids.array)
        chosen = np.zeros(len(names), np.bool_)
        chosen[self._claim_names(names)] = True
        of_fresh = np.repeat(chosen, other._input_counts.array)
        name_map = np.append(self.names.intern(other.names.values), -1)
        self._input_counts.extend(other._input_counts.array[chosen])
        self._input_names.extend(name_map[other._input_names.array[of_fresh]])
        self._input_ports.extend(other._input_ports.array[of_fresh])
        self.row_of_name.resize(len(self.names))

        strings = np.array([*map(self.strings.intern, other.strings.values), -1], np.int64)
        attrs = np.array([*map(self.attrs.intern, other.attrs.values)], np.int64)
        self.op_ids.extend(strings[other.op_ids.array[chosen]])
        self.attrs_ids.extend(attrs[other.attrs_ids.array[chosen]])
        self._resize_rest()
        rows: Int64Array = self.row_of_name.array[name_map[other.name_ids.array]]
        shapes, lists = self._shape_maps(other.shapes)
        _fill(self.label_op_ids, rows, strings[other.label_op_ids.array])
        _fill(self.device_ids, rows, strings[other.device_ids.array])
        _fill(self.shape_ids, rows, shapes[other.shape_ids.array])
        _fill(self.output_shapes_ids, rows, lists[other.output_shapes_ids.array])
        _fill(self.float_ops, rows, other.float_ops.array, missing=0)
        _fill(self.static_runs, rows, other.static_runs.array, missing=1)
        for row, type_ids in other.added_types.items():
            known = self.added_types.setdefault(int(rows[row]), [])
            mapped = strings[type_ids].tolist()
            known += [type_id for type_id in dict.fromkeys(mapped) if type_id not in known]
        for nodes in other.definitions:
            fresh = chosen[nodes.rows]
            new_rows = rows[nodes.rows[fresh]]
            if isinstance(nodes, GraphNodes):
                places = nodes.places[fresh]
                self.definitions.append(GraphNodes(new_rows, nodes.graph, places, nodes.attrs))
            else:
                start, end = nodes.start[fresh], nodes.end[fresh]
                self.definitions.append(SavedNodes(new_rows, nodes.data, start, end))
        return rows

    def _shape_maps(self, other: ShapeTable) -> tuple[Int64Array, Int64Array]:
        """Ids here of the shapes and of the lists of shapes of another table; -1 stays -1."""
        shapes = [self.shapes.intern(shape) for shape in other.shapes.values]
        lists = [
            self.shapes.lists.intern(tuple(shapes[shape_id] for shape_id in shape_ids))
            for shape_ids in other.lists.values
        ]
        return np.array([*shapes, -1], np.int64), np.array([*lists, -1], np.int64)

    def add_run_time_op(self, name: str, label_op: str | None) -> int:
        """Append an op that no graph mentions; its type is its own name, as in the original.

        Args:
            name: Node name.
            label_op: Op type that the run-time label names, if any.
        """
        name_id = self.names.add(name)
        self.row_of_name.resize(len(self.names))
        self.row_of_name.array[name_id] = len(self)
        self.name_ids.extend([name_id])
        if ":" in name:
            self.names_with_colon.append(name_id)
        self.op_ids.extend([self.strings.intern(name)])
        self._resize_rest()
        if label_op is not None:
            self.label_op_ids.array[-1] = self.strings.intern(label_op)
        return len(self) - 1

    def _claim_names(self, names: Sequence[str]) -> list[int]:
        """Give rows to the names that have none; returns their positions in ``names``."""
        fresh: list[int] = self._claim_rows(self.names.intern(names)).tolist()
        with_colon = [names[position] for position in fresh if ":" in names[position]]
        self.names_with_colon += self.names.find_all(with_colon).tolist()
        return fresh

    def _claim_rows(self, name_ids: Int64Array) -> Int64Array:
        """Give rows to the names that have none; returns where they are first in ``name_ids``."""
        self.row_of_name.resize(len(self.names))
        row_of_name = self.row_of_name.array
        without_row = np.flatnonzero(row_of_name[name_ids] < 0)
        _, first = np.unique(name_ids[without_row], return_index=True)
        fresh = without_row[np.sort(first)]
        row_of_name[name_ids[fresh]] = np.arange(len(self), len(self) + len(fresh))
        self.name_ids.extend(name_ids[fresh])
        return fresh

    def _add_inputs(self, inputs: InputTexts, nodes: Int64Array) -> None:
        counts = np.diff(inputs.offsets)
        is_new = np.zeros(len(counts), np.bool_)
        is_new[nodes] = True
        of_new = np.flatnonzero(np.repeat(is_new, counts))
        texts, is_control = inputs.without_marks()
        texts, is_control = texts.take(of_new), is_control[of_new]
        colons = places_of(b":", texts)
        ports = np.where(is_control, -1, 0)
        numbered = np.flatnonzero((colons >= 0) & ~is_control)
        ports[numbered] = _ports(texts.take(numbered), colons[numbered])
        names = Texts(texts.data, texts.start, np.where(colons < 0, texts.length, colons))
        self._input_counts.extend(counts[nodes])
        self._input_names.extend(self.names.intern_texts(names))
        self._input_ports.extend(ports)
        self.row_of_name.resize(len(self.names))

    def _resize_rest(self) -> None:
        size = len(self)
        for column in (
            self.label_op_ids,
            self.device_ids,
            self.float_ops,
            self.static_runs,
            self.shape_ids,
            self.output_shapes_ids,
            self.attrs_ids,
            self.stack_ids,
            self._input_counts,
        ):
            column.resize(size)


def _ports(inputs: Texts, colons: Int64Array) -> Int64Array:
    """The numbers behind colons; 0 for other texts."""
    start, length = inputs.start + colons + 1, inputs.length - colons - 1
    distinct = TextIndex()
    numbers = distinct.intern(Texts(inputs.data, start, length))
    ports = [min(whole_number(text), _NO_SUCH_PORT) for text in distinct.strings()]
    return np.array(ports, np.int64)[numbers]


def in_64_bits(count: int) -> int:
    """A count, limited to what a column can hold."""
    return max(min(count, _INT64_MAX), -_INT64_MAX - 1)


def _fill(column: Int64Column, rows: Int64Array, values: Int64Array, missing: int = -1) -> None:
    """Put values into the rows that have none."""
    empty = column.array[rows] == missing
    column.array[rows[empty]] = values[empty]
