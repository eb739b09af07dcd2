"""What the rules say of a graph, compared with what TensorFlow says and with what comes out of it.

A graph is run with everything fetched, so wherever a rule claims a dimension or an element, it is
compared with the real one. If TensorFlow infers a dimension without running, the rules must, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfprof.graphs.interpreter.dataflow import data_flow_order
from tfprof.graphs.model.op_call import OpCall
from tfprof.graphs.model.symbolic import Number, Symbolic, bind
from tfprof.graphs.model.tensors import UNKNOWN, Comparison, Tensor
from tfprof.graphs.read.program import read_program
from tfprof.graphs.shapes.infer import infer


class Feed:
    """Makes placeholders for arrays that are fed in."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}

    def __call__(self, array: Any, *unknown: int) -> Any:
        """A placeholder for an array, with some axes of unknown size."""
        import tensorflow as tf

        array = np.asarray(array)
        shape = [None if axis in unknown else dim for axis, dim in enumerate(array.shape)]
        name = f"fed{len(self.arrays)}"
        self.arrays[f"{name}:0"] = array
        return tf.compat.v1.placeholder(array.dtype, shape, name)


def check(build: Callable[[Any, Feed], Any], *, run: bool = True) -> dict[str, Tensor]:
    """Compare rules and reality for the graph that a function builds.

    Args:
        build: Builds ops, from ``tf.raw_ops`` and a ``Feed``.
        run: Whether the graph can be run.

    Returns:
        What the rules say, by tensor name.
    """
    import tensorflow as tf

    graph, feed = tf.Graph(), Feed()
    with graph.as_default():
        build(tf.raw_ops, feed)
    known, numbers = _inferred(graph.as_graph_def(), feed.arrays)
    fetched = {
        tensor.name: tensor
        for op in graph.get_operations()
        for tensor in op.outputs
        if tensor.dtype not in (tf.resource, tf.variant)
    }
    for name, tensor in fetched.items():
        _compare_static(name, known[name], tensor.shape, numbers)
    if run:
        first = [op for op in graph.get_operations() if op.type in ("AssignVariableOp", "Assign")]
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(first, feed.arrays)
            real = session.run(
                {name: tensor for name, tensor in fetched.items() if graph.is_fetchable(tensor)},
                feed.arrays,
            )
        for name in real:
            _compare(name, known[name], real[name], numbers)
    return known


def last(known: dict[str, Tensor]) -> Tensor:
    """What the rules say of the tensor that was made last."""
    return list(known.values())[-1]


def _inferred(
    definition: Any, feeds: Mapping[str, np.ndarray[Any, Any]]
) -> tuple[dict[str, Tensor], dict[str, Number]]:
    """What the rules say of every tensor, and the numbers of the names of dimensions."""
    from tfprof.core.wire import messages as pb

    body = read_program(pb.GraphDef.FromString(definition.SerializeToString())).body
    numbers: dict[str, Number] = {}
    outputs: dict[int, tuple[Tensor, ...]] = {}
    known: dict[str, Tensor] = {}
    for here in data_flow_order(body):
        node = body.nodes[here]
        inputs = tuple(
            outputs[place][output] if place in outputs else UNKNOWN for place, output in node.inputs
        )
        kind = node.kind
        op = OpCall(kind.op, inputs, attrs=kind.attrs, output_types=kind.output_types)
        n = len(kind.output_types)
        made = []
        for place, (shape, values, handle) in enumerate(zip(*infer(op, n), strict=True)):
            name = f"{node.name}:{place}"
            dims = None
            if shape is not None:
                dims = tuple(
                    Symbolic.named(f"{name}.{axis}") if dim is None else dim
                    for axis, dim in enumerate(shape)
                )
            if name in feeds:
                for axis, dim in enumerate(feeds[name].shape):
                    numbers[f"{name}.{axis}"] = dim
            made.append(Tensor(dims, kind.output_types[place], values, handle))
            known[name] = made[-1]
        outputs[here] = tuple(made)
    return known, numbers


def _compare(name: str, ours: Tensor, real: Any, numbers: Mapping[str, Number]) -> None:
    real = np.asarray(real)
    if ours.shape is not None:
        shape = tuple(bind(dim, numbers) for dim in ours.shape)
        assert len(shape) == real.ndim, (name, ours.shape, real.shape)
        for dim, size in zip(shape, real.shape, strict=True):
            assert dim == size or isinstance(dim, Symbolic), (name, ours.shape, real.shape)
    if ours.values is None:
        return
    assert len(ours.values) == real.size, (name, ours.values, real)
    for element, truth in zip(ours.values, real.ravel().tolist(), strict=True):
        if isinstance(element, Comparison):
            element = _truth(element, numbers)
        elif isinstance(element, Symbolic):
            element = element.bind(numbers)
        if isinstance(element, float):
            assert element == truth or (math.isnan(element) and math.isnan(truth)), (name, real)
        elif element is not None and not isinstance(element, Symbolic):
            assert element == truth, (name, ours.values, real)


def _truth(comparison: Comparison, numbers: Mapping[str, Number]) -> bool | None:
    left, right = (bind(side, numbers) for side in comparison[1:])
    if isinstance(left, Symbolic) or isinstance(right, Symbolic):
        return None
    relations = {"<": left < right, "<=": left <= right, "==": left == right, "!=": left != right}
    return relations[comparison.relation]


def _compare_static(name: str, ours: Tensor, static: Any, numbers: Mapping[str, Number]) -> None:
    if static.rank is None:
        return
    assert ours.shape is not None, f"{name} should be {static}"
    for dim, size in zip(ours.shape, static, strict=True):
        assert size is None or bind(dim, numbers) == size, (name, ours.shape, static)
