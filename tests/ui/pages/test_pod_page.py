"""The pod viewer's page: workers beside each other."""

from tfprof.captures.run.table import Column, Table
from tfprof.ui.pages.tool_pictures import _steps_of_workers


def test_steps_of_workers_that_number_them_differently_are_the_same_steps():
    columns = tuple(Column(name, name) for name in ("step", "host", "core"))
    places = {"step": 0, "host": 1, "core": 2}
    rows = [("train 7", "a", 0), ("train 1", "b", 0), ("train 8", "a", 0), ("train 2", "b", 0)]
    assert _steps_of_workers(Table("workers", columns, rows), places) == (
        ["train 7", "train 8"], [0, 0, 1, 1],
    )  # fmt: skip
    rows.pop()
    assert _steps_of_workers(Table("workers", columns, rows), places) == (
        ["train 7", "train 1", "train 8"], [0, 1, 2],
    )  # fmt: skip
