"""Function bodies and eager ops → one graph, whose nodes have the names that ops run under.

The ops of a function that the program calls are in a scope with its name. Those of a function
that a node calls are below that node, as TensorFlow names ops when it inlines functions
(``call/op``, ``loop/body/op``).
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import NamedTuple

from tfprof.capture.eager.events import Dataset, Execution
from tfprof.capture.eager.recorder import EagerOp
from tfprof.core.columns.frames import Frame
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.function_graphs import FunctionBody, called_functions

_FUNCTION_NAME = re.compile(r"__(inference|forward|backward)_(.*)_\d+")
_INLINED = re.compile(r"/(body|cond|then|else|branch\d+)/_\d+(?=/)")
"""Inlining numbers the bodies of loops and branches; the numbers have no meaning."""

DATASET_SCOPE = "tf.data"
"""Scope of the ops of input pipelines."""

_BRANCH_NAMES = {"then_branch": "then", "else_branch": "else", "f": ""}
_PICKED_BY_INPUT = ("If", "StatelessIf", "Case", "StatelessCase")
_LOWERED_CALLS = ("PartitionedCall", "StatefulPartitionedCall", *_PICKED_BY_INPUT, "While",
                  "StatelessWhile")  # fmt: skip
_FUSED = re.compile(r"_(?:Mkl)?(?:Native)?Fused(\w+)")
_FUSED_TAIL = 8
"""A fused kernel replaces a short chain of ops."""

Renaming = Callable[[FunctionBody], Mapping[str, str]]


@dataclass(slots=True)
class _Instance:
    """A function body at one of the places where it is called."""

    runtime_prefix: str
    prefix: str
    body: FunctionBody
    caller: pb.NodeDef | None
    inputs: list[str]
    callers: tuple[str, ...]


class _Place(NamedTuple):
    """Scope of the ops of a run: the runtime's name and ours."""

    runtime_prefix: str
    prefix: str


