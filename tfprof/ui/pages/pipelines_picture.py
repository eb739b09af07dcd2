"""The picture of the tf.data page: pipelines from their sources to their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tfprof.captures.events.ops.tf_data import stage_of
from tfprof.captures.run.result import ToolResult
from tfprof.captures.show.tool_values import number_text
from tfprof.ui.pages.document import Block
from tfprof.ui.pages.graph_block import GraphEdge, GraphNode, graph_block

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

_MOST_PIPELINES: Final = 12
"""Most drawings on one page; the tables have all pipelines."""

_MEASURES: Final = (("wait_us", "time that calls waited", "us"), ("time_us", "time in it", "us"),
                    ("calls", "calls", "count"))  # fmt: skip


_ON_PATH: Final = (
    "Marked: the path to the end from the stage where calls waited longest; if that is a prefetch, "
    "from the stage before it with the most work."
)


def pipelines_picture(result: ToolResult, run: Run, params: Mapping[str, str]) -> list[Block]:
    """Each pipeline, with the path to the stage where calls waited longest in bold.

    Args:
        result: The answer of the tool.
        run: The run.
        params: Of the page's address.
    """
    table = result.tables.get("stages")
    pipelines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in table.to_rows() if table is not None else ():
        pipelines.setdefault((str(row["host"]), str(row["input_pipeline"])), []).append(row)
    blocks = []
    # The one that calls waited for longest comes first.
    in_order = sorted(pipelines.items(), key=lambda each: -_waited(each[1]))
    for (host, name), rows in islice(in_order, _MOST_PIPELINES):
        title = f"Pipeline {name}" + (f" of {host}" if len(run.hosts) > 1 else "")
        blocks.append(_drawn(title, f"pipeline {host} {name}", rows))
    return blocks


def _waited(rows: Sequence[Mapping[str, Any]]) -> float:
    return sum(float(row["wait_us"]) for row in rows)


def _drawn(title: str, name: str, rows: Sequence[Mapping[str, Any]]) -> Block:
    whole = _waited(rows)
    nodes = {stage_of(str(row["long_name"])): _node(row, whole) for row in rows}
    edges = []
    for stage, node in nodes.items():
        reader = nodes.get(stage.rpartition("::")[0])
        if reader is not None:
            strong = node.strong and reader.strong
            edges.append(GraphEdge(node.id, reader.id, strong=strong))
    note = _ON_PATH if any(node.strong for node in nodes.values()) else ""
    return graph_block([*nodes.values()], edges, _MEASURES, id=name, title=title, note=note)


def _node(row: Mapping[str, Any], whole: float) -> GraphNode:
    wait, time = float(row["wait_us"]), float(row["time_us"])
    copies = f" ×{row['copies']}" if row["copies"] > 1 else ""
    hover = [str(row["role"])] if row["role"] else []
    if whole:
        hover.append(f"{wait / whole:.1%} of what calls waited")
    if row["parallelism"]:
        hover.append(f"calls its function for {row['parallelism']} elements at once")
    return GraphNode(
        str(row["long_name"]),
        f"{row['stage']}{copies}",
        f"waited {number_text(wait, 'us')} · in it {number_text(time, 'us')}",
        hover,
        weights={"wait_us": wait, "time_us": time, "calls": float(row["calls"])},
        tone="input",
        strong=bool(row["role"]),
        link=("trace", {"find": str(row["long_name"])}),
    )
