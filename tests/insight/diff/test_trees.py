"""Two views as one tree: rows of both at their places, also if a run numbers functions anew."""

import pytest

from tests.insight.diff.profilers import profiler
from tfprof.insight.diff.trees import changed_tree

STEPS = 3


def tree_of(before, after):
    """Rows by their whole names: the parent's whole name, and the times before and after in ms."""
    made = [profiler(*[tuple(ops.values())] * STEPS, ops=tuple(ops)) for ops in (before, after)]
    tree = changed_tree(*(one.view("scope") for one in made))
    assert all(parent < row for row, parent in enumerate(tree.parent.tolist()))
    rows = zip(tree.full_names, tree.names, tree.parent.tolist(), tree.times, strict=True)
    return {
        whole: (name, tree.full_names[parent] if parent >= 0 else None, time.before, time.after)
        for whole, name, parent, time in rows
    }, [time.verdict for time in tree.times]


def test_rows_of_either_stand_at_their_place():
    root, *_ = profiler((1,), ops=("a",)).view("scope").names
    rows, _ = tree_of({"s/a": 100, "s/b": 20, "old/x": 30}, {"s/a": 100, "s/b": 60, "new/y": 10})
    assert rows == {
        root: (root, None, pytest.approx(0.15), pytest.approx(0.17)),
        "s": ("s", root, pytest.approx(0.12), pytest.approx(0.16)),
        "s/a": ("a", "s", pytest.approx(0.1), pytest.approx(0.1)),
        "s/b": ("b", "s", pytest.approx(0.02), pytest.approx(0.06)),
        "old": ("old", root, pytest.approx(0.03), None),
        "old/x": ("x", "old", pytest.approx(0.03), None),
        "new": ("new", root, None, pytest.approx(0.01)),
        "new/y": ("y", "new", None, pytest.approx(0.01)),
    }


def test_a_function_that_was_traced_anew_is_the_same():
    before, after = (
        {f"a_inference_step_{number}/dense/MatMul": micros}
        for number, micros in ((5, 40), (77, 90))
    )
    rows, verdicts = tree_of(before, after)
    assert len(rows) == 4
    assert rows["a_inference_step_77/dense/MatMul"][2:] == (
        pytest.approx(0.04), pytest.approx(0.09),
    )  # fmt: skip
    assert set(verdicts) == {"longer"}
