"""Columns as Arrow streams, read back by libraries that take them."""

import ctypes
import gc
import signal
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tfprof.core.columns import arrow
from tfprof.core.columns.arrow import Coded, Field, Numbers, read_apart, stream_of
from tfprof.core.columns.frames_of_rows import ReadByDataFrames, column_of
from tfprof.tools import Column, Table

duckdb = pytest.importorskip("duckdb")

CONNECTION = duckdb.connect()
FIELDS = [
    Field("coded", "int16", is_coded=True),
    Field("whole", "int64", {"unit": "ps"}),
    Field("real", "float64"),
    Field("flag", "bool"),
    Field("text", "string"),
]
CHUNKS = [
    [
        Coded(np.array([0, 1, -1], np.int16), ["a", "é"]),
        Numbers(np.array([1, 2, 3])),
        Numbers(np.array([0.5, 0, 1.5]), np.array([True, False, True])),
        Numbers(np.array([True, False, True])),
        ["x", None, ""],
    ],
    [
        Coded(np.array([1, 0], np.int16), ["c", "d"]),
        Numbers(np.array([4, 5])),
        Numbers(np.array([2.0, 3.0])),
        Numbers(np.array([False, True]), np.array([True, False])),
        ["y", "z"],
    ],
]
ROWS = [
    ("a", 1, 0.5, True, "x"),
    ("é", 2, None, False, None),
    (None, 3, 1.5, True, ""),
    ("d", 4, 2.0, False, "y"),
    ("c", 5, 3.0, None, "z"),
]


class Stream:
    def __init__(self, fields, chunks):
        self.fields, self.chunks = fields, chunks

    def __arrow_c_stream__(self, requested_schema=None):
        return stream_of(self.fields, self.chunks)


class Rows(ReadByDataFrames):
    def __init__(self, rows):
        self._rows = rows

    def to_rows(self):
        return self._rows


def rows_of(stream):
    """What DuckDB reads of a stream."""
    CONNECTION.register("given", stream)
    try:
        return CONNECTION.execute("select * from given").fetchall()
    finally:
        CONNECTION.unregister("given")


def test_all_types_with_unknown_values_in_chunks():
    assert rows_of(Stream(FIELDS, CHUNKS)) == ROWS


def test_pyarrow_finds_the_stream_valid():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(Stream(FIELDS, CHUNKS))
    table.validate(full=True)
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS
    assert table.schema.field("whole").metadata == {b"unit": b"ps"}


def test_dictionaries_are_as_strict_readers_want_them():
    """pandas refuses a text that is there twice, polars a place outside, even of an unknown."""
    pyarrow = pytest.importorskip("pyarrow")
    fields = [Field("coded", "int8", is_coded=True), Field("none", "int8", is_coded=True)]
    places, none = np.array([0, 1, -1, 2], np.int8), np.full(4, -1, np.int8)
    chunk = [Coded(places, ["\ud800", "b", "\udfff"]), Coded(none, [])]
    table = pyarrow.table(Stream(fields, [chunk]))
    assert table.to_pydict() == {"coded": ["?", "b", None, "?"], "none": [None] * 4}
    for column in table.columns:
        (part,) = column.chunks
        texts = part.dictionary.to_pylist()
        assert len(set(texts)) == len(texts)
        stored = np.frombuffer(part.indices.buffers()[1], np.int8, len(part))
        assert ((stored >= 0) & (stored < len(texts))).all()
    assert places.tolist() == [0, 1, -1, 2]


def test_polars_takes_a_table():
    polars = pytest.importorskip("polars")
    table = Table(
        "t", (Column("name", "Name", "string"), Column("n", "N")), [("a", 1), ("b", None)]
    )
    assert polars.DataFrame(table).rows() == [("a", 1), ("b", None)]


def test_columns_are_not_copied_and_live_as_long_as_the_stream():
    values = np.arange(1000)
    alive = weakref.ref(values)
    stream = stream_of([Field("n", "int64")], [[Numbers(values)]])
    del values
    gc.collect()
    assert alive() is not None
    del stream
    gc.collect()
    assert alive() is None


