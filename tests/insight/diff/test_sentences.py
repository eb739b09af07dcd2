"""Sentences of an answer, the timeline of both runs, and subtracted pprof profiles, by hand."""

import json

import numpy as np
import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.insight.diff.pprof_difference import subtracted
from tfprof.insight.diff.shared_time import Spans
from tfprof.insight.diff.side import Side
from tfprof.insight.diff.timeline import timeline_of_both
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

pytestmark = pytest.mark.one_engine


def profile(*steps, starts=None, types=None):
    """Steps that give each op so many microseconds, one after the other unless starts are given."""
    names = list(steps[0]) if steps else ["a"]
    made = tfprof.Profiler(graph(*(op(name, (types or {}).get(name, "MatMul")) for name in names)))
    for number, micros in enumerate(steps):
        begin, stats = 1000, []
        for name, length in micros.items():
            at = 1000 + starts[name] if starts else begin
            stats.append((name, stat(length, start=at)))
            begin += length
        made.add_step(number, run(stats))
    return made


def same(micros, n_steps=4):
    return [{name: value + step % 2 for name, value in micros.items()} for step in range(n_steps)]


def test_without_steps_only_ops_are_compared():
    made = tfprof.Profiler(graph(op("a", "MatMul")))
    made.add_step(0, run({"a": stat(50, start=0)}))
    answer = made.diff(profile(*same({"a": 90})))
    words = " ".join(answer.verdict)
    assert "There are no steps with a time on both sides; the table compares ops." in words
    assert "Compare with care: " in words


def test_time_between_ops_has_a_sentence():
    """Both ops take as long as before; the second one begins 500 µs later."""
    before = profile(*same({"a": 1000, "b": 1000}), starts={"a": 0, "b": 1100})
    after = profile(*same({"a": 1000, "b": 1000}), starts={"a": 0, "b": 1600})
    answer = before.diff(after)
    assert answer.verdict[0].startswith("Step time is 23.8% longer: 2.10 ms before, 2.60 ms now")
    assert (
        "No op changed by 1 % of the step: the time is spent between or around them."
        in answer.verdict
    )
    rows = {row["part"]: row["difference_ms"] for row in answer.to_rows("parts")}
    assert rows["no op"] == pytest.approx(0.5)


def test_ops_at_once_change_by_more_than_the_step():
    """Four ops at the same time take 1 ms more each; the step takes 1 ms more."""
    names = [f"op{n}" for n in range(4)]
    starts = dict.fromkeys(names, 0)
    before, after = (
        profile(*same(dict.fromkeys(names, ms * 1000)), starts=starts) for ms in (2, 3)
    )
    answer = before.diff(after)
    assert answer.verdict[0].startswith("Step time is 50.0% longer")
    [sentence] = [one for one in answer.verdict if one.startswith("Together the changed ops")]
    assert sentence == (
        "Together the changed ops take +4.00 ms, more than the step: ops overlap, so their points "
        "do not add up to those of the step."
    )


def test_ops_that_move_against_each_other_in_a_step_that_stays():
    before = profile(*same({"a": 2000, "b": 3000}), types={"a": "Conv2D", "b": "Relu"})
    after = profile(*same({"a": 3000, "b": 2000}), types={"a": "Conv2D", "b": "Relu"})
    answer = before.diff(after)
    assert answer.verdict[0].startswith("Step time ")
    [sentence] = [one for one in answer.verdict if one.startswith("Ops that changed most: ")]
    assert "Conv2D a +1.00 ms (+20.0 points)" in sentence
    assert "Relu b -1.00 ms (-20.0 points)" in sentence.replace("−", "-")


def test_ops_of_one_run_only_are_named():
    answer = profile(*same({"a": 1000, "b": 500})).diff(profile(*same({"a": 1000, "c": 900})))
    [sentence] = [one for one in answer.verdict if one.startswith("Ops that changed most: ")]
    assert "MatMul c +901 µs (+60.0 points), appeared" in sentence  # 900.5 of 1501 µs
    assert "MatMul b -500 µs (-33.3 points), gone" in sentence.replace("−", "-")


def captured(shift=0, length=100, name="a:MatMul"):
    made = []
    for step in range(2):
        begin = shift + 1000 * step
        made += [event("train", begin, 500, step_num=step, _r=1), event(name, begin + 50, length)]
    return opened(xspace(host(line(*made), began_ns=1_000_000)))


def read(first, second, step=None):
    content = b"".join(timeline_of_both(Side("one", None, first), Side("two", None, second), step))
    return json.loads(content)["traceEvents"]


