"""Captures of a few events, and what a budget measures of them."""

import tfprof
from tfprof.insight.budgets.budget import budget_of
from tfprof.insight.budgets.measure import measure
from tfprof.insight.budgets.subject import Subject
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000
"""Nanoseconds, which the builders of captures count in."""


def at(name, start, length, **stats):
    return event(name, start * US, length * US, **stats)


def one_host(*lines, planes=(), **options):
    return xspace(host(*(line(*one, id=n + 1) for n, one in enumerate(lines))), *planes, **options)


def measured(metric, *spaces, pattern="", profiler=None):
    run = opened(*spaces)
    most = {"peak_memory": "1 kB", "idle_share": "1 %", "input_share": "1 %"}.get(metric, "1")
    text = f"[{metric}]\n'{pattern}' = '{most}'" if pattern else f"{metric} = '{most}'"
    subject = Subject("run", lambda: profiler or tfprof.Profiler.from_xspace(run), run)
    return measure(subject, budget_of(text.encode()).limits[0])


def call(start, count, name="train_step", kind="traced-nonXla"):
    return at(name, start, 10, tf_function_call=kind, tracing_count=count)


def worker(*counts):
    """Calls of two functions; each call of the first was traced for the so-manieth time."""
    calls = [call(20 * n, count) for n, count in enumerate(counts)]
    return one_host([*calls, call(500, 1, "evaluate"), call(520, 1, "evaluate", "notTraced-xla")])


def marks(*lengths):
    """Steps that follow each other, and where each of them begins."""
    starts = [sum(lengths[:n]) for n in range(len(lengths))]
    both = list(zip(starts, lengths, strict=True))
    return starts, [at("train", *one, step_num=n, _r=1) for n, one in enumerate(both)]
