"""The parts of loops whose bodies are functions."""

from tests.graphs.interpreter.programs import (
    BOOL,
    FLOAT,
    INT,
    Type,
    const,
    function,
    node,
    placeholder,
)

VARS = {"i": INT, "n": INT, "x": FLOAT}
TYPES = [INT, INT, FLOAT]
X = placeholder("x", 8, 8)


def condition(*nodes, result="less:z:0"):
    nodes = nodes or (node("less", "Less", "i", "n", T=Type(INT)),)
    return function("cond", VARS, {"go": (result, BOOL)}, *nodes)


def body(*nodes, x="mm:product:0", step=1):
    nodes = nodes or (node("mm", "MatMul", "x", "x", T=Type(FLOAT)),)
    return function(
        "body", VARS, {"i1": ("next:z:0", INT), "n1": ("n", INT), "x1": (x, FLOAT)},
        const("one", step), node("next", "AddV2", "i", "one:output:0", T=Type(INT)), *nodes,
    )  # fmt: skip
