"""Graph viewer: the neighbourhood of an instruction, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import bound_by, run_peaks
from tfprof.captures.facts.hlo_programs import (
    HostProgram,
    all_programs,
    chosen_program,
    no_programs,
    program_notes,
)
from tfprof.captures.hlo.cost import Cost, costs_of
from tfprof.captures.hlo.graph import GraphNode, Neighbourhood, neighbourhood
from tfprof.captures.hlo.opcodes import category_of
from tfprof.captures.hlo.text import expression
from tfprof.captures.model.hlo import HloModule, Instruction
from tfprof.captures.run import shared_columns as shared
from tfprof.captures.run.columns import amount, count, text
from tfprof.captures.run.result import Note, ToolResult
from tfprof.captures.run.run import Host, Run
from tfprof.captures.run.table import Cell, Table
from tfprof.captures.tools.program_times import instruction_ops, program_times
from tfprof.core.text.claims import Claim
from tfprof.errors import UsageError

TOOL = "graph-viewer"
TITLE = "Graph viewer"

NODES = (
    text("instruction", "Instruction",
         "name of the instruction in the compiled program", links=("graph-viewer",)),
    shared.OPCODE,
    shared.INSTRUCTION_KIND,
    count("distance", "Steps away", "how many edges away from the chosen one"),
    amount("self_us", "Self time", "us",
           "self time of all its runs in the capture; empty if no run was recorded", "device"),
    text("bound_by", "Bound by", "resource that it uses most; empty if no run was recorded"),
    text("computation", "Computation", "computation that it is in"),
    shared.SHAPE,
    count("flops", "FLOPs", "float operations of one run; empty if unknown"),
    amount("bytes_accessed", "Bytes accessed", "bytes", "bytes that one run reads and writes"),
    shared.TF_OP,
    shared.SOURCE,
    text("expression", "Text", "text of the instruction"),
)  # fmt: skip

EDGES = (
    text("tail", "From", "instruction that makes the value"),
    text("head", "To", "instruction that reads it"),
    text("kind", "Kind", "data, control (nothing but order), or call of a computation"),
    text("shape", "Shape", "element type and dimensions of the value"),
    amount("size_bytes", "Size", "bytes", "its size"),
)


def graph_viewer(
    run: Run,
    *,
    host: str | None = None,
    program: str | int | None = None,
    node: str | None = None,
    width: int = 3,
    expand_fusions: bool = False,
    classic: bool = False,
) -> ToolResult:
    """Show the neighbourhood of an instruction in a compiled program.

    Args:
        run: The run.
        host: Only this host.
        program: Id or name of a program. The default is the program with this node that took the
            most time, or the largest if none ran.
        node: Name of an instruction, also as ``%name``. The default is the instruction that took
            the most time, or the program's result if none ran.
        width: How many steps to go from there.
        expand_fusions: Show the instructions inside fusions.
        classic: Has no effect: the reference answers with a drawing instead of data.

    Raises:
        UsageError: There is no such host, program or instruction, or ``width`` is negative.
    """
    del classic
    if width < 0:
        raise UsageError(f"width={width}: the number of steps must be 0 or more")
    programs = all_programs(run, host)
    if not programs:
        return no_programs(TOOL, TITLE, run)
    time_of = program_times(run.chosen(host))
    programs.sort(key=lambda each: (-(time_of(each) or 0), -each.program.n_bytes))
    chosen, center = _center(run.chosen(host), programs, program, node)
    module = chosen.program.module()
    notes = (*program_notes(chosen), *run.notes)
    if center is None:
        text = f"{chosen.program.title} has no instructions"
        return ToolResult(TOOL, TITLE, notes=(Note("error", text, chosen.host.name), *notes))
    graph = neighbourhood(module, center, width, expand_fusions=expand_fusions)
    if graph.is_cut:
        text = f"only the nearest {len(graph.nodes)} instructions are shown; choose a smaller width"
        notes = (Note("warning", text, chosen.host.name), *notes)
    costs, ops = costs_of(module), instruction_ops(run.chosen(host), chosen)
    peaks = run_peaks(run)
    rows = [
        _node_row(module, each, costs[each.instruction], ops.get(each.instruction.name), peaks)
        for each in graph.nodes
    ]
    tables = {
        "nodes": Table("nodes", NODES, rows, title="Instructions"),
        "edges": Table("edges", EDGES, _edges(graph), title="What reads what"),
    }
    data = _data(chosen, center, graph, rows)
    claims = (*_why(run.chosen(host), chosen, center, node), _claim(graph, chosen.program.title))
    return ToolResult(TOOL, TITLE, claims, tables, notes=notes, data=data)


def _center(
    hosts: Sequence[Host],
    programs: list[HostProgram],
    program: str | int | None,
    node: str | None,
) -> tuple[HostProgram, Instruction | None]:
    """Find the requested program and instruction.

    Raises:
        UsageError: There is no such program or instruction.
    """
    candidates = programs
    if program is not None or node is None:
        chosen = chosen_program(programs, program)
        assert chosen is not None
        candidates = [chosen]
    if node is None:
        return candidates[0], _heaviest(hosts, candidates[0])
    for each in candidates:
        instruction = each.program.module().find(node)
        if instruction is not None:
            return each, instruction
    names = ", ".join(each.program.title for each in candidates)
    raise UsageError(f"no instruction {node!r} in {names}; events name it in their stat hlo_op")


def _heaviest(hosts: Sequence[Host], each: HostProgram) -> Instruction | None:
    """The instruction that took the most time, or what the program returns if none ran."""
    module = each.program.module()
    ops = sorted(instruction_ops(hosts, each).values(), key=lambda op: (-op.self_ps, op.key.name))
    for op in ops:
        instruction = module.find(op.key.name)
        if instruction is not None and op.self_ps:
            return instruction
    return module.entry.root if module.entry else None


def _why(
    hosts: Sequence[Host], each: HostProgram, center: Instruction, node: str | None
) -> Iterator[Claim]:
    """Why this instruction is in the middle, if it was not chosen."""
    ops = instruction_ops(hosts, each)
    op, whole_ps = ops.get(center.name), sum(op.self_ps for op in ops.values())
    if node is None and op is not None and op.self_ps:
        yield Claim(
            center.name, "self_share", op.self_ps / whole_ps, "fraction",
            scope=each.program.title, basis="the time of all instructions of the program",
            words="{subject} took the most time of its program: {value}.",
        )  # fmt: skip


def _claim(graph: Neighbourhood, program: str) -> Claim:
    center = graph.nodes[0].instruction
    inputs = ", ".join(operand.name for operand in center.operands) or "nothing"
    return Claim(
        center.name, "instruction_count", len(graph.nodes), "count", scope=program,
        basis="the compiled program", details={"opcode": center.opcode, "inputs": inputs},
        words="{subject} is a {opcode} of {inputs}; {value:instruction}.",
    )  # fmt: skip


def _node_row(
    module: HloModule, each: GraphNode, cost: Cost, op: DeviceOp | None, peaks: Peaks
) -> tuple[Cell, ...]:
    one = each.instruction
    limit = "" if op is None else bound_by(op.flops, op.traffic, op.work_ps, peaks)
    return (
        one.name, one.opcode, category_of(one), each.distance,
        None if op is None else op.self_ps / 1e6, limit, each.computation.name,
        one.shape.text(), cost.flops if cost.is_known else None, cost.bytes_accessed, one.tf_op,
        module.place(one), expression(one),
    )  # fmt: skip


def _edges(graph: Neighbourhood) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for edge in graph.edges:
        tail, head = graph.nodes[edge.tail].instruction, graph.nodes[edge.head].instruction
        size = sum(leaf.n_bytes for leaf in tail.shape.leaves)
        rows.append((tail.name, head.name, edge.kind, tail.shape.text(), size))
    return rows


def _data(
    chosen: HostProgram, center: Instruction, graph: Neighbourhood, rows: list[tuple[Cell, ...]]
) -> dict[str, Any]:
    """Nodes and edges by number, for drawings."""
    ids = [column.id for column in NODES]
    nodes = [
        dict(zip(ids, row, strict=True))
        | {
            "owner": each.owner.name if each.owner else "",
            "hidden": each.hidden_inputs + each.hidden_users,
        }
        for each, row in zip(graph.nodes, rows, strict=True)
    ]
    sizes = [row[-1] for row in _edges(graph)]
    return {
        "program": chosen.program.title,
        "center": center.name,
        "nodes": nodes,
        "edges": [
            {"tail": edge.tail, "head": edge.head, "kind": edge.kind, "size_bytes": size}
            for edge, size in zip(graph.edges, sizes, strict=True)
        ],
    }