def test_columns_are_released_after_they_were_read():
    values = np.arange(1000)
    alive = weakref.ref(values)
    assert rows_of(Stream([Field("n", "int64")], [[Numbers(values)]]))[-1] == (999,)
    del values
    gc.collect()
    assert alive() is None


def test_an_error_while_a_stream_is_read_reaches_the_reader():
    def broken():
        yield [Numbers(np.arange(3))]
        raise ValueError("the disk is gone")

    with pytest.raises(duckdb.Error, match="the disk is gone"):
        rows_of(Stream([Field("n", "int64")], broken()))
    with pytest.raises(duckdb.Error, match="different lengths"):
        two = [Numbers(np.arange(3)), Numbers(np.arange(2))]
        rows_of(Stream([Field("a", "int64"), Field("b", "int64")], [two]))


def interrupted(interrupt):
    yield [Numbers(np.arange(3))]
    interrupt()
    yield [Numbers(np.arange(3))]


def ctrl_c():
    """What Python does in the main thread at Ctrl-C."""
    raise KeyboardInterrupt


def test_ctrl_c_while_a_stream_is_read_is_not_the_end_of_the_table():
    with duckdb.connect() as connection:
        connection.register("given", Stream([Field("n", "int64")], interrupted(ctrl_c)))
        with pytest.raises(duckdb.Error, match="KeyboardInterrupt"):
            connection.execute("select * from given").fetchall()


def test_ctrl_c_while_a_library_reads_apart_comes_when_it_is_done():
    done = []
    stream = Stream([Field("n", "int64")], interrupted(lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        read_apart(lambda: done.extend(rows_of(stream)))
    assert [n for (n,) in done] == [0, 1, 2, 0, 1, 2]


def test_a_library_reads_where_no_thread_can_be_started(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert read_apart(lambda: "read") == "read"


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "text": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
                "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
                "real": st.none() | st.floats(allow_nan=False),
                "flag": st.none() | st.booleans(),
            }
        ),
        min_size=1,
        max_size=20,
    )
)
def test_rows_come_back(rows):
    rows = [*rows, {"text": "", "whole": 0, "real": 0.5, "flag": True}]
    names = list(rows[0])
    assert rows_of(Rows(rows)) == [tuple(row[name] for name in names) for row in rows]


@pytest.mark.parametrize(
    ("cells", "kind", "type_"),
    [
        ([1, None], "", "int64"),
        ([1, 2.5], "", "float64"),
        ([None], "", "string"),
        ([None], "number", "float64"),
        ([], "number", "float64"),
        ([1 << 70], "", "float64"),
        ([True], "", "bool"),
        ([True, "x"], "bool", "string"),
        (["a", 1], "number", "string"),
        ([[1, None]], "", "string"),
    ],
)
def test_types_of_cells(cells, kind, type_):
    assert column_of("c", cells, kind=kind)[0].type == type_


def test_lists_become_json():
    assert rows_of(Rows([{"shape": [2, None]}, {"shape": None}])) == [("[2, null]",), (None,)]


def test_views_are_tables_too():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph)
    profiler.add_step(0, files.run_meta)
    tree = profiler.view("op")
    with duckdb.connect() as connection:
        connection.register("ops", tree)
        answer = connection.execute("select count(*), sum(exec_micros) from ops").fetchone()
    rows = tree.to_rows()
    assert answer == (len(rows), sum(row["exec_micros"] for row in rows))


@pytest.mark.parametrize("order", ["little", "big"])
def test_lengths_of_metadata_are_in_the_order_of_the_machine(monkeypatch, order):
    """As Arrow's C data interface demands."""
    monkeypatch.setattr(sys, "byteorder", order)
    schema = arrow._schema_of(Field("a", "int64", {"unit": "ps"}))
    place = ctypes.c_void_p.from_buffer(schema, type(schema).metadata.offset).value
    one, four, two = (number.to_bytes(4, order) for number in (1, 4, 2))
    assert ctypes.string_at(place, 18) == one + four + b"unit" + two + b"ps"
