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
