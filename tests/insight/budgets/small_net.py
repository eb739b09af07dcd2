"""A network of four ops, and profiles of its steps."""

import tfprof
from tfprof.testing.builders import graph, op, op_log, run, stat, traced

NET = graph(
    op("x", "Placeholder", shape=[2, 4]),
    op("layer/w", "VariableV2", shape=[4, 3]),
    op("layer/y", "MatMul", "x", "layer/w"),
    op("out/z", "Tanh", "layer/y"),
)


def profile(*steps):
    """Steps, each of the micros of the product and of the other op behind it."""
    made = tfprof.Profiler(NET, op_log(traced("layer/y", "model.py:7:dense")))
    for number, (one, other) in enumerate(steps):
        begin = 1000 + 10_000 * number
        made.add_step(number, run({"layer/y": stat(one, start=begin),
                                   "out/z": stat(other, start=begin + one)}))  # fmt: skip
    return made
