"""Walks a program in data-flow order and works out shapes, small values and costs.

It is an abstract interpreter: tensors are ``Tensor``, which hold what is known before anything
runs. A function is walked once for each distinct set of arguments, and its cost is then multiplied.
Functions may be nested to any depth: walks are generators that ask for the analyses they need, and
one loop (``Engine.run``) keeps the stack of them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from tfprof.analysis.dataflow import data_flow_order, needed, roots_of_function
from tfprof.analysis.flops.formulas import Formula
from tfprof.analysis.interpreter.analysis import Analysis, Status, Verdict
from tfprof.analysis.interpreter.calls import CALLS, Caller
from tfprof.analysis.interpreter.control_flow import ControlFlow
from tfprof.analysis.interpreter.frames import CONTROL_FLOW, Frames, find_frames
from tfprof.analysis.interpreter.naming import Names
from tfprof.analysis.interpreter.verdicts import judged
from tfprof.analysis.op_call import OpCall
from tfprof.analysis.shapes.infer import infer
from tfprof.model.program import Body, Kind, Node, Program
from tfprof.model.run_counts import scaled
from tfprof.model.symbolic import Number, total
from tfprof.model.tensors import UNKNOWN, Dims, PartialShape, Tensor

Walk = Generator["Request", Analysis, Analysis]
"""A walk through a body: asks for analyses of the functions it calls, returns its own."""


@dataclass(frozen=True, slots=True)
class Request:
    """A function with the arguments of a call."""

    body: Body
    args: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller knows besides the program.

    Attributes:
        batch: First dimension of inputs of which it is unknown; None leaves it a symbol.
        input_shapes: Shape of inputs by the name of their node.
        trip_counts: How often loops run, by their name or the last part of it; ``""`` for all.
        branch_runs: How often the branches of a conditional ran, by node name and branch.
        node_runs: How often nodes of the graph ran, by name.
        formulas: Formula by op type.
        free: Why an op has no float operations, by op type.
    """

    batch: int | None = None
    input_shapes: Mapping[str, PartialShape] = field(default_factory=dict)
    trip_counts: Mapping[str, int] = field(default_factory=dict)
    branch_runs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    node_runs: Mapping[str, int] = field(default_factory=dict)
    formulas: Mapping[str, Formula] = field(default_factory=dict)
    free: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Inferred:
    """What rules say of a kind of op with certain inputs, and its verdict if that is settled."""

    shapes: tuple[PartialShape, ...]
    outputs: tuple[Tensor, ...]
    is_complete: bool
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is the same in every walk through a body."""

    order: list[int]
    frames: Frames | None


class Engine:
    """One analysis of a program.

    Args:
        program: The program.
        settings: What is known besides.

    Attributes:
        names: The unknowns that came up.
        notes: What a reader of the result should know, in order, each once.
        batch_is_free: Some input has an unknown first dimension.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.names = Names()
        self.notes: dict[str, None] = {}
        self.batch_is_free = False
        self._inferred: dict[tuple[Kind, tuple[Tensor, ...]], _Inferred] = {}
        self._analyses: dict[tuple[str, tuple[Tensor, ...]], Analysis] = {}
        self._plans: dict[str, _Plan] = {}
        self._walking: set[str] = set()
        self._input_of = {place: name for name, place in program.inputs.items()}

    def run(self) -> Analysis:
        """Analyse the program's graph."""
        stack = [self._walk(self.program.body, ())]
        answer: Analysis | None = None
        while True:
            try:
                request = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as finished:
                stack.pop()
                answer = finished.value
                assert answer is not None
                if not stack:
                    return answer
                continue
            answer = self._analyses.get((request.body.name, request.args))
            if answer is None:
                stack.append(self._walk(request.body, request.args))

    def function(self, name: str) -> Body | None:
        """Body of a function that is not being walked already: one that calls itself has none."""
        return None if name in self._walking else self.program.function(name)

    def note(self, text: str) -> None:
        """Tell the reader something."""
        self.notes.setdefault(text)

    def _plan(self, body: Body) -> _Plan:
        plan = self._plans.get(body.name)
        if plan is None:
            roots: Sequence[int] | None = self.program.fetches
            if body is not self.program.body:
                roots = roots_of_function(body)
            wanted = None if roots is None else needed(body, roots)
            order = data_flow_order(body, wanted)
            plan = self._plans[body.name] = _Plan(order, find_frames(body, order))
        return plan

    def _walk(self, body: Body, args: tuple[Tensor, ...]) -> Walk:
        plan = self._plan(body)
        self._walking.add(body.name)
        analysis = Analysis(body, plan.order)
        if plan.frames is None:
            yield from self._pass(analysis, args, None)
        else:
            control_flow = ControlFlow(plan.frames, body, self)
            for _ in range(2 * len(plan.frames.loops) + 2):  # each round settles a loop
                yield from self._pass(analysis, args, control_flow)
                if not control_flow.learn(analysis):
                    break
            control_flow.count(analysis)
        analysis.results = tuple(map(analysis.tensor, body.results))
        _add_up(analysis)
        self._walking.discard(body.name)
        if body is not self.program.body:
            self._analyses[body.name, args] = analysis
        return analysis

    def _pass(
        self, analysis: Analysis, args: tuple[Tensor, ...], control_flow: ControlFlow | None
    ) -> Generator[Request, Analysis, None]:
        """Work out every node, producers first."""
        body = analysis.body
        nodes, all_outputs = body.nodes, analysis.outputs
        verdicts = analysis.verdicts
        inferred_before = self._inferred
        is_main = body is self.program.body
        input_of = self._input_of if is_main else {}
        for place in analysis.order:
            node = nodes[place]
            kind = node.kind
            op = kind.op
            inputs = tuple([
                outputs[slot]
                if (outputs := all_outputs.get(source)) is not None and slot < len(outputs)
                else UNKNOWN
                for source, slot in node.inputs
            ])  # fmt: skip
            if place < body.n_args:
                all_outputs[place] = (self._argument(body, place, args),)
                verdicts[place] = _ARGUMENT
                continue
            if control_flow is not None and op in CONTROL_FLOW:
                special = control_flow.outputs(place, inputs)
                if special is not None:
                    all_outputs[place] = special
                    verdicts[place] = self._verdict(kind, inputs, special)
                    continue
            call = CALLS.get(op)
            if call is None and self.program.function(op) is not None:
                call = CALLS["LegacyCall"]
            if call is not None:
                caller = Caller(self, body, node, inputs)
                yield from caller.make(call, analysis, place)
                all_outputs[place] = self._completed(body, node, caller.shapes, caller.outputs)
                continue
            found = inferred_before.get((kind, inputs))
            if found is None:
                found = inferred_before[kind, inputs] = self._infer(kind, inputs)
            if place in input_of:
                all_outputs[place] = self._given(node, input_of[place], found)
                verdicts[place] = self._verdict(kind, inputs, all_outputs[place])
            elif found.is_complete and len(node.declared) <= len(found.outputs):
                all_outputs[place] = found.outputs
                if found.verdict is None:
                    found.verdict = self._verdict(kind, inputs, found.outputs)
                verdicts[place] = found.verdict
            else:
                outputs = self._completed(body, node, found.shapes, found.outputs)
                all_outputs[place] = outputs
                verdicts[place] = self._verdict(kind, inputs, outputs)

    def _infer(self, kind: Kind, inputs: tuple[Tensor, ...]) -> _Inferred:
        """Ask the rules."""
        op = OpCall(kind.op, inputs, (), kind.attrs, kind.output_types)
        shapes, values, handles = infer(op, len(kind.output_types))
        is_complete = all(shape is not None and set(map(type, shape)) <= _INT for shape in shapes)
        outputs = tuple([
            Tensor(None if shape is None or None in shape else shape, dtype, value, handle)  # type: ignore[arg-type]
            for shape, dtype, value, handle in zip(
                shapes, kind.output_types, values, handles, strict=True
            )
        ])  # fmt: skip
        return _Inferred(shapes, outputs, is_complete)

    def _verdict(
        self, kind: Kind, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
    ) -> Verdict:
        op = OpCall(kind.op, inputs, outputs, kind.attrs, kind.output_types)
        return judged(op, self.settings.formulas, self.settings.free)

    def _completed(
        self,
        body: Body,
        node: Node,
        shapes: Sequence[PartialShape],
        outputs: Sequence[Tensor],
    ) -> tuple[Tensor, ...]:
        """Outputs with the shapes that the graph says, and names for what is left."""
        completed = []
        unknown = len(node.declared) - len(outputs)  # an op type that we do not know has some
        if unknown > 0:
            outputs = (*outputs, *[UNKNOWN] * unknown)
            shapes = (*shapes, *[None] * unknown)
        for slot, output in enumerate(outputs):
            shape = shapes[slot]
            if slot < len(node.declared):
                shape = _refined(shape, node.declared[slot])
            completed.append(output._replace(shape=self.named(body, node, slot, shape)))
        return tuple(completed)

    def named(self, body: Body, node: Node, slot: int, shape: PartialShape) -> Dims | None:
        """A shape with names for the dimensions that are unknown."""
        if shape is None:
            return None
        label = node.name if slot == 0 else f"{node.name}:{slot}"
        return tuple([
            self.names.of(f"{label}[{axis}]", (body.name, node.name, slot, axis))
            if dim is None
            else dim
            for axis, dim in enumerate(shape)
        ])  # fmt: skip

    def _argument(self, body: Body, place: int, args: tuple[Tensor, ...]) -> Tensor:
        """An argument of a function, with what the function says about it."""
        node = body.nodes[place]
        given = args[place] if place < len(args) else UNKNOWN
        shape = given.shape
        if shape is None and node.declared:
            shape = self.named(body, node, 0, node.declared[0])
        handle = given.handle or node.kind.attrs.get("handle")
        dtype = given.dtype or node.kind.attrs.get("T", 0)
        return Tensor(shape, dtype, given.values, handle)

    def _given(self, node: Node, name: str, found: _Inferred) -> tuple[Tensor, ...]:
        """What an input of the program brings: unknown sizes are the caller's, or get names."""
        outputs = []
        for slot, output in enumerate(found.outputs):
            shape = found.shapes[slot]
            if slot < len(node.declared):
                shape = _refined(shape, node.declared[slot])
            if slot == 0 and node.name in self.settings.input_shapes:
                shape = _refined(self.settings.input_shapes[node.name], shape)
            dims = None
            if shape is not None:
                dims = tuple([
                    self._input_size(name, slot, axis) if dim is None else dim
                    for axis, dim in enumerate(shape)
                ])  # fmt: skip
            outputs.append(output._replace(shape=dims))
        return tuple(outputs)

    def _input_size(self, name: str, slot: int, axis: int) -> Number:
        if axis == 0:
            self.batch_is_free = True
            batch = self.settings.batch
            return self.names.batch() if batch is None else batch
        label = name if slot == 0 else f"{name}:{slot}"
        return self.names.of(f"{label}[{axis}]", ("input", name, slot, axis))


_INT = {int}


def _refined(known: PartialShape, other: PartialShape) -> PartialShape:
    """A shape, completed with the dimensions that another one knows."""
    if known is None or other is None or len(known) != len(other):
        return other if known is None else known
    return tuple([
        b if a is None or (b is not None and not isinstance(a, int)) else a
        for a, b in zip(known, other, strict=True)
    ])  # fmt: skip


def _add_up(analysis: Analysis) -> None:
    """The totals of one run of a body."""
    times = analysis.times
    macs, other = [], []
    for place, verdict in analysis.verdicts.items():
        if verdict.status is Status.COUNTED:
            often = times.get(place, 1)
            macs.append(verdict.cost.macs * often)
            other.append(verdict.cost.other * often)
    for place, calls in analysis.calls.items():
        for call in calls:
            often = times.get(place, 1)
            macs.append(scaled(call.analysis.macs * often, call.times))
            other.append(scaled(call.analysis.other * often, call.times))
    analysis.macs = total(macs)
    analysis.other = total(other)


_ARGUMENT = Verdict(Status.FREE, reason="an argument of the function")
