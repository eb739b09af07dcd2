"""What ``tfprof.whatif`` predicts of a program is what came of really changing it."""

import pytest

import tfprof

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def predicted(tensorflow_program):
    """A quiet step of a program as predicted, and one of the changed program.

    A busy machine adds to some steps of either. Where a step is late because of it, the batch of
    the next one waits already, so that this one is too short: the shortest step tells nothing.
    """

    def predicted(name, changed, **how):
        answer = tfprof.whatif(tensorflow_program(name).run, **how)
        truth = tfprof.whatif(tensorflow_program(changed).run)
        said, is_so = (
            sorted(own)[len(own) // 3]
            for own in (one.table("step").column("after_ms")[2:-1] for one in (answer, truth))
        )
        return answer, said, is_so

    return predicted


def test_a_dearer_op_made_cheap_again(predicted):
    answer, said, is_so = predicted("change_dearer_op", "change_none", faster={"layer_1/work": 4})
    assert said == pytest.approx(is_so, rel=0.1)
    assert "less" in answer.verdict[0]


def test_free_input(predicted):
    answer, said, is_so = predicted("change_slower_input", "change_none", free="input")
    assert said == pytest.approx(is_so, rel=0.1)
    assert "mostly host ops" in answer.verdict[0]
    assert "input" not in answer.table("path").column("kind")


def test_ops_beside_a_slow_input_gain_nothing(predicted):
    """The next batch is made meanwhile: without the ops, one waits for it as much longer."""
    answer, said, is_so = predicted("change_slower_input", "change_only_input", free="layer_./work")
    assert said == pytest.approx(is_so, rel=0.1)
    assert answer.to_rows("path")[0]["kind"] == "input"
    assert answer.to_rows("path")[0]["share"] > 0.85


def test_of_two_branches_the_other_decides_then(predicted):
    answer, said, is_so = predicted(
        "change_branches", "change_shorter_branch", faster={"branch_0/work": 10}
    )
    assert said == pytest.approx(is_so, rel=0.1)
    assert "branch_1" in answer.to_rows("path_ops")[0]["op"]


def test_nothing_changed_is_what_was_recorded(tensorflow_program):
    for name in ("change_none", "change_branches", "change_slower_input"):
        for row in tfprof.whatif(tensorflow_program(name).run).to_rows("step"):
            assert row["after_ms"] == row["before_ms"]


def test_the_path_is_the_step(tensorflow_program):
    answer = tfprof.whatif(tensorflow_program("change_branches").run)
    for table in ("path", "path_ops"):
        rows = answer.to_rows(table)
        assert sum(row["time_ms"] for row in rows) == pytest.approx(
            answer.to_rows("step")[0]["after_ms"]
        )
        assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert "branch_0" in answer.to_rows("path_ops")[0]["op"]
    assert not any("branch_1" in row["op"] for row in answer.to_rows("path_ops"))
