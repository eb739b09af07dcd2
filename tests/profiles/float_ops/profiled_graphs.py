"""Graphs of which profiles count float operations."""

from tests.graphs.interpreter.programs import (
    BOOL,
    FLOAT,
    INT,
    Ref,
    Type,
    const,
    function,
    node,
    placeholder,
)
from tfprof.testing.builders import run

X = placeholder("x", None, 16)
W = node("w", "VariableV2", dtype=Type(FLOAT), shape=placeholder("_", 16, 16).attr["shape"].shape)
T = {"T": Type(FLOAT)}
LOOP = [
    X, W, const("i", 0), placeholder("n", dtype=INT),
    node("loop", "While", "i", "n", "x", "w", T=[INT, INT, FLOAT, FLOAT],
         cond=Ref("cond"), body=Ref("body")),
    function("cond", {"i": INT, "n": INT, "x": FLOAT, "w": FLOAT}, {"go": ("less:z:0", BOOL)},
             node("less", "Less", "i", "n", T=Type(INT))),
    function("body", {"i": INT, "n": INT, "x": FLOAT, "w": FLOAT},
             {"i1": ("next:z:0", INT), "n1": ("n", INT), "x1": ("mm:product:0", FLOAT),
              "w1": ("w", FLOAT)},
             const("one", 1), node("next", "AddV2", "i", "one:output:0", T=Type(INT)),
             node("mm", "MatMul", "x", "w", **T)),
]  # fmt: skip


def several_runs(times):
    """Run metadata in which nodes ran so often."""
    return run([(name, 1) for name, count in times.items() for _ in range(count)])


def fed(rows):
    """The stat of a placeholder that was fed, as a session records it."""
    message = run({"_arg_x_0_0": 1})
    stat = message.step_stats.dev_stats[0].node_stats[0]
    dims = stat.output.add().tensor_description.shape.dim
    for size in (rows, 16):
        dims.add(size=size)
    return message
