"""Kinds of ops of input pipelines, and the time of the input."""

import pytest

from tests.captures.events.made import times
from tfprof.captures.events.ops.host_ops import merged_op_times
from tfprof.captures.events.ops.input_ops import InputOp, InputWork, break_down, input_ops, work_of
from tfprof.captures.events.timeline.op_names import parse_op_name
from tfprof.captures.rules import REFERENCE
from tfprof.testing.xspace_builders import event, line

READ, AHEAD, PREPARE = (
    InputWork.DEMANDED_READ, InputWork.ADVANCED_READ, InputWork.PREPROCESSING,
)  # fmt: skip


@pytest.mark.parametrize(
    "name, ours, reference",
    [
        ("q:InfeedEnqueueTuple", InputWork.ENQUEUE, InputWork.ENQUEUE),
        ("MemcpyHToD", InputWork.ENQUEUE, InputWork.ENQUEUE),
        ("Iterator::Root::TFRecord", READ, READ),
        ("Iterator::Root::Prefetch::TFRecord", AHEAD, AHEAD),
        ("Iterator::Root::Interleave[0]::TextLine", AHEAD, AHEAD),
        ("Iterator::Root::Map", PREPARE, PREPARE),
        ("Iterator::Root::TFRecordV2", READ, PREPARE),
        ("Iterator::Root::ParallelInterleaveV4[0]::FlatMap[0]::TFRecord[3]", AHEAD, PREPARE),
        ("Iterator::Root::MapAndBatch::TFRecord", AHEAD, READ),
        ("Iterator::Root::CacheV2::LMDB", AHEAD, PREPARE),
        ("Iterator::Root::Generator", READ, PREPARE),
        ("Iterator::Root::TFRecordLike", PREPARE, PREPARE),
        ("a:MatMul", None, None),
        ("x:IteratorGetNext", None, None),
        ("stage:read", READ, READ),
        ("stage:enqueue", InputWork.ENQUEUE, InputWork.ENQUEUE),
    ],
)
def test_work(name, ours, reference):
    op = parse_op_name(name)
    assert work_of(op) is ours
    assert work_of(op, rules=REFERENCE) is reference


def test_ops_of_several_hosts_add_up_and_the_most_time_comes_first():
    one = times(line(event("Iterator::Root::Map", 0, 30), event("MemcpyHToD", 50, 50)))
    other = times(line(event("Iterator::Root::Map", 0, 40), event("a:MatMul", 50, 500)))
    assert input_ops(merged_op_times([one, other])) == [
        InputOp("Iterator::Root::Map", PREPARE, 2, 70_000, 70_000),
        InputOp("MemcpyHToD", InputWork.ENQUEUE, 1, 50_000, 50_000),
    ]


def op(work, self_ps):
    return InputOp("x", work, 1, self_ps, self_ps)


OPS = [op(InputWork.ENQUEUE, 100), op(READ, 30), op(AHEAD, 10), op(PREPARE, 60)]


def test_without_enqueue_ratio_the_parts_are_what_they_took():
    assert break_down(OPS, 0.0) == (100, 30, 10, 60, 0)


def test_with_a_ratio_the_time_between_enqueues_is_shared_out():
    # Enqueues take a quarter of the time. The others share 300 in proportion to 30, 10 and 60.
    assert break_down(OPS, 0.25) == pytest.approx((100, 90, 30, 180, 0))


def test_time_that_nothing_explains():
    assert break_down([op(InputWork.ENQUEUE, 100)], 0.5) == (100, 0, 0, 0, 100)


def test_a_ratio_above_one_is_one():
    assert break_down(OPS, 3.0) == (100, 0, 0, 0, 0)


def test_a_ratio_without_enqueues_hides_everything_only_in_the_reference():
    parts = OPS[1:]
    assert break_down(parts, 0.25) == (0, 30, 10, 60, 0)
    assert break_down(parts, 0.25, rules=REFERENCE) == (0, 0, 0, 0, 0)


def test_nothing():
    assert break_down([], 0.0) == (0, 0, 0, 0, 0)
    assert break_down([], 0.5) == (0, 0, 0, 0, 0)
