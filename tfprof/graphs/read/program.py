"""GraphDef with its function library → ``Program``.

Most nodes have the attributes of some other node, and decoding attributes is what takes the time.
So protobuf leaves each of them as bytes (``slices.proto``), which are decoded once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from tfprof.columns.numerals import whole_number
from tfprof.graphs.model.program import GIVEN_FLOPS, Body, FunctionRef, Kind, Node, Program
from tfprof.graphs.model.tensors import DT_RESOURCE, Handle, PartialShape, Tensor
from tfprof.graphs.read.attr_values import base_type, plain_shape, plain_value
from tfprof.graphs.read.op_outputs import first_slots, is_stateful, output_types
from tfprof.wire import messages as pb

LARGE_BYTES = 1 << 14
"""Attributes that take more are constants whose values nobody reads."""

KEPT_PRIVATE = frozenset(
    name.encode() for name in ("_handle_dtypes", "_handle_shapes", GIVEN_FLOPS)
)
"""Of the attributes whose names begin with an underscore, those that tell something here."""

INPUT_OPS = frozenset(
    ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "IteratorGetNext",
     "IteratorGetNextSync", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeueV2")
)  # fmt: skip
"""Ops through which data come into a graph."""

_NOWHERE = (-1, 0)

NO_SLOT = 1 << 31
"""Slots are int32."""


def read_program(source: pb.GraphDef | bytes) -> Program:
    """Read the nodes of a graph at once, and functions when they are asked for.

    The program keeps the function library alive, nothing else.

    Args:
        source: A GraphDef, or the bytes of one that is known to be sound.
    """
    data = source if isinstance(source, bytes) else source.SerializePartialToString()
    graph = pb.GraphDefSlices.FromString(data)
    reader = NodeReader(graph.library.function)
    body = reader.graph_body(graph.node)
    inputs = {
        node.name: place for place, node in enumerate(body.nodes) if node.kind.op in INPUT_OPS
    }
    return Program(body, reader.function, inputs=inputs)


class NodeReader:
    """Decodes nodes; equal types and attributes become one ``Kind``.

    Args:
        functions: The function library.
        keep_names: Each function has a body of its own. Without it, functions that are equal but
            for names share one, if all that is known of them is known without names.
    """

    def __init__(
        self, functions: Iterable[pb.FunctionDefSlices], *, keep_names: bool = True
    ) -> None:
        self._definitions = {function.signature.name: function for function in functions}
        self._keep_names = keep_names
        self._bodies: dict[str, Body] = {}
        self._alike: dict[Hashable, Body] = {}
        self._kinds: dict[tuple[str, tuple[bytes, ...]], Kind] = {}
        self._arguments: dict[Hashable, tuple[Kind, tuple[PartialShape, ...]]] = {}
        self._small: dict[tuple[str, tuple[bytes, ...]], tuple[Kind, tuple[PartialShape, ...]]] = {}
        self._declared: dict[bytes, tuple[PartialShape, ...]] = {}

    def graph_body(self, nodes: Sequence[pb.NodeDefSlices]) -> Body:
        """The body of a graph, whose inputs are written ``node:slot``."""
        places = {node.name: place for place, node in enumerate(nodes)}
        decoded = []
        for node in nodes:
            inputs: list[tuple[int, int]] = []
            controls: list[int] = []
            for text in node.input:
                if text[:1] == "^":
                    controls.append(places.get(text[1:], -1))
                    continue
                place = places.get(text)
                if place is not None:
                    inputs.append((place, 0))
                    continue
                name, _, slot = text.rpartition(":")
                number = whole_number(slot, -1)
                known = name in places and 0 <= number < NO_SLOT
                inputs.append((places[name], number) if known else _NOWHERE)
            decoded.append(self._node(node, inputs, controls))
        return Body("", decoded)

    def function(self, name: str) -> Body | None:
        """The body of a function; None if the library does not have it."""
        body = self._bodies.get(name)
        if body is None:
            definition = self._definitions.get(name)
            if definition is None:
                return None
            body = self._function_body(name, definition)
            self._bodies[name] = body = body if self._keep_names else self._shared(body)
        return body

    def _shared(self, body: Body) -> Body:
        """The body that stands for all that are equal to this one but for names."""
        nodes = tuple([node[1:] for node in body.nodes])
        key = (nodes, body.n_args, body.results, body.control_results)
        found = self._alike.get(key)
        if found is None:
            found = body
            if self._is_nameless(body):
                self._alike[key] = body
        return found

    def _is_nameless(self, body: Body) -> bool:
        """Whether the names in a body tell nothing of what it costs.

        They would be those of unknown sizes, and of loops that runs tell of.
        """
        for node in body.nodes:
            kind = node.kind
            if any(shape is not None and None in shape for shape in node.declared):
                return False
            is_told = None not in node.declared and len(node.declared) >= len(kind.output_types)
            if not is_told and kind.op != "_Arg":
                return False
            if kind.op in self._definitions or "frame_name" in kind.attrs:
                return False
            if any(map(_names_function, kind.attrs.values())):
                return False
        return True

    def _function_body(self, name: str, definition: pb.FunctionDefSlices) -> Body:
        """The body of a function, which writes inputs as ``argument`` or ``node:output:index``."""
        signature = definition.signature
        nodes = [
            self._argument(place, argument, definition.arg_attr)
            for place, argument in enumerate(signature.input_arg)
        ]
        n_args = len(nodes)
        first: dict[str, int] = {node.name: place for place, node in enumerate(nodes)}
        definitions = definition.node_def[:]
        names = [node.name for node in definitions]
        described = [self._described(node.op, node.attr[:]) for node in definitions]
        first.update(zip(names, range(n_args, n_args + len(names)), strict=True))
        slots: dict[Kind, Mapping[str, int]] = {}

        def tensor(text: str) -> tuple[int, int]:
            name, _, output = text.partition(":")
            place = first.get(name)
            if place is None:
                return _NOWHERE
            output, _, index = output.partition(":")
            if place < n_args:
                return place, 0
            offset = min(whole_number(index), NO_SLOT)
            kind = described[place - n_args][0]
            if kind not in slots:
                slots[kind] = self._slots(kind)
            return place, slots[kind].get(output, 0) + offset

        for node, node_name, (kind, declared) in zip(definitions, names, described, strict=True):
            texts = node.input[:]
            inputs = tuple([tensor(text) for text in texts if text[:1] != "^"])
            controls = tuple([first.get(text[1:], -1) for text in texts if text[:1] == "^"])
            nodes.append(Node(node_name, kind, inputs, controls, declared))
        returned = dict(definition.ret)
        results = tuple(
            tensor(returned[output.name]) if output.name in returned else _NOWHERE
            for output in signature.output_arg
        )
        control_results = tuple(first.get(node, -1) for node in definition.control_ret.values())
        return Body(name, nodes, n_args, results, control_results)

    def _argument(
        self, place: int, argument: pb.OpDef.ArgDef, attributes: Mapping[int, pb.ArgAttrsSlices]
    ) -> Node:
        """A node for an argument, with what the function says about it."""
        entries = attributes[place].attr[:] if place in attributes else []
        dtype = base_type(argument.type)
        handle = None
        if dtype == DT_RESOURCE and argument.handle_data:
            data = argument.handle_data[0]
            handle = Handle(plain_shape(data.shape), base_type(data.dtype))
        key = (place, dtype, handle, *_kept(entries), None, self._shapes(entries))
        found = self._arguments.get(key)
        if found is None:
            attrs: dict[str, Any] = {"index": place, "T": dtype}
            attrs |= {e.name: plain_value(e.value) for e in map(_entry, _kept(entries))}
            if handle is not None:
                attrs["handle"] = handle
            found = self._arguments[key] = Kind("_Arg", attrs, (dtype,)), self._shapes(entries)
        return Node(argument.name, found[0], (), (), found[1])

    def _node(
        self,
        node: pb.NodeDefSlices,
        inputs: Sequence[tuple[int, int]],
        controls: Sequence[int],
    ) -> Node:
        entries = node.attr[:]
        kind = self.kind(node.op, entries)
        return Node(node.name, kind, tuple(inputs), tuple(controls), self._shapes(entries))

    def _described(
        self, op_type: str, entries: Sequence[bytes]
    ) -> tuple[Kind, tuple[PartialShape, ...]]:
        """Kind and declared shapes of a node; attributes as they stand are looked up first."""
        if sum(map(len, entries)) > LARGE_BYTES:
            return self.kind(op_type, entries), self._shapes(entries)
        key = (op_type, tuple(entries))
        found = self._small.get(key)
        if found is None:
            found = self._small[key] = self.kind(op_type, entries), self._shapes(entries)
        return found

    def kind(self, op_type: str, entries: Sequence[bytes]) -> Kind:
        """The kind of nodes of this type with these attributes, each a serialized AttrEntry."""
        kept = _kept(entries)
        key = (op_type, tuple(sorted(map(_identity, kept))))
        kind = self._kinds.get(key)
        if kind is None:
            attrs = dict(map(_named_value, kept))
            kind = self._kinds[key] = self.kind_of(op_type, attrs)
        return kind

    def kind_of(self, op_type: str, attrs: Mapping[str, Any]) -> Kind:
        """A kind of this type with these attributes."""
        stateful = op_type not in self._definitions and is_stateful(op_type)
        return Kind(op_type, attrs, self._types(op_type, attrs), stateful=stateful)

    def _types(self, op_type: str, attrs: Mapping[str, Any]) -> tuple[int, ...]:
        called = self._definitions.get(op_type)
        if called is not None:
            return tuple(base_type(output.type) for output in called.signature.output_arg)
        return tuple(map(base_type, output_types(op_type, attrs)))

    def _slots(self, kind: Kind) -> dict[str, int]:
        """First slot of each named output of a node."""
        called = self._definitions.get(kind.op)
        if called is not None:
            return {output.name: i for i, output in enumerate(called.signature.output_arg)}
        return dict(first_slots(kind.op, kind.attrs))

    def _shapes(self, entries: Sequence[bytes]) -> tuple[PartialShape, ...]:
        for data in entries:
            if data.startswith(_OUTPUT_SHAPES):
                found = self._declared.get(data)
                if found is None:
                    shapes = _entry(data).value.list.shape
                    found = self._declared[data] = tuple(map(plain_shape, shapes))
                return found
        return ()


_OUTPUT_SHAPES = b"\n\x0e_output_shapes"
"""How an attribute begins that tells the shapes of a node's outputs: its name comes first."""


