"""A part of a compiled program as a drawing, from the data of the graph viewer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfprof.text.drawing.plan import NO_CLUSTER, Cluster, Drawing, Edge, EdgeKind, Node
from tfprof.text.units import human_memory

_KINDS: Mapping[str, EdgeKind] = {"data": "data", "control": "control", "call": "through"}


def draw_hlo(data: Mapping[str, Any]) -> Drawing:
    """Draw instructions, the inside of fusions in frames, and what flows between them.

    Args:
        data: ``data`` of what the graph viewer answers.
    """
    nodes, edges = data["nodes"], data["edges"]
    drawing = Drawing([f"{data['program']}: around {data['center']}"])
    owners = {node["owner"]: None for node in nodes if node["owner"]}
    clusters = {owner: number for number, owner in enumerate(owners)}
    drawing.clusters = [Cluster([owner], f"inside of {owner}") for owner in clusters]
    most = max((node["bytes_accessed"] for node in nodes), default=0) or 1
    for node in nodes:
        lines = [node["instruction"], node["opcode"], node["shape"]]
        if node["hidden"]:
            lines.append(f"({node['hidden']} more)")
        about = "\n".join(filter(None, [node["expression"], node["tf_op"], node["source"]]))
        cluster = clusters.get(node["owner"], NO_CLUSTER)
        drawing.nodes.append(Node(lines, about, node["bytes_accessed"] / most, cluster))
    largest = max((edge["size_bytes"] for edge in edges), default=0) or 1
    drawing.edges = [
        Edge(
            edge["tail"], edge["head"], _KINDS[edge["kind"]], human_memory(edge["size_bytes"]),
            edge["size_bytes"] / largest,
        )
        for edge in edges
    ]  # fmt: skip
    return drawing
