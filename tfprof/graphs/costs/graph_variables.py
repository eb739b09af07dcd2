"""Variables of a plain graph: those that it declares, or the constants that they were frozen to.

A frozen graph has no variables: its weights are constants among others. A constant is taken for a
weight if it is of a float type, has at least one dimension and more than one element, and

* feeds a matrix product, convolution, bias, batch normalization, lookup or recurrent kernel, or
* is a vector that scales or shifts (an operand of ``Mul``, ``Add`` or ``Sub``), which is what
  normalization layers become.

Between the constant and that op there may be ops that only change its form, calls of functions, and
loops that pass it on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from tfprof.graphs.interpreter.while_loops import is_passed_on
from tfprof.graphs.model.node_table import Kind, NodeTable
from tfprof.graphs.model.op_call import as_shape
from tfprof.graphs.model.program import Body, FunctionRef, Variable, functions_in
from tfprof.graphs.model.tensors import FLOAT_TYPES, QUANTIZED_TYPES, Tensor
from tfprof.graphs.model.variable_names import CONSTANT_OPS, VARIABLE_OPS, belongs_to_optimizer

_FORM_OPS = frozenset({
    "Cast", "Dequantize", "Enter", "ExpandDims", "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "Identity", "IdentityN",
    "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeV2",
    "RefEnter", "Reshape", "Squeeze", "StopGradient", "Transpose",
})  # fmt: skip
"""Ops whose output is the same weight in another form."""

_WEIGHT_OPS = frozenset({
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "BatchNormWithGlobalNormalization", "BiasAdd",
    "BiasAddV1", "BlockLSTM", "BlockLSTMV2", "Conv", "Conv2D", "Conv2DBackpropInput",
    "Conv2DBackpropInputV2", "Conv3D", "Conv3DBackpropInputV2", "CudnnRNN", "CudnnRNNV2",
    "CudnnRNNV3", "DepthwiseConv2dNative", "Dilation2D", "Einsum", "FusedBatchNorm",
    "FusedBatchNormV2", "FusedBatchNormV3", "GRUBlockCell", "Gather", "GatherNd", "GatherV2",
    "LSTMBlockCell", "MatMul", "QuantizedConv2D", "QuantizedDepthwiseConv2D", "QuantizedMatMul",
    "QuantizedMatMulWithBias", "SparseMatMul", "SparseTensorDenseMatMul", "XlaConv", "XlaConvV2",
    "XlaDot", "XlaDotV2", "_FusedBatchNormEx", "_FusedConv2D", "_FusedDepthwiseConv2dNative",
    "_FusedMatMul",
})  # fmt: skip

_AFFINE_OPS = frozenset({"Add", "AddV2", "Mul", "Sub"})
_WEIGHT_TYPES = FLOAT_TYPES | QUANTIZED_TYPES | {6}
"""Float types, and types of quantized weights (6 is int8)."""

_LOOP_OPS = frozenset({"StatelessWhile", "While"})
_CALLED_WITHOUT_FIRST = frozenset({"Case", "If", "StatelessCase", "StatelessIf"})
"""Ops whose first input chooses the function that is called with the others."""

Functions = Callable[[str], "Body | None"]


class GraphVariables(NamedTuple):
    """The variables of a graph.

    Attributes:
        variables: The variables.
        notes: Remarks on how they were found.
    """

    variables: list[Variable]
    notes: tuple[str, ...] = ()


def variables_of_graph(
    body: Body,
    trainable_names: Collection[str] | None = None,
    functions: Functions = lambda name: None,
) -> GraphVariables:
    """The variables that a graph declares; if there are none, the weights frozen into it.

    Args:
        body: The graph.
        trainable_names: Names of the variables that train; None if this is unknown.
        functions: Body of a function by name.

    Returns:
        Variables of the model; those of optimizers are left out, with a note.
    """
    declared = list(_declared(body))
    if not declared:
        return _frozen(body, functions)
    names = {variable.name for variable in declared}
    trainable = None if trainable_names is None else set(trainable_names)
    owners = names if trainable is None else trainable
    kept, left_out = [], 0
    for variable in declared:
        is_known = trainable is not None and variable.name in trainable
        if not is_known and belongs_to_optimizer(variable.name, owners):
            left_out += 1
        else:
            trains = None if trainable is None else is_known
            kept.append(replace(variable, trainable=trains))
    note = f"{left_out} variables are left out: by their names, they belong to optimizers"
    return GraphVariables(kept, (note,) if left_out else ())


def _declared(body: Body) -> Iterator[Variable]:
    """Variables of the graph's nodes, handles of one shared variable once."""
    seen = set()
    for node in map(body.nodes.__getitem__, body.nodes.of_types(VARIABLE_OPS)):
        attrs = node.kind.attrs
        shape, dtype = as_shape(attrs.get("shape")), attrs.get("dtype", 0)
        shared = attrs.get("shared_name")
        key = (attrs.get("container"), shared or node.name, bool(shared), shape, dtype)
        if key not in seen:
            seen.add(key)
            yield Variable(node.name, shape, dtype if isinstance(dtype, int) else 0)


