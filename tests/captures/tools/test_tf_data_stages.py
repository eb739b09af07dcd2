"""The tool lists all stages of slow pipelines, and advice points to listed stages."""

from tests.captures.tools.oracle import folder
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.iterator_advice import suggestion
from tfprof.captures.tools.tf_data_bottleneck import tf_data
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def test_stages_that_ran_at_other_times_are_listed_without_times():
    run = open_run([str(next(folder("cpu-custom-loop-py").glob("*.xplane.pb")))])
    rows = tf_data(run).to_rows("iterators")
    in_call = [row["iterator"] for row in rows if row["self_us"] is not None]
    others = [row for row in rows if row["self_us"] is None]
    assert sorted(in_call) == ["Prefetch", "Root"]
    assert {row["role"] for row in others} == {"not in this call"}
    assert {"Batch", "ShuffleAndRepeat", "ParallelMap"} <= {row["iterator"] for row in others}


def test_all_stages_have_their_time_over_all_calls_and_the_path_to_the_longest_wait():
    run = open_run([str(next(folder("cpu-custom-loop-py").glob("*.xplane.pb")))])
    result = tf_data(run)
    rows = {row["stage"]: row for row in result.to_rows("stages")}
    # None of them but the first two is part of the slowest call.
    assert [*rows] == [
        "Root", "Prefetch", "Batch", "ShuffleAndRepeat", "ParallelMap", "ParallelInterleave",
        "FlatMap", "TFRecord",
    ]  # fmt: skip
    assert (rows["ParallelMap"]["calls"], rows["FlatMap"]["copies"]) == (64, 2)
    assert rows["Prefetch"]["role"] == "longest wait"
    assert rows["ParallelMap"]["role"] == "most work before it"
    assert rows["Batch"]["role"] == rows["Root"]["role"] == "on its path"
    assert rows["TFRecord"]["role"] == ""
    # What calls waited is the time of the calls.
    (pipeline,) = result.to_rows("pipelines")
    waited = sum(row["wait_us"] for row in rows.values())
    assert abs(waited - pipeline["mean"] * pipeline["num_calls"]) < pipeline["num_calls"]


def test_waits_by_hand():
    """Two calls: 100 and 60 µs, of which a map takes 70 and 40; the map ran once more alone."""
    calls = [
        event("Iterator::Root", 0, 100_000, id=1, parent_id=0),
        event("Iterator::Root::Map", 10_000, 70_000, id=2, parent_id=1),
        event("Iterator::Root", 200_000, 60_000, id=1, parent_id=0),
        event("Iterator::Root::Map", 210_000, 40_000, id=2, parent_id=1),
        event("Iterator::Root::Map", 300_000, 9_000, id=2, parent_id=1),
    ]
    rows = tf_data(opened(xspace(host(line(*calls))))).to_rows("stages")
    assert [(row["stage"], row["wait_us"], row["time_us"], row["calls"]) for row in rows] == [
        ("Root", 50, 160, 2), ("Map", 110, 119, 3),
    ]  # fmt: skip
    assert [row["role"] for row in rows] == ["on its path", "longest wait"]


def test_a_first_call_that_filled_the_buffers_does_not_count_as_wait():
    calls = [
        event("Iterator::Root", start, length, id=1, parent_id=0)
        for start, length in ((0, 1_000_000), (2_000_000, 10_000), (3_000_000, 20_000))
    ]
    (row,) = tf_data(opened(xspace(host(line(*calls))))).to_rows("stages")
    assert (row["wait_us"], row["time_us"]) == (30, 1030)


def test_advice_points_below_an_iterator_only_if_something_is_there():
    assert "iterators below it" in suggestion("Prefetch")[1]
    alone = suggestion("Prefetch", is_alone=True)[1]
    assert "below" not in alone and "capture longer" in alone
    assert suggestion("Map", is_alone=True) == suggestion("Map")


def test_a_loop_over_a_dataset_inside_a_function_is_not_denied():
    names = ("ReduceDatasetOp::DoCompute", "ReduceIterator::Root", "ReduceIterator::Root::Map")
    events = [event(name, place, 100 - place) for place, name in enumerate(names)]
    [verdict] = tf_data(opened(xspace(host(line(*events))))).verdict
    assert verdict.startswith("A loop inside a function takes the elements of a dataset.")
