"""Steps of TPUs over all cores, by hand; times are microseconds."""

import numpy as np
import pytest

from tests.captures.tools.tpus import US
from tfprof.captures.events.tpu.breakdown import all_reduce_parts, break_down
from tfprof.captures.events.tpu.cores import Core
from tfprof.captures.events.tpu.steps import CoreSteps
from tfprof.captures.rules import OURS, REFERENCE


def core(ordinal=0, *, span=100, all_reduce=None, **categories):
    """A core with one step; underscores in the names of categories are spaces."""

    def column(micros):
        return np.array([micros * US], np.int64)

    return CoreSteps(
        Core(0, ordinal, ordinal, False, "", 0, ordinal),
        {name.replace("_", " "): column(micros) for name, micros in categories.items()},
        column(span),
        {name: column(micros) for name, micros in (all_reduce or {}).items()},
        column(0),
    )


def micros(values):
    return pytest.approx(float(values[0]) / US)


def test_the_core_that_decides_is_another_one_for_each_part():
    cores = [
        core(0, convolution=60, infeed=10, outfeed=4),  # idle 26
        core(1, convolution=50, infeed=30, outfeed=8),  # idle 12
    ]
    found = break_down(cores, rules=OURS)
    assert micros(found.compute) == 50
    assert micros(found.infeed) == 30
    assert found.infeed_core.tolist() == [1]
    assert micros(found.outfeed) == 6
    assert micros(found.idle) == 100 - 50 - 30 - 6
    assert micros(found.total) == 100
    assert micros(found.active) == 55
    assert found.infeed_share[:, 0].tolist() == pytest.approx([0.2, 0.1, 0.3])


def reducing():
    return [
        core(0, convolution=50, **{"all-reduce": 20}, all_reduce={"#1": 15, "#2": 5}),
        core(1, convolution=30, **{"all-reduce": 40}, all_reduce={"#1": 35, "#2": 5}),
    ]


def test_all_reduce_beyond_the_fastest_core_is_waiting():
    compute, sync = all_reduce_parts(reducing())
    assert (compute[:, 0] / US).tolist() == [20, 20]
    assert (sync[:, 0] / US).tolist() == [0, 20]
    found = break_down(reducing(), rules=OURS)
    assert (micros(found.all_reduce_compute), micros(found.all_reduce_sync)) == (20, 20)
    assert micros(found.compute) == 30
    assert micros(found.idle) == 30
    assert micros(found.total) == 100


def test_in_classic_mode_all_reduce_is_computation():
    found = break_down(reducing(), rules=REFERENCE)
    assert micros(found.compute) == 70
    assert micros(found.all_reduce_compute) == micros(found.all_reduce_sync) == 0
    assert micros(found.idle) == 30


def test_a_core_that_takes_no_part_in_an_all_reduce_is_not_the_fastest():
    cores = [core(0), core(1, **{"all-reduce": 10}, all_reduce={"#1": 10})]
    compute, sync = all_reduce_parts(cores)
    assert (compute[:, 0] / US).tolist() == [0, 10]
    assert not sync.any()


def test_transfer_to_hosts_is_that_of_the_core_with_the_most():
    cores = [
        core(0, convolution=50, host_send=5, **{"host recv-done": 5}),
        core(1, convolution=50, host_send=25),
    ]
    found = break_down(cores, rules=OURS)
    assert micros(found.host_transfer) == 25
    assert micros(found.compute) == 50


def test_old_sparse_cores_are_those_that_are_waited_for_the_longest():
    cores = [
        core(0, **{"sparsecorev0 infeed": 30, "sparsecorev0 outfeed": 20}),  # 20 and 10
        core(1, **{"sparsecorev0 infeed": 40, "sparsecorev0 outfeed": 5}),  # 5 and 35
    ]
    found = break_down(cores, rules=OURS)
    assert (micros(found.sparse_compute), micros(found.sparse_infeed)) == (5, 35)
    assert found.infeed_share[:, 0].tolist() == pytest.approx([0.225, 0.1, 0.35])


def test_without_cores_there_are_no_steps():
    assert len(break_down([], rules=OURS)) == 0
    assert len(break_down([], rules=REFERENCE).total) == 0


def test_the_average_of_outputs_is_in_whole_picoseconds():
    one, other = core(0), core(1)
    one.category_ps["outfeed"] = np.array([1], np.int64)
    assert break_down([one, other], rules=REFERENCE).outfeed.tolist() == [0.0]