def _kept(entries: Sequence[bytes]) -> list[bytes]:
    """The attributes that tell something here: private ones are for TensorFlow alone."""
    return [
        data
        for data in entries
        if data[2:3] != b"_" or (data[:1] == b"\n" and data[2 : 2 + data[1]] in KEPT_PRIVATE)
    ]


def _names_function(value: object) -> bool:
    """Whether an attribute is a function, or a list of some."""
    if isinstance(value, FunctionRef):
        return True
    return isinstance(value, tuple) and any(isinstance(each, FunctionRef) for each in value)


def _entry(data: bytes) -> pb.AttrEntry:
    return pb.AttrEntry.FromString(data)


def _named_value(data: bytes) -> tuple[str, Any]:
    entry = _entry(data)
    return entry.name, small_value(entry.value, len(data))


def small_value(value: pb.AttrValue, size: int) -> Any:
    """An attribute as a plain value; of a large constant, shape and type.

    Args:
        value: The attribute.
        size: Bytes that it takes.
    """
    if size > LARGE_BYTES and value.HasField("tensor"):
        return Tensor(plain_tensor_shape(value.tensor), base_type(value.tensor.dtype))
    return plain_value(value)


def _identity(data: bytes) -> bytes:
    """What tells an attribute from others: all of it, or of a large tensor shape and type."""
    if len(data) <= LARGE_BYTES:
        return data
    entry = _entry(data)
    if not entry.value.HasField("tensor"):
        return data
    tensor = entry.value.tensor
    shape = tensor.tensor_shape.SerializeToString(deterministic=True)
    return entry.name.encode() + b" %d " % tensor.dtype + shape


def plain_tensor_shape(tensor: pb.TensorProto) -> tuple[int, ...] | None:
    """Shape of a constant; None if it is not complete."""
    shape = plain_shape(tensor.tensor_shape)
    if shape is None or None in shape:
        return None
    return tuple(dim for dim in shape if dim is not None)
