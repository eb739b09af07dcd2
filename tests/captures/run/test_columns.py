"""Columns are declared once, with their meaning and the clock of their times."""

import pytest

from tfprof import tools
from tfprof.captures.all_tools import tool_function
from tfprof.captures.run.columns import amount, count, flag, text, timed_by
from tfprof.captures.run.contents import tools_with_data
from tfprof.captures.run.table import Column, Table
from tfprof.core.columns.described import UNITS_OF_TIME
from tfprof.demo import DEMO_CAPTURES, demo_capture

OF_PARTS_OF_OTHER_THINGS = {"fragmentation", "occupancy_pct"}
OF_MEMORY = {"peak_lines"}
"""Tables whose shares are of memory."""


def test_what_declares_no_clock_and_is_a_time_has_that_of_the_table():
    columns = timed_by(
        "device",
        text("op", "Op", "name of the op", links=("op-stats",)),
        flag("is_slow", "Slow", "whether it is slow"),
        count("runs", "Runs", "how often it ran"),
        amount("size_bytes", "Size", "bytes", "its memory"),
        amount("busy_us", "Busy", "us", "how long it ran"),
        amount("share", "Share", "fraction", "the same as a part of the step"),
        amount("call_us", "Call", "us", "how long its launch took", "host"),
    )
    assert [one.clock for one in columns] == ["", "", "", "", "device", "device", "host"]
    assert [one.type for one in columns[:3]] == ["string", "boolean", "number"]
    assert columns[0].links == ("op-stats",)


def test_json_has_neither_meanings_nor_clocks():
    column = amount("busy_us", "Busy", "us", "how long it ran", "host")
    plain = Column("busy_us", "Busy", unit="us")
    for form in (Table.to_dict, Table.to_gviz):
        assert form(Table("t", (column,), [(1,)])) == form(Table("t", (plain,), [(1,)]))


@pytest.mark.parametrize("capture", DEMO_CAPTURES)
def test_columns_of_all_tools_have_a_meaning_and_times_a_clock(capture):
    run = tools.open_run(demo_capture(capture))
    data = tools_with_data(host.space for host in run.hosts)
    answers = [tool_function(one.tool)(run) for one in data if not one.missing]
    tables = [table for answer in answers for table in answer.tables.values()]
    assert len(tables) > 10
    for table in tables:
        for one in table.columns:
            assert one.meaning, (table.name, one.id)
            is_time = one.unit in UNITS_OF_TIME and one.id not in OF_PARTS_OF_OTHER_THINGS
            is_time &= table.name not in OF_MEMORY
            assert bool(one.clock) == is_time, (table.name, one.id)
