"""When views count float operations, and of which state of the profile."""

import gc
import threading

import numpy as np
import pytest

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Type, graph, node, placeholder
from tests.profiles.float_ops.profiled_graphs import fed
from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS, Metrics
from tfprof.testing.builders import logged, op_log, run

T = {"T": Type(FLOAT)}
UNKNOWN = [placeholder("x", None, 16), node("r", "Relu", "x", **T)]
KNOWN = [placeholder("x", 4, 4), node("r", "Relu", "x", **T), node("odd", "Mystery", "x")]
KINDS = ("scope", "graph", "op")


BUILT = tfprof.ProfileOptionBuilder().build()
"""What is shown without counting; without options, graphs show their float operations."""


def options(**chosen):
    return {**tfprof.ProfileOptionBuilder().build(), **chosen}


@pytest.fixture
def counts(monkeypatch):
    """The programs that were counted."""
    import tfprof.profiles.float_ops.profile_flops as module

    counted = []
    original = module.count_profile_flops

    def count(program, profile):
        counted.append(program)
        return original(program, profile)

    monkeypatch.setattr(module, "count_profile_flops", count)
    return counted


@pytest.mark.parametrize("kind", KINDS)
def test_views_count_float_operations_when_they_are_read(kind, counts):
    tree = tfprof.Profiler(graph(*KNOWN)).view(kind, BUILT)
    assert (tree.total_exec_micros, tree.total_peak_bytes, tree.total_parameters) == (0, 0, 16)
    assert counts == []
    assert tree.total_float_ops == 16
    assert len(counts) == 1
    assert sum(tree.own[METRIC_ROW["float_ops"]].tolist()) == 16
    assert len(counts) == 1


