"""Which columns of pages add up, and how their shares are shown."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.run.columns import amount, text
from tfprof.captures.run.shared_columns import AVG_TIME, OCCURRENCES, STEP_TIME_US, TOTAL_TIME
from tfprof.captures.run.table import Table
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.blocks_of_results import column_dict, table_block
from tfprof.ui.pages.column_traits import column_traits
from tfprof.ui.pages.compare import table_of_both
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.site import Site

OWN = amount("total_self_time", "Self time", "us", "time of all runs without what ran inside them")


def test_only_what_is_counted_once_adds_up():
    assert column_dict(OCCURRENCES)["adds"] and column_dict(OWN)["adds"]
    assert column_dict(STEP_TIME_US)["adds"]
    # With what ran inside; averages; the time of a call with what it called; one of many.
    for each in (
        TOTAL_TIME,
        AVG_TIME,
        amount("total_us", "Total time", "us", "its time in the slowest call"),
        amount(
            "self_us", "Self time", "us", "its time in the slowest call, without that of others"
        ),
        amount("allocation_bytes", "allocated", "bytes", "size of the allocated memory, of one"),
        amount("infeedTimeMs", "input", "ms", "waiting for input, on average"),
        text("count", "count", "a text"),
    ):
        assert "adds" not in column_dict(each), each.id


def test_shares_are_parts_or_good_or_bad():
    assert column_traits("total_self_time_percent", "number") == {"adds": True, "shade": "part"}
    assert column_traits("share", "number") == {"shade": "part"}  # nested in trees
    assert column_traits("roofline_efficiency", "number") == {"shade": "better"}
    assert column_traits("fragmentation", "number") == {"shade": "worse"}
    assert column_traits("measured_flop_rate", "number") == {}


def test_rows_of_steps_do_not_add_up_with_those_of_the_whole():
    columns = (text("step", "Step", "its name"), OWN)
    assert (
        "adds"
        in table_block(Table("rows", columns, [("Total", 5.0), ("a Total", 2.0)]))["columns"][1]
    )
    assert (
        "adds"
        not in table_block(Table("rows", columns, [("Total", 5.0), ("3", 2.0)]))["columns"][1]
    )


def test_differences_of_two_runs_have_no_sum_as_some_rows_have_no_difference():
    columns = (text("op", "Op", "its name"), OWN)
    first = table_block(Table("rows", columns, [("a", 5.0), ("b", 2.0)]))
    second = table_block(Table("rows", columns, [("a", 4.0)]))
    both = table_of_both(first, second, ("x", "y"))["columns"]
    assert [each.get("adds") for each in both] == [None, True, True, None]


@pytest.mark.parametrize("capture", ["tpu-v6e-jax", "gpu-rocm-jax-attention"])
def test_shares_that_add_up_are_of_one_whole(capture):
    """Of real captures: all instructions together take 100 %."""
    page = Site(open_paths([folder(capture)])).page("hlo-stats", {})
    block = next(each for each in page.blocks if each["kind"] == "table")
    shares = [
        unpacked(cells)
        for each, cells in zip(block["columns"], block["cells"], strict=True)
        if each.get("adds") and each["unit"] == "percent"
    ]
    assert len(shares) == 1
    assert sum(shares[0]) == pytest.approx(100)