def test_steps_of_both_begin_at_one_moment():
    """The second run begins 300 ns later, and its op takes twice as long."""
    events = read(captured(), captured(300, 200))
    ops = [one for one in events if one.get("ph") == "X" and one["name"] == "a:MatMul"]
    assert len(ops) == 4
    pids = sorted({one["pid"] for one in ops})
    assert len(pids) == 2
    before, after = ([one for one in ops if one["pid"] == pid] for pid in pids)
    assert [one["ts"] for one in after] == pytest.approx([one["ts"] for one in before], abs=1e-3)
    assert [one["dur"] for one in before] == pytest.approx([0.1, 0.1])
    assert [one["dur"] for one in after] == pytest.approx([0.2, 0.2])
    assert len({one["cname"] for one in before}) == len({one["cname"] for one in after}) == 1
    assert before[0]["cname"] != after[0]["cname"]
    names = {one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert {name.partition(":")[0] for name in names} == {"before", "after"}


def test_a_timeline_of_one_step_of_both():
    ops = [one for one in read(captured(), captured(300), step=1) if one["name"] == "a:MatMul"]
    assert len(ops) == 2
    assert ops[0]["ts"] == pytest.approx(ops[1]["ts"], abs=1e-3)
    with pytest.raises(UsageError, match="7"):
        read(captured(), captured(), step=7)
    with pytest.raises(UsageError, match="a timeline of both needs two captures; profiles have no"):
        b"".join(timeline_of_both(Side("p", profile({"a": 5})), Side("two", None, captured())))


def pprof(samples, kinds=(("time", "us"),)):
    """Samples of stacks, each (names of functions from the innermost one, value)."""
    made = pb.Profile(string_table=[""])
    place = {"": 0}

    def text(words):
        if words not in place:
            place[words] = len(place)
            made.string_table.append(words)
        return place[words]

    for kind, unit in kinds:
        made.sample_type.add(type=text(kind), unit=text(unit))
    ids = {}
    for stack, value in samples:
        for name in stack:
            if name not in ids:
                ids[name] = len(ids) + 1
                made.function.add(id=ids[name], name=text(name), filename=text(f"{name}.py"))
                made.location.add(id=ids[name]).line.add(function_id=ids[name], line=3)
        one = made.sample.add(location_id=[ids[name] for name in stack], value=[value])
        one.label.add(key=text("step"), num=4)
    return made


def sums(made):
    """The value of each stack, whatever the ids of its places are."""
    functions = {one.id: made.string_table[one.name] for one in made.function}
    places = {one.id: functions[one.line[0].function_id] for one in made.location}
    found = {}
    for sample in made.sample:
        stack = tuple(places[number] for number in sample.location_id)
        found[stack] = found.get(stack, 0) + sample.value[0]
    return found


def test_values_of_equal_stacks_are_subtracted():
    before = pprof([(("f", "main"), 10), (("gone", "main"), 4)])
    after = pprof([(("new", "main"), 1), (("f", "main"), 15)])
    both = subtracted(before, after)
    assert sums(both) == {("f", "main"): 5, ("gone", "main"): -4, ("new", "main"): 1}
    assert len(before.sample) == len(after.sample) == 2
    bases = [[both.string_table[label.key] for label in one.label] for one in both.sample]
    assert bases == [["step"], ["step"], ["step", "pprof::base"], ["step", "pprof::base"]]
    assert sums(subtracted(after, after)) == {("new", "main"): 0, ("f", "main"): 0}


def test_profiles_of_other_values_are_not_subtracted():
    with pytest.raises(UsageError, match="time in us before, bytes in B after"):
        subtracted(pprof([]), pprof([], kinds=[("bytes", "B")]))
    with pytest.raises(UsageError, match="time in us before, nothing after"):
        subtracted(pprof([]), pprof([], kinds=[]))


def test_spans_that_stay_are_inside_the_next_one_that_stays():
    """Each of four is inside the one before; the second and third go."""
    four = Spans(*np.array([[0, n, n, 9 - n, n - 1] for n in range(4)], np.int64).T)
    kept = four.only(np.array([True, False, False, True]))
    assert kept.what.tolist() == [0, 3]
    assert kept.parent.tolist() == [-1, 0]
    assert four.only(np.ones(4, np.bool_)) is four
    assert len(Spans.none()) == 0


def test_the_three_largest_parts_are_named_and_all_else_together():
    """Eight ops of 1 ms take 0.1 to 0.8 ms longer: 3.6 of 8 ms, of which three make 2.1 ms."""
    types = {f"o{n}": f"T{n}" for n in range(1, 9)}
    before = profile(*same(dict.fromkeys(types, 1000)), types=types)
    after = profile(*same({name: 1000 + 100 * int(name[1]) for name in types}), types=types)
    answer = before.diff(after)
    assert answer.verdict[0].startswith("Step time is 45.0% longer: 8.00 ms before, 11.6 ms now")
    assert answer.verdict[1:3] == (
        "Counting each moment once: +10.0 points T8; +8.7 points T7; +7.5 points T6; +18.7 points "
        "all else.",
        "Ops that changed most: T8 o8 +800 µs (+10.0 points); T7 o7 +700 µs (+8.7 points); T6 o6 "
        "+600 µs (+7.5 points).",
    )
    assert {claim.scope for claim in answer.claims} == {"profile (4 steps) and profile (4 steps)"}
    fewer = before.diff(profile(*same(dict.fromkeys(types, 1000), 3), types=types))
    assert fewer.claims[0].scope == "profile (4 steps) and profile (3 steps)"
