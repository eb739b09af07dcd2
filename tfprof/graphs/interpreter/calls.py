"""Ops that run functions: plain calls, conditionals, maps. Loops are in ``while_loops``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tfprof.graphs.interpreter.analysis import Analysis, Call, Request, Status, Verdict
from tfprof.graphs.interpreter.while_loops import run_for, run_while
from tfprof.graphs.model.node_table import Node
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.program import Body, FunctionRef
from tfprof.graphs.model.run_counts import Times
from tfprof.graphs.model.symbolic import Number, typical
from tfprof.graphs.model.tensors import UNKNOWN, PartialShape, Tensor
from tfprof.graphs.shapes.dims import common_shape

if TYPE_CHECKING:
    from tfprof.graphs.interpreter.engine import Engine

Asking = Generator[Request, Analysis, None]
"""Yields requests for analyses of functions."""


class Caller:
    """A node that runs functions, while it is analysed.

    Attributes:
        node: The node.
        inputs: Its inputs.
        shapes: Shapes of its outputs, which the graph may complete.
        outputs: Its outputs.
    """

    def __init__(self, engine: Engine, body: Body, node: Node, inputs: tuple[Tensor, ...]) -> None:
        self.engine = engine
        self.body = body
        self.node = node
        self.inputs = inputs
        self.outputs: list[Tensor] = [
            UNKNOWN._replace(dtype=dtype) for dtype in node.kind.output_types
        ]
        self.shapes: list[PartialShape] = [None] * len(self.outputs)
        self.calls: list[Call] = []

    def make(self, call: Callable[[Caller], Asking]) -> Generator[Request, Analysis, Verdict]:
        """Run the handler of the op type; returns the verdict on the node."""
        try:
            yield from call(self)
        except (UnknownError, OverflowError) as error:
            return Verdict(Status.UNCOUNTED, reason=str(error))
        return Verdict(Status.CALL)

    def function(self, attr: str) -> Body:
        """The function that an attribute names."""
        return self.named(self.node.kind.attrs.get(attr))

    def named(self, reference: object) -> Body:
        """The function that a reference names.

        Raises:
            UnknownError: It is not in the graph's library, or it is being walked already.
        """
        if not isinstance(reference, FunctionRef):
            raise UnknownError("the graph does not say which function is called")
        body = self.engine.function(reference.name)
        if body is None:
            why = "is not in the graph's library"
            if self.engine.program.function(reference.name) is not None:
                why = "calls itself"
            raise UnknownError(f"the function {reference.name} {why}")
        return body

    def chosen(self) -> int | None:
        """The number in the first input, which chooses a branch; None if it is unknown."""
        values = self.inputs[0].values if self.inputs else None
        known = values is not None and len(values) == 1 and isinstance(values[0], int)
        return values[0] if known else None  # type: ignore[index, return-value]

    def add(self, analysis: Analysis, times: Times = 1, role: str = "") -> None:
        """Add a function that the node runs."""
        self.calls.append(Call(analysis, times, role))

    def answer(self, results: Sequence[Tensor]) -> None:
        """Set the outputs."""
        for slot, result in enumerate(results[: len(self.outputs)]):
            self.outputs[slot] = result._replace(dtype=result.dtype or self.outputs[slot].dtype)
            self.shapes[slot] = result.shape


def _call(attr: str, skipped_first: int = 0, skipped_last: int = 0) -> Callable[[Caller], Asking]:
    """A plain call of the function that ``attr``, or if it is empty the op type, names."""

    def handler(caller: Caller) -> Asking:
        last = len(caller.inputs) - skipped_last
        body = caller.function(attr) if attr else caller.named(FunctionRef(caller.node.kind.op))
        analysis = yield Request(body, caller.inputs[skipped_first:last])
        caller.add(analysis)
        caller.answer(analysis.results)

    return handler


def _if(caller: Caller) -> Asking:
    roles = ("then_branch", "else_branch")
    condition = caller.chosen()
    chosen = None if condition is None else int(not condition)
    yield from _branches(caller, list(map(caller.function, roles)), roles, chosen)


def _case(caller: Caller) -> Asking:
    references = caller.node.kind.attrs.get("branches", ())
    if not isinstance(references, tuple) or not references:
        raise UnknownError("the graph does not say which functions are called")
    branches = list(map(caller.named, references))
    chosen = caller.chosen()
    if chosen is not None and not 0 <= chosen < len(branches):
        chosen = len(branches) - 1
    roles = [f"branch{place}" for place in range(len(branches))]
    yield from _branches(caller, branches, roles, chosen)


def _branches(
    caller: Caller, branches: Sequence[Body], roles: Sequence[str], chosen: int | None
) -> Asking:
    """Each branch as often as it ran, or the chosen one, or the most expensive one."""
    args = caller.inputs[1:]
    analyses = []
    for body in branches:
        analyses.append((yield Request(body, args)))
    times = _weights(caller, analyses, roles, chosen)
    for analysis, often, role in zip(analyses, times, roles, strict=True):
        caller.add(analysis, often, role)
    if chosen is not None:
        caller.answer(analyses[chosen].results)
        return
    joined = [join(results) for results in zip(*(a.results for a in analyses), strict=False)]
    caller.answer([tensor for tensor, _ in joined])
    for slot, (_, shape) in enumerate(joined[: len(caller.shapes)]):
        caller.shapes[slot] = shape


def _weights(
    caller: Caller, analyses: Sequence[Analysis], roles: Sequence[str], chosen: int | None
) -> list[Times]:
    """The weight of each branch: its share of the runs; or 1 for one of them, 0 for others."""
    if caller.body is caller.engine.program.body:
        observed = caller.engine.settings.branch_runs.get(caller.node.name, {})
        runs = [observed.get(role, 0) for role in roles]
        if sum(1 for count in runs if count) > 1:
            return [Fraction(count, sum(runs)) for count in runs]
        if any(runs):
            chosen = next(place for place, count in enumerate(runs) if count)
    if chosen is None:
        costs = [analysis.flops for analysis in analyses]
        chosen = costliest(costs)
        if any(cost != costs[chosen] for cost in costs):
            caller.engine.note(COSTLIEST)
    return [int(place == chosen) for place in range(len(analyses))]


COSTLIEST = "where a condition is unknown, the most expensive branch is counted"


def costliest(costs: Sequence[Number]) -> int:
    """Place of the largest cost, with equal sizes for all unknowns."""
    sizes = [typical(cost) for cost in costs]
    return max(range(len(sizes)), key=lambda place: (sizes[place], -place))


def join(tensors: Sequence[Tensor]) -> tuple[Tensor, PartialShape]:
    """The common facts of several tensors, and their shape, with None where they differ."""
    first = tensors[0]
    shapes = [tensor.shape for tensor in tensors]
    shape = None if None in shapes else common_shape(shapes)
    values = first.values if all(tensor.values == first.values for tensor in tensors) else None
    handle = first.handle if all(tensor.handle == first.handle for tensor in tensors) else None
    known = None if shape is None or None in shape else first.shape
    return Tensor(known, first.dtype, values, handle), shape


def _map_defun(caller: Caller) -> Asking:
    """A function for each element along the first axis of the arguments."""
    n_mapped = len(caller.node.kind.attrs.get("Targuments", ()))
    if not n_mapped:
        raise UnknownError("the graph does not say what is mapped over")
    mapped = caller.inputs[:n_mapped]
    if any(not tensor.shape for tensor in mapped):
        raise UnknownError("the shape of what is mapped over is unknown")
    count = mapped[0].shape[0]  # type: ignore[index]  # checked above
    elements = tuple(
        Tensor(tensor.shape[1:], tensor.dtype, None, tensor.handle)  # type: ignore[index]
        for tensor in mapped
    )
    body = caller.function("f")
    analysis = yield Request(body, elements + caller.inputs[n_mapped:])
    caller.add(analysis, count)
    caller.answer([
        Tensor(None if result.shape is None else (count, *result.shape), result.dtype)
        for result in analysis.results
    ])  # fmt: skip


def _not_run(reason: str) -> Callable[[Caller], Asking]:
    def handler(caller: Caller) -> Asking:
        raise UnknownError(reason)
        yield  # makes this a generator, as every handler is

    return handler


Handler = Callable[[Caller], Asking]
"""Analyses the functions that a node runs."""

CALLS: dict[str, Handler] = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), _call("f")),
    "TPUPartitionedCall": _call("f", skipped_last=1),
    "RemoteCall": _call("f", skipped_first=1),
    "BatchFunction": _call("f"),
    **dict.fromkeys(("XlaLaunch", "XlaLaunchV2"), _call("function")),
    **dict.fromkeys(("If", "StatelessIf", "_If", "XlaIf"), _if),
    **dict.fromkeys(("Case", "StatelessCase"), _case),
    **dict.fromkeys(("While", "StatelessWhile", "_While", "XlaWhile"), run_while),
    "For": run_for,
    "MapDefun": _map_defun,
    "LegacyCall": _call(""),
    "SymbolicGradient": _not_run("the gradient of a function is made only when the graph runs"),
    **dict.fromkeys(
        ("XlaCallModule", "XlaHostCompute", "_XlaHostComputeMlir", "_XlaCompile", "_XlaRun",
         "XlaCustomCall", "XlaCustomCallV2", "TPUExecute", "TPUExecuteAndUpdateVariables",
         "_TPUReplicate", "MlirPassthroughOp"),
        _not_run("what it runs is compiled code, not a graph"),
    ),
    **dict.fromkeys(
        ("PyFunc", "PyFuncStateless", "EagerPyFunc"),
        _not_run("what it runs is Python code, not a graph"),
    ),
}  # fmt: skip
"""Handler by op type; ``LegacyCall`` stands for the names of functions."""

PLAIN_CALLS = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase")
)
"""Calls whose inputs determine everything, unless a run has shown which branch was taken."""