@dataclass(slots=True)
class ProgramGraph:
    """The graph of the ops that ran.

    Args:
        bodies: Function bodies, by name.
        eager_ops: Ops that ran eagerly.
        renaming: New names of a body's nodes, by old name; others keep theirs.

    Attributes:
        nodes: All nodes, by name.
        stacks: Call stacks that made them.
        same: Pairs of tensors that are the same: arguments and results of called functions.
    """

    bodies: Mapping[str, FunctionBody]
    eager_ops: list[EagerOp]
    renaming: Renaming
    nodes: dict[str, pb.NodeDef] = field(default_factory=dict)
    stacks: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    same: list[tuple[str, str]] = field(default_factory=list)
    _by_runtime_name: dict[str, str] = field(default_factory=dict)
    _functions: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _places: dict[Execution, _Place] = field(default_factory=dict)
    _scopes: dict[str, str] = field(default_factory=dict)
    _open_inputs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._taken.update(op.node.name.partition("/")[0] for op in self.eager_ops)

    def names(self, executions: Sequence[Execution]) -> list[str]:
        """Node of each execution, ``""`` for calls whose ops were recorded one by one.

        Ops that are in no body, because TensorFlow's optimizer made them, become nodes, too.
        """
        with_ops = {execution.owner for execution in executions}
        names: list[str] = []
        for execution in executions:
            if execution.calls_function:  # in the order of the calls, not of their ops
                self._add_function(execution)
        for execution in executions:
            if execution.calls_function and execution in with_ops:
                names.append("")
            else:
                names.append(self._node_of(execution))
                if names[-1] not in self.stacks:
                    self._blame_caller(execution, names[-1])
        self._connect_eager_ops()
        return names

    def _add_function(self, call: Execution) -> str:
        """Add a function that the program calls; returns the scope of its ops."""
        scope = self._functions.get(call.name)
        if scope is None:
            name = _function_scope(call.name)
            names = chain([name], (f"{name}_{number}" for number in count(1)))
            scope = next(each for each in names if each not in self._taken)
            self._taken.add(scope)
            self._functions[call.name] = scope
            if call.name in self.bodies:
                op = self._eager_op(call)
                inputs = op.inputs if op is not None else []
                body = self.bodies[call.name]
                waiting = [_Instance(scope, scope, body, None, inputs, (call.name,))]
                while waiting:
                    waiting.extend(reversed(self._add_body(waiting.pop())))
        return scope

    def _eager_op(self, execution: Execution) -> EagerOp | None:
        known = 0 <= execution.eager_index < len(self.eager_ops)
        return self.eager_ops[execution.eager_index] if known else None

    def _connect_eager_ops(self) -> None:
        """Connect inputs that come from eager ops to nodes.

        A result of a called function comes from a node inside the function.
        """
        results = {
            name: [f"{self._functions[name]}/{tensor}" for tensor in body.results.values()]
            for name, body in self.bodies.items()
            if name in self._functions
        }
        renamed: dict[str, str] = {}
        for op in self.eager_ops:
            for slot, tensor in enumerate(results.get(op.node.op, ())):
                node_name, _, port = tensor.partition(":")
                node_name = self._by_runtime_name.get(node_name, node_name)
                renamed[f"{op.node.name}:{slot}"] = f"{node_name}:{port or 0}"
        for name in self._open_inputs:
            node = self.nodes[name]
            inputs = [renamed.get(tensor, tensor) for tensor in node.input]
            del node.input[:]
            node.input.extend(inputs)

    def _add_body(self, instance: _Instance) -> list[_Instance]:
        """Add the nodes of a body; returns the bodies that these call."""
        body, renamed = instance.body, self.renaming(instance.body)
        full = {
            node.name: f"{instance.prefix}/{renamed.get(node.name, node.name)}"
            for node in body.nodes
        }
        called: list[_Instance] = []
        for place, original in enumerate(body.nodes):
            node = pb.NodeDef()
            node.CopyFrom(original)
            node.name = full[original.name]
            runtime_name = f"{instance.runtime_prefix}/{original.name}"
            del node.input[:]
            node.input.extend(_renamed_tensor(tensor, full) for tensor in original.input)
            if place < min(body.n_args, len(instance.inputs)) and instance.inputs[place]:
                node.input.append(instance.inputs[place])
                self.same.append((instance.inputs[place], node.name))
                self._open_inputs.append(node.name)
            self.nodes[node.name] = node
            self._by_runtime_name[runtime_name] = node.name
            self._note_scopes(runtime_name, node.name)
            if original.name in body.stacks:
                self.stacks[node.name] = body.stacks[original.name]
            called.extend(self._called(instance, original, node, runtime_name))
        caller, results = instance.caller, list(body.results.values())
        if caller is not None:  # which depends on the nodes of the results
            makers = dict.fromkeys(map(_node_name, results))
            caller.input.extend(f"^{full[name]}" for name in makers if name in full)
            if not instance.prefix.endswith("/cond"):
                self.same.extend(
                    (_renamed_tensor(result, full), f"{caller.name}:{slot}")
                    for slot, result in enumerate(results)
                )
        return called

    def _note_scopes(self, runtime_name: str, name: str) -> None:
        """Pair scopes of equal depth, as renaming replaces parts of a path one by one."""
        runtime_scope, scope = runtime_name.rpartition("/")[0], name.rpartition("/")[0]
        while runtime_scope not in self._scopes and runtime_scope:
            self._scopes[runtime_scope] = scope
            runtime_scope, scope = runtime_scope.rpartition("/")[0], scope.rpartition("/")[0]

    def _called(
        self, instance: _Instance, original: pb.NodeDef, node: pb.NodeDef, runtime_name: str
    ) -> list[_Instance]:
        if node.op not in _LOWERED_CALLS:
            return []
        inputs = [tensor for tensor in node.input if not tensor.startswith("^")]
        if node.op in _PICKED_BY_INPUT:
            inputs = inputs[1:]
        called = []
        for key, name in called_functions(original):
            if name not in self.bodies or name in instance.callers:
                continue
            part = _BRANCH_NAMES.get(key, key.replace("branches", "branch"))
            tail = f"/{part}" if part else ""
            places = runtime_name + tail, node.name + tail
            callers = (*instance.callers, name)
            called.append(_Instance(*places, self.bodies[name], node, inputs, callers))
        return called

    def _blame_caller(self, execution: Execution, name: str) -> None:
        """Give an op without a known call stack that of the call that ran it."""
        call: Execution | Dataset | None = execution
        while isinstance(call, Execution) and not call.calls_function:
            call = call.owner
        op = self._eager_op(call) if isinstance(call, Execution) else None
        if op is not None:
            self.stacks[name] = self._frames(op)

    def _node_of(self, execution: Execution) -> str:
        op = self._eager_op(execution)
        if execution.calls_function:
            return self._new_node(self._add_function(execution), "PartitionedCall")
        if op is not None:
            name = op.node.name
            if name not in self.nodes:
                self.nodes[name] = op.node
                self.stacks[name] = self._frames(op)
                op.node.input.extend(tensor for tensor in op.inputs if tensor)
                self._open_inputs.append(name)
            return name
        place = self._place(execution.owner)
        if not place.prefix:
            return self._new_node(execution.name, execution.op_type)
        runtime_name = f"{place.runtime_prefix}/{execution.name}"
        known = self._by_runtime_name.get(runtime_name)
        if known is None:
            runtime_name = _INLINED.sub(r"/\1", runtime_name)
            known = self._by_runtime_name.get(runtime_name)
        if known is None:
            return self._new_node(self._renamed(runtime_name, place), execution.op_type)
        return self._unfused(known, execution.op_type)

    def _renamed(self, runtime_name: str, place: _Place) -> str:
        """Name of an op that the graph does not have, in the scope of its neighbours."""
        scope = runtime_name.rpartition("/")[0]
        while scope and scope not in self._scopes:
            scope = scope.rpartition("/")[0]
        if scope:
            return self._scopes[scope] + runtime_name[len(scope) :]
        return place.prefix + runtime_name[len(place.runtime_prefix) :]

    def _frames(self, op: EagerOp) -> tuple[Frame, ...]:
        return tuple(
            Frame(file, function, line, linecache.getline(file, line).strip())
            for file, line, function in op.stack
        )

    def _place(self, owner: Execution | Dataset | None) -> _Place:
        if not isinstance(owner, Execution):
            scope = "" if owner is None else f"{DATASET_SCOPE}/{owner.name}".rstrip("/")
            return _Place(scope, scope)
        if owner.calls_function:
            scope = self._add_function(owner)
            return _Place(scope, scope)
        place = self._places.get(owner)
        if place is None:
            outer = self._place(owner.owner).runtime_prefix
            runtime_name = f"{outer}/{owner.name}".lstrip("/")
            prefix = self._by_runtime_name.get(runtime_name) or self._node_of(owner)
            place = self._places[owner] = _Place(runtime_name, prefix)
        return place

    def _new_node(self, name: str, op_type: str) -> str:
        if name not in self.nodes:
            self.nodes[name] = pb.NodeDef(name=name, op=op_type)
        return name

    def _unfused(self, name: str, op_type: str) -> str:
        """The op to which the time of a kernel belongs.

        A fused kernel (``_FusedMatMul``) has the name of the last op of the chain that it replaced;
        its time is the matrix multiplication's or convolution's.
        """
        fused = _FUSED.fullmatch(op_type)
        if fused is None:
            return name
        node = self.nodes[name]
        for _ in range(_FUSED_TAIL):
            if node.op == fused[1]:
                return node.name
            inner = [self.nodes.get(_node_name(tensor)) for tensor in node.input[:2]]
            wanted = next((maker for maker in inner if maker and maker.op == fused[1]), None)
            follow = wanted or (inner[0] if inner else None)
            if follow is None:
                break
            node = follow
        return name


def _function_scope(name: str) -> str:
    """Name of a function in the program, ``<name>_backward`` for its gradient."""
    tail = ""
    while (match := _FUNCTION_NAME.fullmatch(name)) is not None:
        kind, name = match.groups()
        tail = "_backward" if kind == "backward" else tail
    return (name.replace("/", "_") or "function") + tail


def _node_name(tensor: str) -> str:
    return tensor.lstrip("^").partition(":")[0]


def _renamed_tensor(tensor: str, full: Mapping[str, str]) -> str:
    name = _node_name(tensor)
    mark = "^" if tensor.startswith("^") else ""
    _, colon, slot = tensor.partition(":")
    return f"{mark}{full.get(name, name)}{colon}{slot}"