def _frozen(body: Body, functions: Functions) -> GraphVariables:
    bodies = {"": body}
    waiting = [body]
    while waiting:
        for name in _called(waiting.pop()):
            if name not in bodies and (function := functions(name)) is not None:
                bodies[name] = function
                waiting.append(function)
    uses = _Uses(bodies)
    variables = []
    for name, each in bodies.items():
        for place in each.nodes.of_types(CONSTANT_OPS):
            value = _weight(each.nodes.kind(place), uses.of(name, place))
            if value is not None:
                own_name = each.nodes.names[place]
                full_name = f"{name}/{own_name}" if name else own_name
                variables.append(Variable(full_name, value.shape, value.dtype))
    if not variables:
        return GraphVariables([])
    note = (
        f"the graph has no variables: these are {len(variables)} frozen constants that are used "
        "as weights"
    )
    return GraphVariables(variables, (note,))


def _weight(kind: Kind, use: int) -> Tensor | None:
    """The value of a constant if it is a weight."""
    value = kind.attrs.get("value")
    if not isinstance(value, Tensor) or not value.shape or value.dtype not in _WEIGHT_TYPES:
        return None
    long_dims = [dim for dim in value.shape if dim != 1]
    is_vector = len(long_dims) == 1
    wanted = use & _AS_WEIGHT or (use & _AS_OPERAND and is_vector)
    return value if wanted and long_dims and 0 not in long_dims else None


def _called(body: Body) -> Iterator[str]:
    for kind_id in dict.fromkeys(body.nodes.kind_ids.tolist()):
        yield from _callees(body.nodes.kinds[kind_id])


def _callees(kind: Kind) -> Iterator[str]:
    """Functions that a node calls with its inputs; the op type may name one, too."""
    yield kind.op
    yield from functions_in(kind.attrs)


_AS_WEIGHT = 1
_AS_OPERAND = 2


class _Uses:
    """Uses of the nodes of bodies, followed through form changes, loops and calls."""

    def __init__(self, bodies: dict[str, Body]) -> None:
        self._bodies = bodies
        self._uses = {name: bytearray(len(body.nodes)) for name, body in bodies.items()}
        self._callees: dict[Kind, list[str]] = {}
        changed = True
        while changed:  # callees mostly come after callers, so one round does; a second one sees it
            changed = False
            for name in reversed(list(bodies)):
                changed = self._update(name) or changed

    def of(self, name: str, place: int) -> int:
        return self._uses[name][place]

    def _update(self, name: str) -> bool:
        """Analyse one body; returns whether it gave new facts."""
        uses, nodes = self._uses[name], self._bodies[name].nodes
        ops, (starts, sources) = nodes.ops, nodes.data_sources
        changed = [
            source
            for place, op in enumerate(ops)
            if op not in _FORM_OPS
            for slot, source in enumerate(sources[starts[place] : starts[place + 1]])
            if source >= 0 and self._mark(uses, source, self._use_as_input(nodes, place, slot))
        ]
        any_change = bool(changed)
        while changed:
            place = changed.pop()
            if ops[place] in _FORM_OPS:
                producers = sources[starts[place] : starts[place + 1]]
                changed += [
                    source
                    for source in (producers if ops[place] == "IdentityN" else producers[:1])
                    if source >= 0 and self._mark(uses, source, uses[place])
                ]
        return any_change

    @staticmethod
    def _mark(uses: bytearray, place: int, use: int) -> bool:
        before = uses[place]
        uses[place] |= use
        return uses[place] != before

    def _use_as_input(self, nodes: NodeTable, place: int, slot: int) -> int:
        op = nodes.ops[place]
        if op in _WEIGHT_OPS:
            return _AS_WEIGHT
        if op in _AFFINE_OPS:
            return _AS_OPERAND
        kind = nodes.kind(place)
        if op in _LOOP_OPS and not self._is_invariant(kind, slot):
            return 0
        argument = slot - (op in _CALLED_WITHOUT_FIRST)
        use = 0
        for callee in self._called_by(kind):
            if 0 <= argument < self._bodies[callee].n_args:
                use |= self._uses[callee][argument]
        return use

    def _is_invariant(self, kind: Kind, slot: int) -> bool:
        """Whether the body of a loop returns an argument unchanged."""
        reference = kind.attrs.get("body")
        body = self._bodies.get(reference.name) if isinstance(reference, FunctionRef) else None
        return body is not None and is_passed_on(body, slot)

    def _called_by(self, kind: Kind) -> list[str]:
        if kind not in self._callees:
            callees = [name for name in _callees(kind) if name and name in self._bodies]
            self._callees[kind] = callees
        return self._callees[kind]
