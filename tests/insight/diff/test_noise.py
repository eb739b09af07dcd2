"""Verdicts on the change of a time, by hand; and matches of ops, by name and by structure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tfprof.insight.diff import structure
from tfprof.insight.diff.noise import Change, change, quiet
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.structure import by_name, by_structure, plain_name
from tfprof.testing.builders import graph, op, run, stat

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (Change(10.0, 12.0, 1.5, 2.5), "longer"),
        (Change(10.0, 8.0, -2.5, -1.5), "shorter"),
        (Change(10.0, 12.0, -0.1, 4.1), "within noise"),
        (Change(10.0, 12.0, 0.0, 4.0), "within noise"),
        # Less than 1 % of the shorter one, however sure it is; and more.
        (Change(10.0, 10.099, 0.098, 0.1), "within noise"),
        (Change(10.0, 10.11, 0.1, 0.12), "longer"),
        # Half of a microsecond, which clocks do not resolve.
        (Change(0.001, 0.00149, 0.0004, 0.0005), "within noise"),
        (Change(0.001, 0.0015, 0.0004, 0.0006), "longer"),
        (Change(10.0, 12.0), "cannot tell"),
        (Change(None, 12.0), "appeared"),
        (Change(12.0, None), "gone"),
        # An event too short to be recorded in every run.
        (Change(None, 0.2, least=0.3), "cannot tell"),
        (Change(0.2, None, least=0.3), "cannot tell"),
        (Change(10.0, 10.2, 0.1, 0.3, least=0.3), "within noise"),
    ],
)
def test_verdicts(found, verdict):
    assert found.verdict == verdict


def test_differences_of_what_one_run_lacks():
    assert (Change(None, 3.0).difference, Change(None, 3.0).relative) == (3.0, None)
    assert (Change(4.0, None).difference, Change(4.0, None).relative) == (-4.0, -1.0)
    assert Change(0.0, 3.0).relative is None
    assert Change(4.0, 5.0).relative == 0.25


def test_with_one_step_there_is_no_interval():
    steps = np.array([10.0, 10.5, 9.5])
    for before, after in ((steps, steps[:1]), (steps[:1], steps), (None, steps)):
        found = change(before, after)
        assert (found.low, found.high) == (None, None)
        assert found.after == pytest.approx(10.0)
    assert change(steps, np.zeros(0)).after is None


def test_many_rows_and_disturbed_steps_widen_the_interval():
    """The same means; where the shortest third does not show the change, it may be chance."""
    before = np.array([10.0, 10.2, 9.8, 10.1, 9.9, 10.0])
    after = before + 1

    def width(found):
        return found.high - found.low

    one = change(before, after)
    assert one.low < 1 < one.high
    assert width(change(before, after, 100)) > 1.3 * width(one)
    disturbed = np.array([10.0, 10.0, 10.0, 12.0, 12.0, 12.0])
    assert quiet(disturbed) == 10.0
    steady = np.array([10.0, 10.0, 10.0, 10.0, 10.0, 10.01])
    assert change(steady, disturbed).verdict == "within noise"
    assert change(steady, np.array([11.0] * 6)).verdict == "longer"


@pytest.mark.parametrize(
    ("values", "shortest"), [([5, 1, 3], 1), ([4, 2], 2), ([6, 1, 2, 5, 9, 7], 1.5)]
)
def test_undisturbed_steps_are_the_shortest_third(values, shortest):
    assert quiet(np.array(values, float)) == shortest


STEPS = st.lists(st.floats(0.1, 1e3), min_size=2, max_size=12).map(np.array)


@given(STEPS, STEPS, st.floats(0.1, 10))
def test_units_of_time_change_no_interval(before, after, unit):
    one, scaled = change(before, after), change(before * unit, after * unit)
    assert scaled.low == pytest.approx(one.low * unit, rel=1e-6, abs=1e-9)
    assert scaled.high == pytest.approx(one.high * unit, rel=1e-6, abs=1e-9)
    assert one.low <= one.difference <= one.high


def side(*ops):
    """A run of ops (name, type, output shape), which start in that order."""
    nodes = [op(name, type_, outputs=[shape]) for name, type_, shape in ops]
    made = tfprof.Profiler(graph(*nodes))
    for step in range(2):
        made.add_step(step, run([(one[0], stat(5, start=1000 + 10 * n))
                                 for n, one in enumerate(ops)]))  # fmt: skip
    return Side("run", made).ops


def names(pairs, first, second):
    return [(None if a is None else first.names[a], None if b is None else second.names[b])
            for a, b in pairs]  # fmt: skip


def test_layers_that_moved_into_a_new_scope_are_found_in_their_order():
    """A normalization came between the two layers; both layers have other names."""
    first = side(("a/dense", "MatMul", [2, 8]), ("b/dense", "MatMul", [2, 4]), ("loss", "Sum", []))
    second = side(
        ("net/d1", "MatMul", [2, 8]), ("net/norm", "FusedBatchNormV3", [2, 8]),
        ("net/d2", "MatMul", [2, 4]), ("loss", "Sum", []),
    )  # fmt: skip
    assert names(by_structure(first, second), first, second) == [
        ("a/dense", "net/d1"), ("b/dense", "net/d2"), ("loss", "loss"), (None, "net/norm"),
    ]  # fmt: skip
    by_names = names(by_name(first, second), first, second)
    assert by_names[0] == ("loss", "loss")
    assert [pair for pair in by_names if None not in pair] == by_names[:1]


def test_of_equal_types_the_shape_decides_and_then_the_order():
    first = side(("x", "MatMul", [2, 8]), ("y", "MatMul", [2, 4]))
    turned = side(("p", "MatMul", [2, 4]), ("q", "MatMul", [2, 8]))
    assert ("x", "q") in names(by_structure(first, turned), first, turned)
    others = side(("p", "MatMul", [3, 3]), ("q", "MatMul", [5, 5]))
    assert names(by_structure(first, others), first, others) == [("x", "p"), ("y", "q")]


def test_very_many_ops_are_matched_by_their_number_of_a_kind(monkeypatch):
    monkeypatch.setattr(structure, "_MOST_ALIGNED", 2)
    first = side(("a", "MatMul", [2]), ("b", "Relu", [2]), ("c", "MatMul", [2]))
    second = side(("r", "Relu", [2]), ("m", "MatMul", [2]), ("n", "MatMul", [2]))
    assert names(by_structure(first, second), first, second) == [
        ("a", "m"), ("b", "r"), ("c", "n"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("layer/MatMul", "layer/MatMul"),
        ("jit_step(12)/dot.3", "jit_step/dot.3"),
        ("dot(3)x", "dot(3)x"),
        ("(3)/dot", "(3)/dot"),
        ("__inference_loss_98", "loss"),
        ("__inference_train_step_12/Add", "train_step/Add"),
        ("a_inference_f_5__XlaMustCompile_true_.5(72)/fusion.1", "f/fusion.1"),
        ("inference_98", "inference_98"),
    ],
)
def test_names_without_numbers_of_a_run(name, plain):
    assert plain_name(name) == plain
