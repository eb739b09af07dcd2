"""Walks a program in data-flow order and works out shapes, small values and costs.

It is an abstract interpreter: tensors are ``Tensor``, which hold what is known before anything
runs. Nodes of the same kind with the same declared shapes and inputs have the same results, so
rules and formulas run once for all of them. Some nodes are analysed one by one: inputs, loops,
nodes with sizes that are named after them, and those with data from recorded runs.

A function is walked once for each distinct set of arguments, and its cost is then multiplied.
Functions may be nested to any depth: walks are generators that yield requests for the analyses they
need, and one loop (``Engine.run``) keeps the stack of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from tfprof.graphs.flops.formulas import Cost, Formula
from tfprof.graphs.interpreter.analysis import (
    Analysis,
    Call,
    Outcome,
    Outcomes,
    Request,
    Status,
    Verdict,
)
from tfprof.graphs.interpreter.calls import CALLS, PLAIN_CALLS, Caller, Handler
from tfprof.graphs.interpreter.control_flow import ControlFlow
from tfprof.graphs.interpreter.dataflow import data_flow_order, needed, roots_of_function
from tfprof.graphs.interpreter.frames import CONTROL_FLOW, Frames, find_frames
from tfprof.graphs.interpreter.sizes import Inferred, Sizes
from tfprof.graphs.interpreter.wiring import (
    N_RESERVED,
    NO_INPUT,
    UNKNOWN_ID,
    UNLIKE,
    Wiring,
    wiring_of,
)
from tfprof.graphs.model.node_table import Kind
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.program import GIVEN_FLOPS, Body, Program
from tfprof.graphs.model.tensors import UNKNOWN, PartialShape, Tensor
from tfprof.graphs.shapes.infer import MISFITS, infer, why_too_long

Walk = Generator[Request, Analysis, Analysis]
"""A walk through a body: yields requests for the functions it calls, returns its own analysis."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Facts on the program from the user and recorded runs.

    Attributes:
        batch: First dimension of inputs where it is unknown; None leaves it a symbol.
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """The inputs of every walk through a body."""

    order: Sequence[int]
    frames: Frames | None
    wiring: Wiring


_Key = tuple[int, ...]
"""A sort and the numbers of the tensors that flow in."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass of a walk."""

    analysis: Analysis
    args: tuple[Tensor, ...]
    control_flow: ControlFlow | None = None
    is_first: bool = True


