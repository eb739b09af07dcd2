"""Answers of tools as files."""

import csv
import io
import json
from pathlib import Path

import numpy as np

from tfprof.captures.run.result import Advice, Chart, Note, ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.captures.show.tool_files import (
    gviz_json,
    result_json,
    table_csv,
    table_json,
    table_paths,
    trace_chunks,
)
from tfprof.core.text.claims import quoted

TABLE = Table(
    "ops",
    (Column("op", "Op", "string"), Column("time", "Time", unit="us"), Column("x", "X")),
    [('a,"b"', 1.5, None), ("c", 2, 3)],
    {"key": "value"},
)
RESULT = ToolResult(
    "op-stats", "Title", quoted(("Verdict.",)), {"ops": TABLE},
    (Chart("c", "line", "t", "x", "y", (1, 2), {"s": (1.0, 2.0)}),),
    (Advice("r", "m", {"share": 0.5}, 0.1),), (Note("info", "n"),), {"tree": [1]},
)  # fmt: skip


def test_json_is_the_plain_data_with_one_row_a_line():
    text = result_json(RESULT)
    assert json.loads(text) == RESULT.to_dict()
    assert list(json.loads(text)) == list(RESULT.to_dict())
    assert '\n{"op": "c", "time": 2, "x": 3}\n' in text
    assert text == result_json(RESULT)


def test_one_table_as_json():
    assert json.loads(table_json(TABLE)) == TABLE.to_dict()


def test_numbers_that_json_lacks_are_null():
    table = Table("t", (Column("x", "X"),), [(float("nan"),), (np.float64(2.5),), (np.int64(3),)])
    assert [row["x"] for row in json.loads(table_json(table))["rows"]] == [None, 2.5, 3]
    assert json.loads(gviz_json([{"v": float("inf")}])) == [{"v": None}]


def test_csv_has_a_header_even_without_rows():
    rows = list(csv.reader(io.StringIO(table_csv(TABLE))))
    assert rows == [["op", "time", "x"], ['a,"b"', "1.5", ""], ["c", "2", "3"]]
    assert table_csv(Table("t", TABLE.columns)) == "op,time,x\n"


def test_each_table_gets_a_file_of_its_own():
    assert table_paths(Path("d/out.csv.gz"), ["a", "b"]) == {
        "a": Path("d/out.a.csv.gz"), "b": Path("d/out.b.csv.gz"),
    }  # fmt: skip
    assert table_paths(Path("out"), ["a"]) == {"a": Path("out.a")}


def test_traces_are_written_one_event_a_line():
    events = [{"ph": "X", "name": f"é{i}"} for i in range(20_001)]
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    data = b"".join(trace_chunks(trace))
    assert json.loads(data) == trace
    assert data.count(b"\n") == 20_003
    assert json.loads(b"".join(trace_chunks({"traceEvents": []}))) == {"traceEvents": []}
