"""Ops of devices as a tree: by program, by category, or by provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps, OpKey, Traffic

Grouping = Literal["program", "category", "provenance"]

MOST_CHILDREN = 100

_CUT_BELOW = {"program": 2, "category": 1, "provenance": 100}
"""First level on which nodes keep only their first children."""

_UNKNOWN_PROGRAM = "main"
_NO_PROGRAM = "in no compiled program"
IDLE = "IDLE"

_IDLE_KEY = OpKey(None, IDLE)

_MEMBERS = DeviceOp(OpKey(None, ""))
"""Marks a node that holds an op and its duplicates, until the node gets its name."""


@dataclass(slots=True)
class OpNode:
    """A node of the tree.

    Attributes:
        name: Name of the op, the category or the program.
        op: The op, if the node is one.
        time_ps: Its time.
        normalized_ps: Its time at the nominal clock.
        occurrences: Number of runs of its ops; 0 for programs and the root.
        flops: Float operations in the device's count.
        model_flops: Float operations in the model's count.
        traffic: Bytes.
        children: The children, the largest first.
        n_children: Number of children before the cut.
        asynchronous_ps: Time of the ops in it that only start their work, or wait for it.
        is_group: Whether it holds several equal ops, of which ``op`` is the first.
    """

    name: str
    op: DeviceOp | None = None
    time_ps: int = 0
    normalized_ps: int = 0
    occurrences: int = 0
    flops: int = 0
    model_flops: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    children: list[OpNode] = field(default_factory=list)
    n_children: int = 0
    asynchronous_ps: int = 0
    is_group: bool = False
    by_name: dict[str, OpNode] = field(default_factory=dict)

    def child(self, name: str) -> OpNode:
        """The child of a name, created if missing."""
        child = self.by_name.get(name)
        if child is None:
            child = self.by_name[name] = OpNode(name)
            self.children.append(child)
        return child

    def add(self, op: DeviceOp, time_ps: int, *, count: bool) -> None:
        """Add the time and cost of an op."""
        self.time_ps += time_ps
        self.asynchronous_ps += time_ps if op.is_asynchronous else 0
        self.normalized_ps += op.normalized_ps
        self.flops += op.flops
        self.model_flops += op.model_flops
        self.traffic = self.traffic + op.traffic
        if count:
            self.occurrences += op.occurrences

    @property
    def is_asynchronous(self) -> bool:
        """Whether its time is not that of its work."""
        return 0 < self.time_ps == self.asynchronous_ps

    def walk(self) -> Iterator[tuple[int, OpNode]]:
        """All nodes with their levels, parents before children."""
        waiting = [(0, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            waiting += [(level + 1, child) for child in reversed(node.children)]


def op_tree(
    ops: DeviceOps,
    grouping: Grouping,
    program_names: Mapping[int, str] | None = None,
    *,
    with_idle: bool,
    most_children: int = MOST_CHILDREN,
) -> OpNode:
    """Build the tree (``op_profile_builder.cc``).

    Ops that hold others (loops, calls) have no node; only their self time counts, for the program
    and the root.

    Args:
        ops: The ops.
        grouping: The kind of the levels below the root.
        program_names: Names of programs by id; all others get the name ``main``, as in the
            reference. None for the programs' titles in the ops.
        with_idle: Show the time that no op covers, too.
        most_children: Number of children to keep.
    """
    root = OpNode(f"by_{grouping}")
    for op in ops.ops:
        if op.key.name.startswith("region"):
            continue
        _enter(root, op, grouping, program_names)
    if with_idle and ops.total_ps:
        idle = OpNode(IDLE, DeviceOp(_IDLE_KEY, IDLE), time_ps=ops.idle_ps)
        if not root.children:
            return idle
        root.children.append(idle)
    _order(root)
    root.time_ps = ops.total_ps if with_idle else ops.busy_ps
    _unite_duplicates(root)
    _cut(root, _CUT_BELOW[grouping], most_children)
    return root


def _enter(
    root: OpNode, op: DeviceOp, grouping: Grouping, program_names: Mapping[int, str] | None
) -> None:
    above = [root]
    if grouping != "category":
        program = op.key.program or _NO_PROGRAM
        if program_names is not None:
            program = program_names.get(op.key.program_id or 0, _UNKNOWN_PROGRAM)
        above.append(root.child(program))
    if op.self_ps < op.time_ps:
        for node in above:
            node.time_ps += op.self_ps
        return
    for node in above:
        node.add(op, op.self_ps, count=False)
    node = above[-1]
    if grouping == "provenance":
        origin = op.provenance.partition(":")[0]
        for part in origin.split("/") if origin else ():
            node = node.child(part)
            node.add(op, op.time_ps, count=False)
    node = node.child(op.category)
    node.add(op, op.time_ps, count=True)
    group = node.child(op.deduplicated_name or op.key.name)
    group.add(op, op.time_ps, count=True)
    leaf = OpNode(op.key.name, op)
    leaf.add(op, op.time_ps, count=True)
    leaf.children = [_fused(child) for child in op.children]
    group.children.append(leaf)
    group.op = _MEMBERS


def _fused(op: DeviceOp) -> OpNode:
    node = OpNode(op.key.name, op)
    node.add(op, op.time_ps, count=True)
    return node


def _order(root: OpNode) -> None:
    for _, node in root.walk():
        if node.op is None or node.op is _MEMBERS:
            node.children.sort(key=lambda child: (-child.time_ps, child.name))
        else:
            node.children.sort(key=lambda child: -child.model_flops)


def _unite_duplicates(root: OpNode) -> None:
    """Replace groups of one op by the op; name others after their first op."""
    for _, node in root.walk():
        for place, child in enumerate(node.children):
            if child.op is not _MEMBERS:
                continue
            if len(child.children) == 1:
                node.children[place] = child.children[0]
            else:
                first = child.children[0]
                child.name = f"{first.name} and its duplicate(s)"
                child.op = first.op
                child.is_group = True
                if first.op is not None and is_fusion(first.op):
                    # Equal fusions may come from different ops.
                    child.op = replace(first.op, provenance="")


def is_fusion(op: DeviceOp) -> bool:
    """Whether an op is a fusion, by its category."""
    return "fusion" in op.category and op.category != "non-fusion elementwise"


def _cut(root: OpNode, level_from: int, most: int) -> None:
    for level, node in root.walk():
        node.n_children = len(node.children)
        if level >= level_from:
            del node.children[most:]


def shown_ops(ops: DeviceOps) -> Sequence[DeviceOp]:
    """Ops in the order of tables: the largest self time first."""
    return sorted(ops.ops, key=lambda op: (-op.self_ps, op.key.name))
