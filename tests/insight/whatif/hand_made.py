"""Captures of a few steps, made by hand, in microseconds."""

import tfprof
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

MICROSECOND = 1000
N_STEPS = 6


def at(name, start, length, **stats):
    return event(name, start * MICROSECOND, length * MICROSECOND, **stats)


def captured(*threads, mark=10_000, period=10_000, planes=()):
    """A capture of threads, each a function from the start of a step to its events."""
    lines = [
        line(*(made for step in range(N_STEPS) for made in thread(step * period, step)))
        for thread in threads
    ]
    marks = [[at("train", step * period, mark, step_num=step, _r=1)] for step in range(N_STEPS)]
    first = threads[0]
    lines[0] = line(
        *(made for step in range(N_STEPS) for made in [*marks[step], *first(step * period, step)])
    )
    return opened(xspace(host(*lines), *planes))


def step_after(run, **how):
    """The mean step of an answer."""
    return tfprof.whatif(run, **how).to_rows("step")[0]


def mean_after(run, **how):
    return step_after(run, **how)["after_ms"]


def two_ops(begin, step):
    """In each 10 ms: 4 ms of a product, 3 ms of a sum in 5 ms of a function, 1 ms of nothing."""
    yield at("layer/MatMul:MatMul", begin, 4000)
    yield at("FunctionRun", begin + 4000, 5000)
    yield at("loss/Sum:Sum", begin + 5000, 3000)
