"""The op table of a profile → ``Program``, whose nodes are the rows of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfprof._wire import messages as pb
from tfprof.model.ops import GraphNodes, OpTable, SavedNodes
from tfprof.model.program import GIVEN_FLOPS, Body, Kind, Node, Program
from tfprof.model.shapes import Shape
from tfprof.model.tensors import PartialShape
from tfprof.readers.program import INPUT_OPS, NodeReader

_NO_KIND = Kind("", {}, ())


def program_of_ops(ops: OpTable, given_flops: Mapping[int, int] | None = None) -> Program:
    """Put the program together from the graphs that a profile has seen.

    Shapes are those of the table, which runs may have completed. Rows that only a run has named
    have the type of the kernel that ran, if the run tells it, and no attributes.

    Args:
        ops: The op table.
        given_flops: Float operations, by row, that somebody has told.
    """
    graphs = {
        id(part.graph): part.graph for part in ops.definitions if isinstance(part, GraphNodes)
    }
    messages = {key: pb.GraphDefSlices.FromString(data) for key, data in graphs.items()}
    functions = {
        function.signature.name: function
        for graph in messages.values()
        for function in graph.library.function
    }
    reader = NodeReader(functions.values())
    kinds: list[Kind | None] = [None] * len(ops)
    for part in ops.definitions:
        for row, kind in _kinds(part, reader, messages):
            kinds[row] = kind

    shapes = [_partial(shape) for shape in ops.shapes.shapes.values]
    lists = [tuple([shapes[i] for i in ids]) for ids in ops.shapes.lists.values]
    lists.append(())  # for "no list", id -1
    list_ids = ops.output_shapes_ids.array.tolist()
    offsets = ops.input_offsets().tolist()
    sources = ops.input_rows().tolist()
    ports = ops.input_ports.tolist()
    names = [ops.names[name_id] for name_id in ops.name_ids.array.tolist()]
    nodes = []
    for row, name in enumerate(names):
        edges = list(zip(sources[offsets[row] : offsets[row + 1]],
                         ports[offsets[row] : offsets[row + 1]], strict=True))  # fmt: skip
        inputs = tuple([edge for edge in edges if edge[1] >= 0])
        controls = tuple([source for source, port in edges if port < 0])
        kind = kinds[row] or _kernel(ops, row)
        if given_flops and row in given_flops:
            attrs = {**kind.attrs, GIVEN_FLOPS: given_flops[row]}
            kind = Kind(kind.op, attrs, kind.output_types, stateful=kind.stateful)
        nodes.append(Node(name, kind, inputs, controls, lists[list_ids[row]]))
    inputs_of_program = {
        node.name: row for row, node in enumerate(nodes) if node.kind.op in INPUT_OPS
    }
    return Program(Body("", nodes), reader.function, inputs=inputs_of_program)


def _kernel(ops: OpTable, row: int) -> Kind:
    label = int(ops.label_op_ids.array[row])
    return _NO_KIND if label < 0 else Kind(ops.strings[label], {}, ())


def _kinds(
    part: GraphNodes | SavedNodes, reader: NodeReader, graphs: dict[int, pb.GraphDefSlices]
) -> Iterator[tuple[int, Kind]]:
    """Kind of each row that a part of the definitions has."""
    if isinstance(part, GraphNodes):
        nodes = graphs[id(part.graph)].node
        for row, place in zip(part.rows.tolist(), part.places.tolist(), strict=True):
            yield row, reader.kind(nodes[place].op, nodes[place].attr[:])
        return
    bounds = zip(part.rows.tolist(), part.start.tolist(), part.end.tolist(), strict=True)
    for row, start, end in bounds:
        node = pb.ProfileNodeSlices.FromString(part.data[start:end])
        yield row, reader.kind(node.op, node.attrs[:])


def _partial(shape: Shape) -> PartialShape:
    if shape is None:
        return None
    return tuple([None if dim < 0 else dim for dim in shape])
