"""Two runs compared: hand-built profiles, laws, and what cannot be compared."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.insight.diff.profilers import profiler
from tfprof.core.wire import messages as pb
from tfprof.demo import demo_capture
from tfprof.errors import UsageError
from tfprof.insight.diff.ask import side_of
from tfprof.insight.diff.noise import change
from tfprof.insight.diff.pprof_difference import subtracted
from tfprof.insight.diff.side import OpCosts
from tfprof.insight.diff.structure import by_name, by_structure
from tfprof.insight.diff.timeline import timeline_of_both
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.tools import Column, Table, ToolResult

US = 1000
"""Nanoseconds, which the builders of captures count in."""


def rows_of(answer, table="ops"):
    return {row["op"]: row for row in answer.to_rows(table)}


def test_differences_by_hand():
    before = profiler((10_000, 20_000), (10_000, 20_000), (10_010, 20_010))
    after = profiler((10_000, 40_000), (10_000, 40_000), (10_010, 40_010))
    answer = before.diff(after)
    [step] = answer.to_rows("step")
    assert step["before_ms"] == pytest.approx(30.007, abs=0.01)
    assert step["difference_ms"] == pytest.approx(20)
    assert step["verdict"] == "longer"
    assert step["low_ms"] < 20 < step["high_ms"]
    rows = rows_of(answer)
    assert rows["b"]["verdict"] == "longer"
    assert rows["b"]["points"] == pytest.approx(20 / 30, rel=0.01)
    assert rows["a"]["verdict"] == "within noise"
    assert answer.verdict[0].startswith("Step time is 66.7% longer: 30.0 ms before, 50.0 ms now")
    assert answer.verdict[1] == "Counting each moment once: +66.7 points MatMul."
    assert "b +20.0 ms (+66.7 points)" in answer.verdict[2]


def test_noise_is_not_called_sameness():
    noisy = profiler((10_000, 20_000), (14_000, 21_000), (9_000, 24_000))
    other = profiler((11_000, 22_000), (13_000, 24_000), (12_000, 20_000))
    said = noisy.diff(other).verdict[0]
    assert said.startswith("Step time does not differ by more than the noise of the steps: ")
    steady, longer = (
        profiler(*((10_000 + extra, 20_000 + more) for extra in (0, 1, 0, 1, 0)))
        for more in (0, 200)
    )
    said = steady.diff(longer).verdict[0]
    assert said.startswith("Step time differs by less than 1 %, as two runs of one program do: ")


def test_a_large_difference_of_uneven_steps_is_not_called_none():
    uneven = profiler((5_000, 0), (3_000, 0), (34_000, 0), (30_000, 0))
    steady = profiler(*[(30_000, 0)] * 4)
    said = steady.diff(uneven).verdict[0]
    assert said.startswith("Step time is 40.0% shorter (30.0 ms before, 18.0 ms now), but steps ")
    assert said.endswith("record more of them.")


def test_one_step_cannot_tell():
    answer = profiler((10_000, 20_000)).diff(profiler((10_000, 30_000)))
    assert rows_of(answer)["b"]["verdict"] == "cannot tell"
    assert any("does not show whether that is noise" in text for text in answer.verdict)
    assert "Compare with care: profile has 1 step" in answer.verdict[0]


def test_the_same_recording_is_named():
    one = profiler((10, 20), (11, 20), (10, 21))
    answer = one.diff(one)
    assert answer.verdict == (
        "profile and profile are the same recording, so there is nothing to compare.",
    )
    assert {row["verdict"] for row in answer.to_rows("ops")} == {"within noise"}


def test_causes():
    before = profiler((10, 20), (10, 20))
    after = profiler((10, 20), (10, 20), types={"b": "BatchMatMul"})
    assert rows_of(before.diff(after))["b"]["cause"] == "BatchMatMul now, MatMul before"


def test_an_op_in_sequence_does_not_overlap():
    """It takes 4 ms more; before what follows it, 3 ms less pass."""

    def made(length, pause):
        found = tfprof.Profiler(graph(op("a", "MatMul"), op("b", "MatMul")))
        for number in range(9):
            found.add_step(number, run([
                ("a", stat(length + number, start=1000)),
                ("b", stat(10_000, start=1000 + length + number + pause)),
            ]))  # fmt: skip
        return found

    said = " ".join(made(10_000, 5_000).diff(made(14_000, 2_000)).verdict)
    assert "a +4.00 ms (+16.0 points)" in said
    assert "overlap" not in said


def test_steps_that_are_left_out_are_mentioned():
    def made(longest):
        events, now = [], 0
        for number in range(20):
            length = (longest if number == 11 else 10_000 + number) * US
            events += [event("train", now, length, step_num=number, _r=1),
                       event("MatMul:MatMul", now, length)]  # fmt: skip
            now += length
        return opened(xspace(host(line(*events))))

    said = made(10_000).diff(made(200_000)).verdict
    assert said[1] == (
        "Left out of this are unusually long steps, 0 before and 1 now: with them, a step takes "
        "10.0 ms before and 19.5 ms now."
    )
    assert not any("eft out" in text for text in made(10_000).diff(made(10_100)).verdict)


def test_what_hardly_takes_time_is_not_recorded_in_every_run():
    before = profiler(*[(10_000 + n, 2) for n in range(6)])
    after = profiler(*[(10_000 + n,) for n in range(1, 7)], ops=("a",))
    assert rows_of(before.diff(after))["b"]["verdict"] == "cannot tell"


def test_what_appeared_and_what_is_gone():
    before, after = profiler((100, 20)), profiler((100, 30), ops=("a", "c"))
    rows = rows_of(before.diff(after))
    assert (rows["b"]["verdict"], rows["c"]["verdict"]) == ("gone", "appeared")
    assert rows["b"]["after_ms"] is None
    assert rows["c"]["before_ms"] is None


def test_different_programs_are_refused():
    for match in ("name", "structure"):
        with pytest.raises(UsageError, match=r"different programs.*not of the types"):
            profiler((10, 20)).diff(
                profiler((10, 20), ops=("x", "y"), types={"x": "Add", "y": "Mul"}), match=match
            )
    with pytest.raises(UsageError, match="match='luck'"):
        profiler((10, 20)).diff(profiler((10, 20)), match="luck")


def test_a_program_whose_ops_all_have_other_names_is_compared_with_the_remedy():
    before, after = profiler((10, 20)), profiler((10, 30), ops=("x", "y"))
    answer = before.diff(after)
    assert rows_of(answer)["x"]["verdict"] == "appeared"
    assert "mostly different programs" in answer.verdict[0]
    [note] = answer.notes
    assert "match by structure" in note.message
    assert rows_of(before.diff(after, match="structure"))["x"]["op_before"] == "a"


def test_kinds_that_do_not_compare():
    captured = tfprof.open_run(demo_capture("gpu"))
    with pytest.raises(UsageError, match="a capture and profile a profile"):
        tfprof.diff(captured, profiler((10, 20)))
    with pytest.raises(UsageError, match="int cannot be compared"):
        tfprof.diff(captured, 3)
    with pytest.raises(UsageError, match="there is no tool 'sql'"):
        captured.diff(captured, tool="sql")
    with pytest.raises(UsageError, match="needs captures"):
        profiler((1, 2)).diff(profiler((1, 2)), tool="op-stats")
    with pytest.raises(UsageError, match="different rows"):
        profiler((1, 2)).view("op").diff(profiler((1, 2)).view("scope"))


# Noise


def test_less_than_a_hundredth_is_noise_however_quiet_the_runs_are():
    before, after = (100.0 + np.tile([0.0, 0.01], 3) for _ in "12")
    assert change(before, 1.009 * after).verdict == "within noise"
    assert change(before, 1.011 * after).verdict == "longer"


def test_intervals_hold_where_nothing_changed():
    random = np.random.default_rng(7)
    n_wrong = sum(
        change(10 + random.normal(0, 1, 6), 10 + random.normal(0, 1, 6)).verdict != "within noise"
        for _ in range(400)
    )
    assert n_wrong <= 0.08 * 400


def test_of_many_rows_hardly_one_is_wrong():
    random = np.random.default_rng(8)
    n_wrong = sum(
        change(10 + random.normal(0, 1, 8), 10 + random.normal(0, 1, 8), 1000).verdict
        != "within noise"
        for _ in range(1000)
    )
    assert n_wrong <= 1


steps = st.lists(st.floats(0.01, 1e4), min_size=2, max_size=8).map(np.array)


@given(steps, steps)
def test_a_difference_turned_round_has_the_other_sign(before, after):
    there, back = change(before, after), change(after, before)
    turned = {"longer": "shorter", "shorter": "longer"}
    assert back.verdict == turned.get(there.verdict, there.verdict)
    assert back.difference == pytest.approx(-there.difference)
    assert there.low <= there.difference <= there.high


# Which op is which

op_lists = st.lists(st.sampled_from("abc"), max_size=8)


def costs(types, prefix=""):
    n_ops = len(types)
    names = tuple(f"{prefix}{number}" for number in range(n_ops))
    empty = ("",) * n_ops
    zeros = np.zeros(n_ops)
    order = np.arange(n_ops)
    return OpCosts(
        names, tuple(types), empty, empty, empty, np.zeros((n_ops, 1)), zeros, order, order
    )


@given(op_lists, op_lists)
def test_matches_are_complete_and_of_one_type(first, second):
    for match in (by_name, by_structure):
        pairs = match(costs(first), costs(second))
        assert sorted(a for a, _ in pairs if a is not None) == list(range(len(first)))
        assert sorted(b for _, b in pairs if b is not None) == list(range(len(second)))
    both = [(first[a], second[b]) for a, b in pairs if a is not None and b is not None]
    assert all(one == other for one, other in both)
    for kind in "abc":  # none is left alone on both sides
        assert sum(one == kind for one, _ in both) == min(first.count(kind), second.count(kind))


@given(op_lists)
def test_renamed_ops_are_all_found_in_their_places(types):
    assert by_structure(costs(types), costs(types, "new")) == [(n, n) for n in range(len(types))]


# Tables, views, other outputs


def test_tables_side_by_side():
    columns = (
        Column("rank", "Rank"),
        Column("op", "Op", "string"),
        Column("us", "Time", unit="us", meaning="how long it ran", clock="host"),
    )
    first = Table("t", columns, [(1, "a", 5), (2, "b", 4), (3, "b", 3)])
    second = Table("t", columns, [(1, "b", 6), (2, "c", 1)])
    answer = first.diff(second)
    assert [column.id for column in answer.table().columns] == [
        "op", "in", "us_before", "us_after", "us_difference",
    ]  # fmt: skip
    assert {(one.meaning, one.clock) for one in answer.table().columns[2:]} == {
        ("how long it ran", "host")
    }
    assert list(answer.table().rows) == [
        ("a", "before", 5, None, None), ("b", "before", 3, None, None), ("b", "both", 4, 6, 2),
        ("c", "after", None, 1, None),
    ]  # fmt: skip
    steps = [
        Table("t", (Column("step", "Step", "string"), columns[2]), [("1", 5), ("2", late)])
        for late in (4, 9)
    ]
    assert [row[0] for row in steps[0].diff(steps[1]).table().rows] == ["1", "2"]
    other = Table("t", (columns[1], Column("us", "Time", unit="ms")), [])
    with pytest.raises(UsageError, match="column us of table t is in us in the first and in ms"):
        first.diff(other)
    one, two = (ToolResult("x", "X", tables={"t": each}) for each in (first, second))
    assert one.diff(two).table("t").rows == answer.table().rows
    with pytest.raises(UsageError, match="different tools"):
        one.diff(ToolResult("y", "Y", tables={"t": second}))


def test_views_have_a_verdict_for_each_row():
    before = profiler((100, 20), (100, 20), (101, 20), ops=("s/a", "s/b"))
    after = profiler((100, 60), (100, 60), (101, 60), ops=("s/a", "s/b"))
    rows = {row["name"]: row for row in before.diff(after, view="scope").to_rows()}
    assert rows["s"]["verdict"] == rows["s/b"]["verdict"] == "longer"
    assert rows["s"]["difference_ms"] == pytest.approx(0.04)
    assert rows["s/a"]["verdict"] == "within noise"
    ops = before.view("op").diff(after.view("op")).to_rows()
    assert ops[0]["difference_ms"] == pytest.approx(0.04)


def test_the_demo_profile_with_itself_adds_up():
    files = tfprof.demo_files()
    one = tfprof.Profiler(files.graph, files.op_log)
    one.add_step(0, files.run_meta)
    rows = one.diff(one).to_rows("ops")
    assert len(rows) > 1000
    assert all(row["difference_ms"] == 0 for row in rows)


def test_pprof_profiles_are_subtracted():
    def profile(value, file="train.py"):
        made = pb.Profile(string_table=["", "time", "us", "f", file])
        made.sample_type.add(type=1, unit=2)
        made.function.add(id=1, name=3, filename=4)
        made.location.add(id=1).line.add(function_id=1, line=7)
        made.sample.add(location_id=[1], value=[value])
        return made

    both = subtracted(profile(5), profile(8, "other.py"))
    text = list(both.string_table)
    assert [list(sample.value) for sample in both.sample] == [[8], [-5]]
    assert text[both.sample[1].label[0].key] == "pprof::base"
    functions = {one.id: text[one.filename] for one in both.function}
    locations = {one.id: functions[one.line[0].function_id] for one in both.location}
    assert [locations[sample.location_id[0]] for sample in both.sample] == ["other.py", "train.py"]
    other = profile(1)
    other.string_table[1] = "memory"
    with pytest.raises(UsageError, match=r"different values: memory|different values: time"):
        subtracted(profile(1), other)


def test_a_timeline_of_both():
    side = side_of(tfprof.open_run(demo_capture("gpu")))
    trace = json.loads(b"".join(timeline_of_both(side, side)))["traceEvents"]
    slices = [event for event in trace if event.get("ph") == "X"]
    colours = {event["cname"] for event in slices}
    assert len(colours) == 2
    starts = {
        colour: sorted(event["ts"] for event in slices if event["cname"] == colour)
        for colour in colours
    }
    assert len({tuple(each) for each in starts.values()}) == 1  # the same run, aligned
    names = {e["args"]["name"] for e in trace if e["name"] == "process_name"}
    assert any(name.startswith("before: ") for name in names)
    with pytest.raises(UsageError, match="two captures"):
        list(timeline_of_both(side_of(profiler((1, 2))), side))


def captured(dtype, shape, micros):
    """A capture of three steps of a product, whose outputs are allocated."""
    events, now = [], 0
    for number in range(3):
        length = 1000 * (micros + number)
        events += [
            event("train", now, length + 1000, step_num=number, _r=1),
            event("layer/MatMul:MatMul", now, length),
            event("MemoryAllocation", now + 1, 0, tf_op="layer/MatMul:MatMul", data_type=dtype,
                  shape=shape, region_type="output", allocation_bytes=8, allocator_name="cpu"),
        ]  # fmt: skip
        now += length + 5000
    return opened(xspace(host(line(*events))))


def test_element_types_and_shapes_of_captures_are_causes():
    answer = captured(1, "[8,4]", 100).diff(captured(2, "[16,4]", 300))
    [row] = answer.to_rows("ops")
    assert row["cause"] == "float64 now, float32 before; output 16×4 now, 8×4 before"


def test_numbers_that_each_run_gives_anew_are_not_part_of_a_name():
    before = profiler(*[(50, 60)] * 3, ops=("step(3)/dot", "__inference_loss_12"))
    after = profiler(*[(50, 60)] * 3, ops=("step(7)/dot", "__inference_loss_98"))
    rows = rows_of(before.diff(after))
    assert {row["verdict"] for row in rows.values()} == {"within noise"}
    assert rows["step(7)/dot"]["op_before"] == "step(3)/dot"
    two = profiler(*[(50, 60)] * 3, ops=("step(3)/dot", "step(7)/dot"))
    rows = rows_of(two.diff(profiler(*[(60,)] * 3, ops=("step(7)/dot",))))
    assert rows["step(3)/dot"]["verdict"] == "gone"


# Parts of the step


def adds_up(answer):
    """Whether the parts of a step add up to its change."""
    parts = sum(row["difference_ms"] for row in answer.to_rows("parts"))
    return parts == pytest.approx(answer.to_rows("step")[0]["difference_ms"], abs=1e-6)


def test_parts_add_up_to_the_step_although_ops_overlap():
    """Two ops at once, 40 and 40 µs from 0, share their moments; then 20 µs of nothing, 10 of c."""

    def made(a, b):
        found = tfprof.Profiler(graph(*(op(f"x/{name}", name.upper()) for name in "abc")))
        for number in range(4):
            found.add_step(number, run([
                ("x/a", stat(a, start=1000)), ("x/b", stat(b, start=1000)),
                ("x/c", stat(10, start=1000 + max(a, b) + 20)),
            ]))  # fmt: skip
        return found

    answer = made(40, 40).diff(made(40, 100))
    rows = {row["part"]: row for row in answer.to_rows("parts")}
    assert rows["A"]["before_ms"] == pytest.approx(0.020)
    assert rows["B in x"]["before_ms"] == pytest.approx(0.020)
    assert rows["B in x"]["after_ms"] == pytest.approx(0.080)
    assert rows["no op"]["after_ms"] == pytest.approx(0.020)
    assert adds_up(answer)
    assert "Counting each moment once: +85.7 points B in x." in answer.verdict


def test_parts_of_captures_add_up():
    answer = captured(1, "[8,4]", 100).diff(captured(2, "[8,4]", 300))
    row = answer.to_rows("parts")[0]
    assert (row["part"], row["cause"]) == ("MatMul in layer", "float64 now, float32 before")
    assert adds_up(answer)
    whole = tfprof.open_run(demo_capture("gpu"))
    assert adds_up(whole.diff(tfprof.open_run(demo_capture("gpu"))))


def test_ops_of_a_type_that_change_against_each_other_are_two_parts():
    before, after = profiler(*[(100, 60)] * 4), profiler(*[(60, 95)] * 4)
    parts = [(row["part"], row["n_ops"]) for row in before.diff(after).to_rows("parts")]
    assert parts.count(("MatMul", 1)) == 2
