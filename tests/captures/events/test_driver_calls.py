"""Calls of a driver on lines of their own, and the ops that made them."""

import numpy as np
import pytest

from tests.captures.tools.oracle import run_of
from tfprof.captures.events.timeline.driver_calls import calls_of_ops
from tfprof.testing.xspace_builders import event, host, line, timeline_of, xspace


def call(op, start, took=2, number=1):
    return event("hipModuleLaunchKernel", start, took, hlo_op=op, correlation_id=number)


def found(*lines):
    """Starts of the op and of the call, ns, of each pair."""
    timeline = timeline_of(xspace(host(*lines)))
    pairs = zip(*calls_of_ops(timeline), strict=True)
    return sorted(tuple((timeline.starts_ps[[*pair]] // 1000).tolist()) for pair in pairs)


def runtime(*ops, id=1):
    return line(event("GpuExecutable::ExecuteThunks", 0, 1000), *ops, id=id, name="python")


def driver(*calls, id=9):
    return line(*calls, id=id, name=f"Host Threads/{id}")


def test_a_call_belongs_to_the_op_of_its_name_around_it():
    ops = [event("dot.1", 10, 20), event("add", 40, 10), event("dot.1", 60, 20)]
    calls = driver(call("dot.1", 12), call("dot.1", 20), call("add", 44), call("dot.1", 61))
    assert found(runtime(*ops), calls) == [(10, 12), (10, 20), (40, 44), (60, 61)]


def test_calls_outside_of_their_op_belong_to_none():
    ops = [event("dot.1", 10, 20), event("add", 40, 10)]
    calls = [call("dot.1", 5), call("dot.1", 29), call("dot.1", 42), call("mul", 12)]
    assert found(runtime(*ops), driver(*calls, call("dot.1", 11), call("add", 41))) == []
    more = [call("dot.1", 11), call("add", 41), call("add", 43), call("dot.1", 14)]
    assert found(runtime(*ops), driver(*calls[:3], *more)) == [
        (10, 11), (10, 14), (40, 41), (40, 43)
    ]  # fmt: skip


def test_of_threads_that_run_the_same_ops_the_one_around_most_calls_made_them():
    one = runtime(event("dot.1", 10, 20), event("dot.1", 40, 20))
    other = runtime(event("dot.1", 12, 20), event("dot.1", 55, 20), id=2)
    first = driver(call("dot.1", 14), call("dot.1", 41))
    second = driver(call("dot.1", 15), call("dot.1", 70), id=8)
    assert found(one, other, first, second) == [(10, 14), (12, 15), (40, 41), (55, 70)]


def test_between_two_threads_around_as_many_calls_nothing_decides():
    threads = [runtime(event("dot.1", 10, 20), id=id) for id in (1, 2)]
    assert found(*threads, driver(call("dot.1", 14))) == []


def test_calls_on_the_line_of_their_thread_need_no_link():
    assert found(runtime(event("dot.1", 10, 20), call("dot.1", 12))) == []


def test_without_calls_or_ops_nothing_is_linked():
    assert found(runtime(event("dot.1", 10, 20))) == []
    assert found(driver(call("dot.1", 12))) == []
    assert found(driver(event("hipMemcpy", 5, 1, correlation_id=3))) == []


@pytest.mark.parametrize(
    ("capture", "n_calls"), [("gpu-rocm-jax-attention", 87), ("gpu-rocm-jax-conv", 198)]
)
def test_every_recorded_launch_of_an_op_lies_in_that_op(capture, n_calls):
    [host] = run_of(capture).hosts
    _, calls = calls_of_ops(host.timeline)
    assert len(np.unique(calls)) == len(calls) == n_calls
    assert n_calls == int((host.timeline.having("hlo_op") & host.timeline.on_host).sum())


def test_the_reference_has_no_such_links():
    [host] = run_of("gpu-rocm-jax-attention").hosts
    counts = []
    for classic in (False, True):
        forest = host.forest(classic=classic)
        is_launch = forest.timeline.named(lambda name: name.endswith("LaunchKernel"))
        counts.append(int(is_launch[forest.links.targets].sum()))
    assert counts == [87, 0]
