"""Captures that lead to advice, and its texts."""

from tests.captures.tools.tpus import at, tpu
from tfprof.captures.practices.practices import advice
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000
"""A microsecond in nanoseconds, the unit of the builders."""


def advice_of(run, rule, **question):
    return [one for one in advice(run, **question) if one.rule == rule]


def the(run, rule):
    (found,) = advice_of(run, rule)
    return found


def op(name, start, duration, **stats):
    return event(name, start * US, duration * US, **stats)


def on_tpu(*ops, span=100):
    """A step of a TensorCore: name, start, duration and framework op of instructions."""
    metadata = {
        name: {"program_id": 3, "symbol_id": place, "hlo_category": category, "tf_op": tf_op}
        for place, (name, category, _, _, tf_op) in enumerate(ops, 1)
    }
    core = tpu(
        0,
        steps=[at("7", 0, span)],
        modules=[at("jit_f(3)", 0, span)],
        ops=[at(name, start, duration) for name, _, start, duration, _ in ops],
        metadata=metadata,
    )
    return opened(xspace(host(line(op("main", 0, 1))), core))