class Engine:
    """One analysis of a program.

    Attributes:
        sizes: Completes shapes, and collects the unknowns.
        notes: Remarks for the reader of the result, in order, each once.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.sizes = Sizes(settings.batch, settings.input_shapes)
        self.notes: dict[str, None] = {}
        self._tensors: dict[Tensor, int] = {UNKNOWN: UNKNOWN_ID}
        self._outcomes: list[Outcome] = []
        self._settled: dict[_Key, int] = {}
        self._inferred: dict[_Key, Inferred] = {}
        self._analyses: dict[tuple[str, tuple[Tensor, ...]], Analysis] = {}
        self._handlers: dict[str, Handler | None] = {}
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
        """Body of a function; None while it is being walked, as when it calls itself."""
        return None if name in self._walking else self.program.function(name)

    def note(self, text: str) -> None:
        """Add a remark for the reader, unless it is empty."""
        if text:
            self.notes.setdefault(text)

    def _plan(self, body: Body) -> _Plan:
        if body.name not in self._plans:
            is_graph = body is self.program.body
            roots = self.program.fetches if is_graph else roots_of_function(body)
            wanted = None if roots is None else needed(body, roots)
            order = data_flow_order(body, wanted)
            wiring = wiring_of(body.nodes, order, self._unlike(body))
            self._plans[body.name] = _Plan(order, find_frames(body, order), wiring)
        return self._plans[body.name]

    def _unlike(self, body: Body) -> set[int]:
        """Nodes whose kind and inputs do not determine their outcome.

        These are inputs of the program, conditionals that runs have shown, and in functions
        arguments and calls, as a function may not call itself.
        """
        if body is not self.program.body:
            calls = [place for place, op in enumerate(body.nodes.ops) if self._handler(op)]
            return {*range(body.n_args), *calls}
        unlike = set(self._input_of)
        if self.settings.branch_runs:
            names, seen = body.nodes.names[:], self.settings.branch_runs
            unlike.update(place for place, name in enumerate(names) if name in seen)
        return unlike

    def _walk(self, body: Body, args: tuple[Tensor, ...]) -> Walk:
        plan = self._plan(body)
        self._walking.add(body.name)
        numbers = array("q", [-1]) * len(body.nodes)
        analysis = Analysis(body, plan.order, Outcomes(self._outcomes, numbers))
        if plan.frames is None:
            yield from self._pass(_Pass(analysis, args), plan.wiring)
        else:
            control_flow = ControlFlow(plan.frames, body, self)
            for number in range(2 * len(plan.frames.loops) + 2):  # each round settles a loop
                run = _Pass(analysis, args, control_flow, number == 0)
                yield from self._pass(run, plan.wiring)
                if not control_flow.learn(analysis):
                    break
            control_flow.count(analysis)
        analysis.results = tuple(map(analysis.tensor, body.results))
        self._walking.discard(body.name)
        if body is not self.program.body:
            _ = analysis.cost  # now, while the costs of all functions that it calls are known
            self._analyses[body.name, args] = analysis
        return analysis

    def _pass(self, run: _Pass, wiring: Wiring) -> Generator[Request, Analysis, None]:
        """Analyse every node, producers first.

        Nodes of the same sort with the same inputs have the same outcome, so for most nodes a
        look into a dict is enough.
        """
        settled, outcomes = self._settled, self._outcomes
        numbers = run.analysis.outcomes.numbers
        ids = _tensor_ids(run, wiring)
        columns = (wiring.places, wiring.sorts, wiring.first, wiring.second)
        for place, sort, first, second in zip(*columns, strict=True):
            short_key = (sort, ids[first], ids[second])
            number = settled.get(short_key)
            if number is not None:
                numbers[place] = number
                ids[place] = outcomes[number].first
                continue
            key: _Key | None = short_key
            if ids[first] == UNLIKE:
                wires = wiring.inputs.get(place)
                key = None if wires is None else (sort, *[ids[wire] for wire in wires])
                number = None if key is None else settled.get(key)
            if number is None:
                number = yield from self._settle(run, place, key)
            numbers[place] = number
            outcome = outcomes[number]
            ids[place] = outcome.first
            for slot, wire in wiring.outputs.get(place, ()):
                ids[wire] = outcome.id_of(slot)

    def _settle(
        self, run: _Pass, place: int, key: _Key | None
    ) -> Generator[Request, Analysis, int]:
        """Analyse a node; returns the number of its outcome. Nodes with the same key share it."""
        body = run.analysis.body
        if place < body.n_args:
            return self._outcome("_Arg", (self.sizes.argument(body, place, run.args),), _ARGUMENT)
        node = body.nodes[place]
        kind = node.kind
        op = kind.op
        inputs = tuple(map(run.analysis.tensor, node.inputs))
        if run.control_flow is not None and op in CONTROL_FLOW:
            special = run.control_flow.outputs(place, inputs)
            if special is not None:
                return self._outcome(op, special, self._verdict(kind, inputs, special))
        calls: tuple[Call, ...] | None = None
        call = self._handler(op)
        if call is not None:
            caller = Caller(self, body, node, inputs)
            verdict = yield from caller.make(call)
            calls = tuple(caller.calls)
            outputs, is_named = self.sizes.completed(
                body, node, Inferred(caller.shapes, caller.outputs)
            )
            if verdict.status is Status.UNCOUNTED and GIVEN_FLOPS in kind.attrs:
                verdict = self._verdict(kind, inputs, outputs)
            is_shared = op in PLAIN_CALLS
        else:
            inferred = self._inferred.get(key) if key is not None else None
            if inferred is None:
                inferred = self._infer(kind, inputs)
                if key is not None:
                    self._inferred[key] = inferred
            if body is self.program.body and place in self._input_of:
                outputs, is_named = self.sizes.given(node, self._input_of[place], inferred), True
            else:
                outputs, is_named = self.sizes.completed(body, node, inferred)
            verdict = self._verdict(kind, inputs, outputs)
            is_shared = op not in CONTROL_FLOW
        number = self._outcome(op, outputs, verdict, calls)
        if key is not None and is_shared and not is_named:
            self._settled[key] = number
        return number

    def _outcome(
        self,
        op: str,
        outputs: tuple[Tensor, ...],
        verdict: Verdict,
        calls: tuple[Call, ...] | None = None,
    ) -> int:
        tensors = self._tensors
        ids = tuple([
            tensors.setdefault(each, len(tensors) + N_RESERVED - 1) for each in outputs
        ])  # fmt: skip
        first = ids[0] if ids else UNKNOWN_ID
        self._outcomes.append(Outcome(op, outputs, ids, first, verdict, calls))
        return len(self._outcomes) - 1

    def _handler(self, op: str) -> Handler | None:
        """The handler of an op type that runs functions; None for other op types."""
        if op not in self._handlers:
            is_function = op not in CALLS and self.program.function(op) is not None
            self._handlers[op] = CALLS["LegacyCall"] if is_function else CALLS.get(op)
        return self._handlers[op]

    def _infer(self, kind: Kind, inputs: tuple[Tensor, ...]) -> Inferred:
        """Outputs by the rules."""
        op = OpCall(kind.op, inputs, (), kind.attrs, kind.output_types)
        shapes, values, handles = infer(op, len(kind.output_types))
        outputs = tuple([
            Tensor(None if shape is None or None in shape else shape, dtype, value, handle)  # type: ignore[arg-type]
            for shape, dtype, value, handle in zip(
                shapes, kind.output_types, values, handles, strict=True
            )
        ])  # fmt: skip
        return Inferred(shapes, outputs)

    def _verdict(
        self, kind: Kind, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
    ) -> Verdict:
        """Whether an op can be counted, and its cost."""
        op = OpCall(kind.op, inputs, outputs, kind.attrs, kind.output_types)
        formula = _GIVEN if GIVEN_FLOPS in op.attrs else self.settings.formulas.get(op.type)
        if formula is not None:
            return _counted(op, formula)
        if op.type in self.settings.free:
            return Verdict(Status.FREE, reason=self.settings.free[op.type])
        return Verdict(Status.UNCOUNTED, reason=NO_FORMULA)


def _tensor_ids(run: _Pass, wiring: Wiring) -> list[int]:
    """Numbers of the tensors that an earlier pass has found, as a ``Wiring`` orders them."""
    ids = [UNKNOWN_ID] * wiring.size
    outcomes = run.analysis.outcomes
    n = len(outcomes)
    ids[n + NO_INPUT], ids[n + UNLIKE] = NO_INPUT, UNLIKE
    if not run.is_first:
        for place in wiring.places:
            outcome = outcomes[place]
            if outcome is None:
                continue
            ids[place] = outcome.first
            for slot, wire in wiring.outputs.get(place, ()):
                ids[wire] = outcome.id_of(slot)
    return ids


_ARGUMENT = Verdict(Status.FREE, reason="an argument of the function")

NO_FORMULA = "there is no formula for this op type; add one with tfprof.register_flops"

_GIVEN = Formula(
    "as registered",
    "Given by an op log, or by a formula that the program has registered with TensorFlow.",
    "OpLogProto, ops.RegisterStatistics",
    lambda op: Cost(0, op.integer(GIVEN_FLOPS)),
)


def _counted(op: OpCall, formula: Formula) -> Verdict:
    try:
        cost = formula.cost(op)
    except UnknownError as error:
        reason = why_too_long(op) or str(error)
    except OverflowError as error:
        reason = str(error)
    except MISFITS as error:
        reason = f"its inputs do not fit the formula ({type(error).__name__}: {error})"
    else:
        if not any(isinstance(count, int) and count < 0 for count in cost[:2]):
            return Verdict(Status.COUNTED, cost, formula)
        reason = "the formula gives a negative number: its shapes contradict each other"
    return Verdict(Status.UNCOUNTED, formula=formula, reason=reason)
