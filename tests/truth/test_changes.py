"""What ``tfprof.diff`` says of a program that was changed is what was changed.

What was not changed may still differ by more than the noise of its steps: a busy machine was busier
during one recording. So of that only the size is checked.
"""

from statistics import fmean

import pytest

import tfprof
from tests.truth.own_clock import CAPTURE
from tests.truth.recorded import median

pytestmark = [pytest.mark.tensorflow, pytest.mark.gym]


@pytest.fixture
def change(tensorflow_program):
    def change(after, before="change_none", **how):
        programs = tensorflow_program(before), tensorflow_program(after)
        answer = tfprof.diff(*(program.folder / CAPTURE for program in programs), **how)
        before_ms, after_ms = (program.own_ms() for program in programs)
        own = [middle(after_ms) - middle(before_ms) for middle in (median, fmean)]
        rows = {name: answer.to_rows(name) for name in answer.tables}
        return answer, rows, own

    return change


def is_near(said_ms, own_ms, rel):
    """Whether a difference lies between those of medians and of means, or near them.

    A few steps that a busy machine made longer move the means, of which ``diff`` speaks.
    """
    return min(own_ms) * (1 - rel) <= said_ms <= max(own_ms) * (1 + rel)


def part(rows, name):
    """A part of the step; together they add up to it."""
    whole = sum(row["difference_ms"] for row in rows["parts"])
    assert whole == pytest.approx(rows["step"][0]["difference_ms"], abs=1e-6)
    [row] = [row for row in rows["parts"] if row["part"] == name]
    return row


def op(rows, name):
    [row] = [row for row in rows["ops"] if name in row["op"] and row["type"] == "PyFunc"]
    return row


def test_a_dearer_op_is_named_and_is_the_difference(change):
    answer, rows, own_ms = change("change_dearer_op")
    step = rows["step"][0]
    assert step["verdict"] == "longer"
    assert is_near(step["difference_ms"], own_ms, 0.15)
    work = op(rows, "layer_1")
    assert rows["ops"][0] == work and work["verdict"] == "longer"
    assert work["difference_ms"] == pytest.approx(15, rel=0.2)
    assert part(rows, "PyFunc in layer_1")["difference_ms"] == pytest.approx(15, rel=0.2)
    assert abs(op(rows, "layer_0")["difference_ms"]) < 4  # a busy machine may add to it
    assert "longer" in answer.verdict[0]
    assert "layer_1" in " ".join(answer.verdict)


def test_nothing_changed_is_within_noise(change):
    _, rows, _ = change("change_none_again")
    assert abs(rows["step"][0]["difference_ms"]) < 4
    assert {row["verdict"] for row in rows["ops"]} <= {"within noise", "longer", "shorter"}
    assert abs(op(rows, "layer_1")["difference_ms"]) < 3


def test_a_slower_input_is_input(change):
    answer, rows, own_ms = change("change_slower_input")
    by_what = {row["what"]: row for row in rows["step"]}
    assert by_what["Input"]["verdict"] == "longer"
    assert is_near(by_what["Input"]["difference_ms"], own_ms, 0.25)
    waiting = part(rows, "waiting for input")
    assert waiting["difference_ms"] == pytest.approx(by_what["Input"]["difference_ms"], abs=1e-6)
    assert "points input" in answer.verdict[1]
    assert sum(row["difference_ms"] for row in rows["step"][1:]) == pytest.approx(
        by_what["step"]["difference_ms"]
    )


def test_renamed_scopes_are_matched_by_structure(change):
    by_name, rows, _ = change("change_renamed")
    assert op(rows, "block_1")["verdict"] == "appeared"
    assert any("match by structure" in note.message for note in by_name.notes)
    _, rows, _ = change("change_renamed", match="structure")
    work = op(rows, "block_1")
    assert work["verdict"] == "longer"
    assert "layer_1" in work["op_before"]
    assert abs(op(rows, "block_0")["difference_ms"]) < 4


def test_views_and_tools(change):
    _, rows, _ = change("change_dearer_op", view="scope")
    scope = next(row for row in rows["scope"] if row["name"].endswith("layer_1"))
    assert scope["verdict"] == "longer"
    assert scope["difference_ms"] == pytest.approx(15, rel=0.2)
    _, rows, _ = change("change_dearer_op", tool="op-stats")
    names = {row["type"] for row in rows["ops"]}
    assert "PyFunc" in names
