"""What can be compared, and what the answer is called: paths, runs, profiles, views, tools."""

from pathlib import Path

import pytest

import tfprof
from tfprof.errors import InputError, UsageError
from tfprof.insight.diff.ask import look_at, side_of
from tfprof.insight.diff.side import Side
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

US = 1000


def space(*op_us, n_steps=4):
    """Steps of 100 µs with ops of so many microseconds one after the other."""
    made = []
    for step in range(n_steps):
        begin = 100 * step
        made.append(event("train", begin * US, 100 * US, step_num=step, _r=1))
        for number, length in enumerate(op_us):
            made.append(event(f"op{number}:MatMul", begin * US, length * US))
            begin += length
    return xspace(host(line(*made)))


def profile(micros, name="a"):
    made = tfprof.Profiler(graph(op(name, "MatMul")))
    for step in range(3):
        made.add_step(step, run({name: stat(micros + step, start=1000)}))
    return made


def written(folder: Path, name: str, content) -> Path:
    path = folder / f"{name}.xplane.pb"
    path.write_bytes(content.SerializeToString())
    return path


def test_paths_runs_and_sides_give_one_answer(tmp_path):
    paths = [written(tmp_path, name, space(us)) for name, us in (("old", 20), ("new", 60))]
    runs = [tfprof.open_run(path) for path in paths]
    sides = [Side(path.name, None, one) for path, one in zip(paths, runs, strict=True)]
    of_paths, of_sides = tfprof.diff(*paths), tfprof.diff(*sides)
    assert of_paths.to_dict() == of_sides.to_dict()
    assert tfprof.diff(*map(str, paths)).to_dict() == of_paths.to_dict()
    [row] = of_paths.to_rows("ops")
    assert row["difference_ms"] == pytest.approx(0.04)
    assert tfprof.diff(*runs).to_rows("ops") == of_paths.to_rows("ops")


def test_a_path_has_the_name_of_its_file_unless_another_is_given(tmp_path):
    path = written(tmp_path, "worker", space(20))
    assert side_of(path).name == "worker.xplane.pb"
    assert side_of(path, "before").name == "before"
    assert side_of(profile(5)).name == "profile"
    assert side_of(profile(5), "other").name == "other"
    side = Side("mine", profile(5))
    assert side_of(side, "ignored") is side
    saved = tmp_path / "saved.pb"
    saved.write_bytes(profile(5).serialize_to_string())
    assert side_of(saved).profiler.steps == [0, 1, 2]
    with pytest.raises(InputError, match="nowhere"):
        side_of(tmp_path / "nowhere")


def test_a_capture_is_read_by_the_function_that_is_given(tmp_path):
    path, seen = written(tmp_path, "worker", space(20)), []

    def read(paths):
        seen.append(list(map(str, paths)))
        return tfprof.open_run(path)

    assert side_of(path, read_run=read).run is not None
    assert seen == [[str(path)]]


def test_the_view_of_both():
    """The second op takes 40 instead of 10 µs in each step; the root has the sum of all."""
    before, after = opened(space(20, 10)), opened(space(20, 40))
    rows = tfprof.diff(before, after, view="scope").to_rows("scope")
    found = {row["name"]: (row["before_ms"], row["after_ms"]) for row in rows}
    assert found["op1"] == pytest.approx((0.01, 0.04))
    assert found["op0"] == pytest.approx((0.02, 0.02))
    assert found["_TFProfRoot"] == pytest.approx((0.03, 0.06))
    [by_type] = [row for row in tfprof.diff(before, after, view="op").to_rows("op") if row["depth"]]
    assert (by_type["name"], by_type["verdict"]) == ("MatMul", "longer")
    assert by_type["difference_ms"] == pytest.approx(0.03)
    only = tfprof.diff(before, after, view="scope", options={"show_name_regexes": ["op1"]})
    assert "op0" not in [row["name"] for row in only.to_rows("scope")]


def test_the_tables_of_a_tool_for_one_step():
    before, after = opened(space(20)), opened(space(60))
    whole, one = (
        tfprof.diff(before, after, tool="op-stats", **how).to_rows("ops")
        for how in ({}, {"step": 2})
    )
    assert [(row["occurrences_before"], row["occurrences_after"]) for row in whole] == [(4, 4)]
    assert [(row["occurrences_before"], row["occurrences_after"]) for row in one] == [(1, 1)]
    assert one[0]["total_time_difference"] == pytest.approx(40)
    with pytest.raises(UsageError, match="9"):
        tfprof.diff(before, after, tool="op-stats", step=9)


def test_a_capture_and_a_profile_have_no_common_clock():
    with pytest.raises(UsageError, match="run is a capture and profile a profile: their times"):
        tfprof.diff(opened(space(20)), profile(50, "op0"))


def test_other_names_are_matched_by_structure_on_request():
    before, after = profile(50, "a/x"), profile(90, "b/x")
    by_name = tfprof.diff(before, after).to_rows("ops")
    assert sorted(row["verdict"] for row in by_name) == ["appeared", "gone"]
    [row] = tfprof.diff(before, after, match="structure").to_rows("ops")
    assert row["difference_ms"] == pytest.approx(0.04)


@pytest.mark.parametrize("how", [{}, {"view": "op"}, {"tool": "overview"}])
def test_all_facts_of_a_run_can_be_requested_before(how):
    assert look_at(opened(space(20)), **how, asked={}) is None
