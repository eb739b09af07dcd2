"""The graph of a compiled program in the language of Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tfprof.captures.model.hlo import HloModule


def dot_lines(module: HloModule) -> Iterator[str]:
    """Lines of a directed graph: each computation a frame, each instruction a box.

    Lines between boxes lead from an operand to the instruction that reads it. Calls have no lines:
    the frame of a computation has its name, which the text of a fusion, loop or call states.
    """
    yield f"digraph {_quoted(module.name)} {{"
    yield "node [shape=box];"
    for number, computation in enumerate(module.computations):
        yield f"subgraph cluster_{number} {{"
        yield f"label={_quoted(computation.name)};"
        for one in computation.instructions:
            label = f"{one.name}\n{one.opcode} {one.shape.text()}"
            yield f"{_quoted(one.name)} [label={_quoted(label)}];"
        yield "}"
        for one in computation.instructions:
            for operand in one.operands:
                yield f"{_quoted(operand.name)} -> {_quoted(one.name)};"
    yield "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
