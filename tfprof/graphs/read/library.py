"""The functions of a program as bodies, and the kinds and shapes that its nodes share.

All functions are scanned when the first one is needed; a body is a part of these columns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tfprof.core.columns.columns import Int64Array
from tfprof.core.columns.numerals import whole_number
from tfprof.core.columns.shapes import ShapeTable
from tfprof.core.columns.strings import InternTable
from tfprof.core.wire import messages as pb
from tfprof.core.wire.plan import Plan, rows
from tfprof.core.wire.scan import Texts, scan
from tfprof.graphs.model.graph_columns import AttrPlaces
from tfprof.graphs.model.node_table import Kind, NodeTable
from tfprof.graphs.model.program import Body, functions_in
from tfprof.graphs.model.tensors import DT_RESOURCE, Handle, PartialShape
from tfprof.graphs.read.attr_values import base_type, partial_shape, plain_shape, plain_value
from tfprof.graphs.read.kinds import KindTable, is_needed
from tfprof.graphs.read.node_columns import (
    NODE_ENTRIES,
    attr_places,
    decoded_ids,
    distinct_texts,
    input_offsets,
)
from tfprof.graphs.read.op_outputs import first_slots

NO_SLOT = 1 << 31
"""Slots are int32."""

NOWHERE = (-1, 0)
CONTROL_PORT = -1
_OUTPUT_SHAPES = "_output_shapes"


@functools.cache
def library_plan() -> Plan:
    """The fields that are read of the nodes of a GraphDef's functions."""
    nodes = rows("node_def", NODE_ENTRIES)
    return Plan("tensorflow.GraphDef", [rows("library.function", [nodes])])


class _Functions(NamedTuple):
    """The nodes of all functions of a graph, one function after the other.

    Attributes:
        bounds: First node of each function, shape (n + 1,).
        names: Name of each node.
        kind_ids: Kind of each node.
        shape_list_ids: Declared shapes of each node.
        input_offsets: Start of each node's inputs, shape (n + 1,).
        input_numbers: Place of each input in ``input_texts``.
        input_texts: The different inputs.
    """

    bounds: list[int]
    names: Texts
    kind_ids: Int64Array
    shape_list_ids: Int64Array
    input_offsets: Int64Array
    input_numbers: Int64Array
    input_texts: list[str]


