import numpy as np
import pytest

from tfprof.profiles.accounting.accounting import METRIC_ROW, METRICS
from tfprof.views.ordering import NameRanks, name_ranks, sort_keys

NAMES = ["b", "a", "c"]
METRIC_OF = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}


def order(order_by, values=(0, 0, 0), occurrence=None, metric=None):
    total = np.zeros((len(METRICS), 3), np.int64)
    if metric:
        total[METRIC_ROW[metric]] = values
    keys = sort_keys(order_by, np.arange(3), NameRanks(NAMES), total, occurrence)
    return [NAMES[i] for i in np.argsort(keys, kind="stable")]


@pytest.mark.parametrize("order_by", METRIC_OF)
def test_numbers_go_from_large_to_small(order_by):
    assert order(order_by, [5, -3, 9], metric=METRIC_OF[order_by]) == ["c", "b", "a"]


def test_extreme_numbers():
    values = [-(2**63), 2**63 - 1, 0]
    assert order("micros", values, metric="exec_micros") == ["a", "c", "b"]


def test_only_the_chosen_nodes_get_a_key():
    total = np.zeros((len(METRICS), 3), np.int64)
    total[METRIC_ROW["exec_micros"]] = [5, 1, 9]
    chosen = np.array([2, 0])
    assert sort_keys("micros", chosen, NameRanks(NAMES), total, None).argsort().tolist() == [0, 1]
    assert sort_keys("name", chosen, NameRanks(NAMES), total, None).argsort().tolist() == [1, 0]


def test_ties_keep_their_order():
    assert order("micros", [5, 5, 5], metric="exec_micros") == NAMES


def test_names():
    assert order("name") == ["a", "b", "c"]
    assert order("unknown") == ["a", "b", "c"]


def test_no_order_keeps_the_order_of_appearance():
    assert order("") == NAMES


def test_occurrence_sorts_by_name_where_there_is_none():
    assert order("occurrence", occurrence=np.array([1, 2, 3])) == ["c", "a", "b"]
    assert order("occurrence") == ["a", "b", "c"]


def test_ranks_are_in_byte_order_and_equal_names_keep_their_order():
    assert name_ranks(["b", "B", "a", "b", "\ufffd", "\U00010000"]).tolist() == [2, 0, 1, 3, 4, 5]


def test_some_names_get_the_same_order_before_and_after_all_were_ranked():
    names = [*"hgfedcba", "h"]
    ranks = NameRanks(names)
    few = np.array([8, 3])
    before, everything, after = (ranks.of(at) for at in (few, np.arange(9), few))
    assert before.argsort().tolist() == after.argsort().tolist() == [1, 0]
    assert [names[at] for at in everything.argsort()] == [*"abcdefgh", "h"]
    assert everything.argsort(kind="stable").tolist()[-2:] == [0, 8]
