"""The picture of the graph viewer: instructions around one, to be opened box by box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

from tfprof.captures.events.ops.device_ops import DeviceOp
from tfprof.captures.events.timeline.device_peaks import Peaks
from tfprof.captures.facts.bound_by import bound_by, run_peaks
from tfprof.captures.facts.hlo_programs import all_programs, chosen_program
from tfprof.captures.hlo.cost import Cost, costs_of
from tfprof.captures.hlo.graph import GraphNode as Placed
from tfprof.captures.hlo.graph import Neighbourhood, inner_computations, neighbourhood
from tfprof.captures.hlo.text import expression
from tfprof.captures.model.hlo import HloModule, Instruction
from tfprof.captures.run.result import ToolResult
from tfprof.captures.show.tool_values import number_text
from tfprof.captures.tools.program_times import instruction_ops
from tfprof.core.columns.numerals import whole_number
from tfprof.core.text.wording import many
from tfprof.ui.pages.document import Block, remarks
from tfprof.ui.pages.graph_block import Chosen, GraphEdge, GraphNode, Handle, graph_block
from tfprof.ui.pages.program_text import program_text

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

_BETWEEN: Final = "\n"
"""Between names of instructions in an address."""

_MOST_BOXES: Final = 300
_MOST_LINES: Final = 120
_MEASURES: Final = (
    ("self_us", "time", "us"),
    ("bound_by", "bound by", "text"),
    ("bytes_accessed", "bytes accessed", "bytes"),
    ("output_bytes", "size of the result", "bytes"),
    ("flops", "float operations", "count"),
)


def instructions_picture(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """The instructions around one, and what is known of that one.

    Args:
        result: The answer of the graph viewer, which has the program and the instruction.
        run: The run.
        params: Of the page's address. ``inputs_of`` and ``users_of``: instructions whose inputs
            or users are shown, too; ``fusions``: fusions, loops and calls that are open; a name a
            line. ``last``: the instruction that was opened last, which is in view.
    """
    if "center" not in result.data:
        return []
    host = params.get("host") or None
    program = chosen_program(all_programs(run, host), result.data["program"])
    assert program is not None, "the tool's own choice"
    module = program.program.module()
    center = module.find(result.data["center"])
    assert center is not None, "the tool's own choice"
    around = neighbourhood(
        module, center, max(whole_number(params.get("width", ""), 3), 0),
        expand_fusions=_names(params, "fusions"), inputs_of=_names(params, "inputs_of"),
        users_of=_names(params, "users_of"), most=_MOST_BOXES,
    )  # fmt: skip
    picture = _Picture(
        module, around, instruction_ops(run.chosen(host), program), run_peaks(run),
        {**params, "program": str(program.program.id)},
    )  # fmt: skip
    nodes = picture.nodes()
    known = [
        each
        for each in _MEASURES
        if any(node.weights[each[0]] not in (None, 0, "") for node in nodes)
    ]
    blocks = [
        graph_block(
            nodes, picture.edges(), known, title=f"Around {center.name}",
            focus=picture.focus(center), chosen=picture.described(center),
        )
    ]  # fmt: skip
    if around.is_cut:
        text = f"Only the nearest {len(nodes)} instructions are drawn."
        blocks.append(remarks([("info", text, "")]))
    return [*blocks, program_text(program, params)]


def _names(params: Mapping[str, str], name: str) -> list[str]:
    return [each for each in params.get(name, "").split(_BETWEEN) if each]


class _Picture:
    """Boxes and lines of a part of a program."""

    def __init__(
        self,
        module: HloModule,
        around: Neighbourhood,
        ops: Mapping[str, DeviceOp],
        peaks: Peaks,
        params: Mapping[str, str],
    ) -> None:
        self._module = module
        self._around = around
        self._costs = costs_of(module)
        self._ops = ops
        self._peaks = peaks
        self._params = params
        self._ids = [
            node.instruction.name
            if node.owner is None
            else f"{node.owner.name}/{node.instruction.name}"
            for node in around.nodes
        ]
        self._id_of = {
            node.instruction: name for node, name in zip(around.nodes, self._ids, strict=True)
        }
        self._open = {node.owner for node in around.nodes if node.owner is not None}

    def focus(self, center: Instruction) -> str:
        """The box to look at first."""
        last = self._params.get("last", "")
        return last if last in self._ids else center.name

    def nodes(self) -> list[GraphNode]:
        """The boxes, fusions before what is in them."""
        return [self._node(at, node) for at, node in enumerate(self._around.nodes)]

    def edges(self) -> list[GraphEdge]:
        """The lines. Where a fusion is open, those to its parameters end at its border."""
        nodes = self._around.nodes
        return [
            GraphEdge(
                self._ids[edge.tail], self._ids[edge.head],
                "order only"
                if edge.kind == "control"
                else number_text(_size(nodes[edge.tail].instruction), "bytes"),
            )
            for edge in self._around.edges
            if edge.kind != "call"
        ]  # fmt: skip

    def described(self, one: Instruction) -> Chosen:
        """What is known of an instruction."""
        cost, op = self._costs[one], self._ops.get(one.name)
        facts = [("operation", one.opcode), ("shape", one.shape.text())]
        if op is not None:
            facts += [
                ("self time", number_text(op.self_ps / 1e6, "us")),
                ("runs", f"{op.occurrences:,}"),
                ("bound by", self._limit(op)),
            ]
        facts += [
            ("float operations", _known(cost, cost.flops, "count")),
            ("bytes accessed", _known(cost, cost.bytes_accessed, "bytes")),
            ("size of the result", number_text(_size(one), "bytes")),
            ("framework op", one.tf_op),
            ("source", self._module.place(one)),
        ]
        return Chosen(
            one.name, [(name, value) for name, value in facts if value], "\n".join(_text(one))
        )

    def _node(self, at: int, node: Placed) -> GraphNode:
        one = node.instruction
        can_open = bool(inner_computations(one))
        is_open = one in self._open
        return GraphNode(
            self._ids[at], one.name, "" if is_open else one.opcode,
            tuple(each for each in (one.shape.text(), one.tf_op, self._module.place(one)) if each),
            inside="" if node.owner is None else self._id_of[node.owner],
            weights=self._weights(one),
            strong=at == 0,
            toggle=self._changed("fusions", one.name) if can_open else None,
            is_open=is_open,
            link=("graph-viewer", {"program": self._params["program"], "node": one.name}),
            kind=one.opcode,
            handles=() if node.owner is not None else tuple(self._handles(node)),
        )  # fmt: skip

    def _weights(self, one: Instruction) -> dict[str, float | str | None]:
        cost, op = self._costs[one], self._ops.get(one.name)
        return {
            "self_us": None if op is None else op.self_ps / 1e6,
            "bound_by": None if op is None else self._limit(op),
            "bytes_accessed": cost.bytes_accessed if cost.is_known else None,
            "output_bytes": _size(one),
            "flops": cost.flops if cost.is_known else None,
        }

    def _limit(self, op: DeviceOp) -> str:
        limit = bound_by(op.flops, op.traffic, op.work_ps, self._peaks)
        return "" if limit == "Unknown" else limit

    def _handles(self, node: Placed) -> Iterator[Handle]:
        name = node.instruction.name
        sides: tuple[tuple[Literal["above", "below"], str, str, int], ...] = (
            ("above", "inputs_of", "input", node.hidden_inputs),
            ("below", "users_of", "user", node.hidden_users),
        )
        for side, param, what, hidden in sides:
            is_opened = name in _names(self._params, param)
            if hidden and not is_opened:
                label = f"show {hidden} {what if hidden == 1 else many(what)} of {name}"
                yield Handle(side, label, f"+{hidden}", self._changed(param, name))
            elif is_opened:
                label = f"hide the {many(what)} of {name}"
                yield Handle(side, label, "−", self._changed(param, name))

    def _changed(self, param: str, name: str) -> dict[str, str]:
        """The parameter with a name added, or without it if it is there."""
        names = _names(self._params, param)
        names = [each for each in names if each != name] if name in names else [*names, name]
        center = self._around.nodes[0].instruction.name
        return {param: _BETWEEN.join(names), "node": center, "last": name}


def _size(one: Instruction) -> int:
    return sum(leaf.n_bytes for leaf in one.shape.leaves)


def _known(cost: Cost, value: float, unit: str) -> str:
    return number_text(value, unit) if cost.is_known else "unknown"


def _text(one: Instruction) -> list[str]:
    """The instruction as XLA writes it; for a fusion, loop or call also what is in it."""
    lines = [expression(one)]
    for computation in inner_computations(one):
        inside = computation.instructions
        lines += ["", f"%{computation.name} {{"]
        lines += [f"  {_rooted(each, computation.root)}" for each in inside[:_MOST_LINES]]
        if len(inside) > _MOST_LINES:
            lines.append(f"  … {len(inside) - _MOST_LINES:,} more")
        lines.append("}")
    return lines


def _rooted(one: Instruction, root: Instruction | None) -> str:
    return f"{'ROOT ' if one is root else ''}{expression(one)}"