class Library:
    """Functions, kinds and lists of shapes that the nodes of a program share.

    Args:
        graphs: Serialized GraphDefs, and the positions of their functions.
        keep_names: Each function has a body of its own, and variables with different names have
            different kinds. Otherwise, functions that differ only in names share a body, unless
            their analysis depends on names.

    Attributes:
        kinds: Kinds of the nodes.
        shape_lists: Lists of declared shapes; the first one is empty.
    """

    def __init__(
        self, graphs: Sequence[tuple[bytes, AttrPlaces]], *, keep_names: bool = True
    ) -> None:
        self._graphs = [data for data, _ in graphs]
        self._keep_names = keep_names
        self._definitions: dict[str, tuple[int, int, pb.FunctionDefSlices]] = {}
        for number, (_, places) in enumerate(graphs):
            texts = Texts(places.data, places.function_starts, places.function_lengths)
            for place, definition in enumerate(map(pb.FunctionDefSlices.FromString, texts)):
                self._definitions[definition.signature.name] = number, place, definition
        signatures = {name: each.signature for name, (_, _, each) in self._definitions.items()}
        self.kinds = KindTable(signatures, keep_names=keep_names)
        self.shape_lists = InternTable[tuple[PartialShape, ...]]([()])
        self._scanned: dict[int, _Functions] = {}
        self._bodies: dict[str, Body] = {}
        self._alike: dict[Hashable, Body] = {}
        self._arguments: dict[Hashable, int] = {}
        self._slots: dict[int, Mapping[str, int]] = {}
        self._nameless: dict[tuple[int, int], bool] = {}

    def shape_list_map(self, shapes: ShapeTable) -> Int64Array:
        """Place here of each list of shapes of a table; the last entry is for -1, no list."""
        known = [partial_shape(shape) for shape in shapes.shapes.values]
        lists = [tuple([known[i] for i in shape_ids]) for shape_ids in shapes.lists.values]
        return np.array([*map(self.shape_lists.intern, lists), 0], np.int64)

    def add_graph(self, places: AttrPlaces) -> Int64Array:
        """Kind of each node of a graph, shape (n,)."""
        return self.kinds.add(places, None if self._keep_names else self.function)

    def function(self, name: str) -> Body | None:
        """The body of a function; None if the library does not have it."""
        body = self._bodies.get(name)
        if body is None:
            if name not in self._definitions:
                return None
            body = self._body(name)
            self._bodies[name] = body = body if self._keep_names else self._shared(body)
        return body

    def _functions(self, number: int) -> _Functions:
        """The functions of a graph."""
        if number not in self._scanned:
            _, above, nodes, inputs, attrs = scan(library_plan(), self._graphs[number])
            places = attr_places(nodes, attrs)
            counts = np.bincount(nodes.parent, minlength=len(above))
            texts, numbers = distinct_texts(inputs.text("value"))
            self._scanned[number] = _Functions(
                [0, *np.cumsum(counts).tolist()],
                nodes.text("name"),
                self.kinds.add(places),
                decoded_ids(places, _OUTPUT_SHAPES, self._shape_list, missing=0),
                input_offsets(inputs, len(nodes)),
                numbers,
                texts,
            )
        return self._scanned[number]

    def _shape_list(self, value: pb.AttrValue) -> int:
        return self.shape_lists.intern(tuple(map(plain_shape, value.list.shape)))

    def _body(self, name: str) -> Body:
        """The body of a function, which writes inputs as ``argument`` or ``node:output:index``."""
        number, place, definition = self._definitions[name]
        functions = self._functions(number)
        first, end = functions.bounds[place : place + 2]
        kind_ids, texts = functions.kind_ids[first:end], functions.input_texts
        arguments = definition.signature.input_arg
        args = [
            self._argument(slot, argument, definition.arg_attr)
            for slot, argument in enumerate(arguments)
        ]
        n_args = len(args)
        names = [argument.name for argument in arguments]
        names += [text.decode() for text in functions.names.take(np.arange(first, end))]
        places = {name: place for place, name in enumerate(names)}
        edge_of = self._edges(places, n_args, kind_ids.tolist())
        offsets = functions.input_offsets[first : end + 1]
        numbers = functions.input_numbers[offsets[0] : offsets[-1]].tolist()
        edges = chain.from_iterable([edge_of(texts[each]) for each in numbers])
        sources, ports = np.fromiter(edges, np.int64, 2 * len(numbers)).reshape(-1, 2).T.copy()
        arg_kinds, arg_shapes = np.array(args, np.int64).reshape(-1, 2).T
        nodes = NodeTable(
            names,
            self.kinds,
            np.concatenate([arg_kinds, kind_ids]),
            self.shape_lists.values,
            np.concatenate([arg_shapes, functions.shape_list_ids[first:end]]),
            np.concatenate([np.zeros(n_args, np.int64), offsets - offsets[0]]),
            sources,
            ports,
        )
        returned = dict(definition.ret)
        results = tuple(
            edge_of(returned[output.name]) if output.name in returned else NOWHERE
            for output in definition.signature.output_arg
        )
        control_results = tuple(places.get(node, -1) for node in definition.control_ret.values())
        return Body(name, nodes, n_args, results, control_results)

    def _edges(
        self, places: Mapping[str, int], n_args: int, kind_ids: Sequence[int]
    ) -> Callable[[str], tuple[int, int]]:
        """A function from the text of an input to the place of a node and one of its outputs.

        ``kind_ids`` are those of the nodes after the arguments.
        """

        def edge_of(text: str) -> tuple[int, int]:
            if text[:1] == "^":
                return places.get(text[1:], -1), CONTROL_PORT
            name, _, output = text.partition(":")
            place = places.get(name, -1)
            if place < n_args:
                return place, 0
            output, _, index = output.partition(":")
            first = self._slots_of(kind_ids[place - n_args]).get(output, 0)
            return place, first + (0 if index == "0" else min(whole_number(index), NO_SLOT))

        return edge_of

    def _argument(
        self, place: int, argument: pb.OpDef.ArgDef, attributes: Mapping[int, pb.ArgAttrsSlices]
    ) -> tuple[int, int]:
        """Kind and declared shapes of a node for an argument."""
        entries = attributes[place].attr[:] if place in attributes else []
        dtype = base_type(argument.type)
        handle = None
        if dtype == DT_RESOURCE and argument.handle_data:
            data = argument.handle_data[0]
            handle = Handle(plain_shape(data.shape), base_type(data.dtype))
        attrs: dict[str, Any] = {"index": place, "T": dtype}
        shapes = 0
        needed = []
        for entry in map(pb.AttrEntry.FromString, entries):
            if entry.name == _OUTPUT_SHAPES:
                shapes = self._shape_list(entry.value)
            elif is_needed(entry.name.encode()):
                attrs[entry.name] = plain_value(entry.value)
                needed.append(entry.SerializeToString(deterministic=True))
        key = (place, dtype, handle, *needed, None, shapes)
        kind_id = self._arguments.get(key)
        if kind_id is None:
            if handle is not None:
                attrs["handle"] = handle
            kind_id = self._arguments[key] = self.kinds.append(Kind("_Arg", attrs, (dtype,)))
        return kind_id, shapes

    def _slots_of(self, kind_id: int) -> Mapping[str, int]:
        """First slot of each named output of the nodes of a kind."""
        if kind_id not in self._slots:
            op = self.kinds.op_types[kind_id]
            if op in self._definitions:
                outputs = self._definitions[op][2].signature.output_arg
                slots = {output.name: slot for slot, output in enumerate(outputs)}
            else:
                slots = dict(first_slots(op, self.kinds[kind_id].attrs))
            self._slots[kind_id] = slots
        return self._slots[kind_id]

    def _shared(self, body: Body) -> Body:
        """The body that stands for all that differ from this one only in names."""
        nodes = body.nodes
        columns = (
            nodes.kind_ids, nodes.shape_list_ids, nodes.offsets, nodes.sources, nodes.ports,
        )  # fmt: skip
        content = [column.tobytes() for column in columns]
        key = (*content, body.n_args, body.results, body.control_results)
        if key not in self._alike:
            pairs = zip(nodes.kind_ids.tolist(), nodes.shape_list_ids.tolist(), strict=True)
            if not all(self._is_nameless(*pair) for pair in dict.fromkeys(pairs)):
                return body
            self._alike[key] = body
        return self._alike[key]

    def _is_nameless(self, kind_id: int, shape_list_id: int) -> bool:
        """Whether the analysis of a node does not depend on its name.

        Unknown sizes are named after nodes, and trip counts of loops are looked up by name.
        """
        key = (kind_id, shape_list_id)
        if key not in self._nameless:
            kind, declared = self.kinds[kind_id], self.shape_lists[shape_list_id]
            sizes_known = all(shape is None or None not in shape for shape in declared)
            all_declared = None not in declared and len(declared) >= len(kind.output_types)
            self._nameless[key] = (
                sizes_known
                and (all_declared or kind.op == "_Arg")
                and kind.op not in self._definitions
                and "frame_name" not in kind.attrs
                and not any(functions_in(kind.attrs))
            )
        return self._nameless[key]