@pytest.mark.parametrize(
    "chosen",
    [{"min_float_ops": 1}, {"order_by": "float_ops"}, {"select": ["micros", "float_ops"]}],
    ids=["filtered", "ordered", "selected"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_views_that_depend_on_float_operations_count_them_at_once(kind, chosen, counts):
    profiler = tfprof.Profiler(graph(*KNOWN))
    tree = profiler.view(kind, options(**chosen))
    assert len(counts) == 1
    assert "no-formula" in {notice.code for notice in tree.notices}


def test_reading_float_operations_writes_nothing_that_others_read():
    profiler = tfprof.Profiler(graph(*KNOWN))
    table = profiler._session.profile.ops.float_ops
    assert profiler.view("op", BUILT).total_float_ops == 16
    assert not table.array.any()
    profiler.view("op", options(select=["float_ops"]))
    assert table.array.sum() == 16


def test_a_view_without_them_is_printed_without_counting(counts):
    profiler = tfprof.Profiler(graph(*KNOWN))
    assert "_TFProfRoot" in profiler.report("scope", options(select=["params"]))
    assert counts == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_them_is_drawn_without_counting(kind, counts):
    from tfprof.views.show.view_rows import ViewRows

    tree = tfprof.Profiler(graph(*KNOWN)).view(kind, options(select=["params"]))
    assert [numbers.title for numbers in ViewRows(tree).numbers()] == ["params"]
    assert counts == []


def test_rows_columns_and_protos_have_float_operations():
    profiler = tfprof.Profiler(graph(*KNOWN))
    assert profiler.view("op").to_rows()[0]["total_float_ops"] == 16
    assert profiler.view("op").columns["total_float_ops"][0] == 16
    assert profiler.profile_operations(options(output="none")).total_float_ops == 16


@pytest.mark.parametrize("chosen", [None, BUILT], ids=["counted", "light"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_view_keeps_the_float_operations_of_the_profile_it_was_built_from(kind, chosen):
    profiler = tfprof.Profiler(graph(*UNKNOWN))
    before = profiler.view(kind, chosen)
    message = fed(7)
    message.MergeFrom(run({"r": 1}))
    profiler.add_step(0, message)
    after = profiler.view(kind, chosen)
    profiler.add_step(1, run([("r", 1), ("r", 1), ("r", 1)]))
    assert before.total_float_ops == 0
    assert after.total_float_ops == 7 * 16


@pytest.mark.parametrize("chosen", [None, BUILT], ids=["counted", "light"])
def test_runs_that_come_later_do_not_multiply_what_a_view_has_counted(chosen):
    log = op_log(logged("a", float_ops=100))
    profiler = tfprof.Profiler(graph(node("a", "Mystery")), log)
    profiler.add_step(0, run({"a": 1}))
    tree = profiler.view("scope", chosen)
    profiler.add_step(0, run([("a", 1), ("a", 1)]))
    assert (tree.total_run_count, tree.total_float_ops) == (1, 100)
    tree = profiler.view("scope", chosen)
    assert (tree.total_run_count, tree.total_float_ops) == (3, 300)


def test_nothing_is_counted_for_a_view_that_is_gone(counts):
    profiler = tfprof.Profiler(graph(*KNOWN))
    tree = profiler.view("scope", BUILT)
    del tree
    gc.collect()
    profiler.add_step(0, run({"r": 1}))
    assert counts == []


def test_a_view_that_is_read_while_a_step_is_added_has_its_own_numbers():
    profiler = tfprof.Profiler(graph(*UNKNOWN))
    tree = profiler.view("scope", BUILT)
    totals = []
    reader = threading.Thread(target=lambda: totals.append(tree.total_float_ops))
    with profiler._session.lock:
        reader.start()
        profiler.add_step(0, fed(7))
    reader.join()
    assert totals == [0]


def test_a_bound_of_0_needs_no_count(counts):
    chosen = options(min_float_ops=0, select=["micros"])
    assert len(tfprof.Profiler(graph(*KNOWN)).view("scope", chosen)) == 4
    assert counts == []


def test_classic_views_have_what_the_profile_held():
    log = op_log(logged("r", float_ops=5))
    profiler = tfprof.Profiler(graph(*KNOWN), log, classic=True)
    tree = profiler.view("scope")
    profiler.add_step(0, run([("r", 1), ("r", 1)]))
    assert tree.total_float_ops == 5
    assert profiler.view("scope").total_float_ops == 10


def test_metrics_read_like_an_array_and_compute_what_is_read():
    computed = []

    def column(row):
        computed.append(row)
        return np.array([row, 10 * row, -row])

    metrics = Metrics(column, 3)
    assert (len(metrics), metrics.shape, computed) == (10, (10, 3), [])
    assert int(metrics[4, 1]) == 40
    assert metrics[np.int64(4)].tolist() == [4, 40, -4]
    assert metrics[5, [2, 0]].tolist() == [-5, 5]
    assert computed == [4, 5]
    assert metrics[[1, 2]][:, [0]].tolist() == [[1], [2]]
    assert metrics[-1].tolist() == [9, 90, -9]
    assert computed == [4, 5, 1, 2, 9]
    assert metrics[1:].shape == (9, 3)
    assert metrics[3:3].shape == (0, 3)
    assert metrics[:, 1].tolist() == [10 * row for row in range(10)]
    whole = np.concatenate([metrics, np.zeros((1, 3), np.int64)])
    assert whole[:-1].tolist() == [[row, 10 * row, -row] for row in range(10)]
    assert sorted(computed) == list(range(len(METRICS)))
    assert metrics.copy().tolist() == metrics.tolist() == whole[:-1].tolist()
    assert np.array_equal(np.asarray(metrics, np.float64), whole[:-1])
    with pytest.raises(AttributeError):
        _ = metrics.no_such_thing
    with pytest.raises(IndexError):
        metrics[10]


def test_metrics_of_metrics():
    computed = []
    metrics = Metrics(lambda row: computed.append(row) or np.full(2, row), 2)
    sums = metrics.map(np.cumsum, 2).map(lambda column: column[1:], 1)
    assert (sums[3].tolist(), sums[3].tolist(), sums.shape) == ([6], [6], (10, 1))
    assert computed == [3]
