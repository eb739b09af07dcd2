import pytest

import tfprof
from tfprof.profiles.accounting.accounting import METRICS
from tfprof.testing.builders import graph, op, options, run, stat
from tfprof.views.result import COLUMNS


@pytest.fixture
def tree():
    profiler = tfprof.Profiler(graph(op("s/a", "V", shape=[3]), op("s/b"), op("t")))
    profiler.add_step(0, run({"s/a": stat(5, memory=(8, 4, 2)), "s/b": 7, "t": 1}))
    return profiler.view("scope", options())


def test_the_tree_stands_for_its_root(tree):
    assert tree.name == tree.root.name == "_TFProfRoot"
    assert [child.name for child in tree.children] == ["s", "t"]
    assert len(tree) == 5


def test_nodes_have_their_metrics_as_attributes(tree):
    scope = tree.children[0]
    assert (scope.exec_micros, scope.total_exec_micros) == (0, 12)
    assert scope.total_definition_count == 3
    leaf = scope.children[0]
    assert (leaf.name, leaf.parameters, leaf.requested_bytes, leaf.run_count) == ("s/a", 3, 8, 1)
    assert list(leaf) == []
    assert [node.name for node in scope] == ["s/a", "s/b"]
    with pytest.raises(AttributeError, match="'micros'"):
        leaf.micros  # noqa: B018


def test_columns(tree):
    assert set(tree.columns) == {
        *METRICS, *(f"total_{name}" for name in METRICS), "total_definition_count",
    }  # fmt: skip
    assert tree.columns["total_exec_micros"].tolist() == [13, 12, 5, 7, 1]
    assert tree.children[1].columns["exec_micros"] == 1


def test_rows(tree):
    rows = tree.to_rows()
    assert [(row["name"], row["depth"], row["total_exec_micros"]) for row in rows] == [
        ("_TFProfRoot", 0, 13), ("s", 1, 12), ("s/a", 2, 5), ("s/b", 2, 7), ("t", 1, 1),
    ]  # fmt: skip
    assert list(rows[0]) == ["name", "depth", *tree.columns] == [one.name for one in COLUMNS]
    unknown = {"float_ops", "total_float_ops"}
    for row in rows:
        assert {name for name, value in row.items() if value is None} == unknown
        assert all(type(value) in (int, str) for name, value in row.items() if name not in unknown)


def test_rows_have_none_for_what_the_profile_does_not_hold():
    profiler = tfprof.Profiler(graph(op("a", "V", shape=[3]), op("b")))
    [_, a, _] = profiler.view("scope", options()).to_rows()
    assert (a["parameters"], a["total_exec_micros"], a["requested_bytes"]) == (3, None, None)
    assert (a["run_count"], a["float_ops"], a["total_definition_count"]) == (None, None, 1)
    profiler.add_step(0, run({"a": 5}))  # and b never ran: that takes no time
    [_, a, b] = profiler.view("scope", options()).to_rows()
    assert (a["exec_micros"], b["exec_micros"], b["run_count"]) == (5, 0, 0)
    assert (a["requested_bytes"], a["parameters"], b["parameters"]) == (None, 3, 0)


def test_data_frames_have_numbers_where_nothing_is_known():
    arrow = pytest.importorskip("pyarrow")
    tree = tfprof.Profiler(graph(op("a", "V", shape=[3]), op("b"))).view("scope", options())
    table = arrow.table(tree)
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types.pop("name") == "string"
    assert set(types.values()) == {"int64", "double"}
    assert table["exec_micros"].to_pylist() == [None] * 3


def test_rows_of_op_types_have_no_number_of_ops():
    rows = tfprof.Profiler(graph(op("a"), op("b"))).view("op", options()).to_rows()
    assert {row["total_definition_count"] for row in rows} == {None}


@pytest.mark.parametrize("kind", ["scope", "graph", "op"])
def test_rows_of_the_classic_mode_have_zeros_as_the_original(kind):
    profiler = tfprof.Profiler(graph(op("a"), op("b")), classic=True)
    rows = profiler.view(kind, options()).to_rows()
    assert all(type(value) in (int, str) for row in rows for value in row.values())


def test_rows_of_a_node_start_at_depth_0(tree):
    rows = tree.children[0].to_rows()
    assert [(row["name"], row["depth"]) for row in rows] == [("s", 0), ("s/a", 1), ("s/b", 1)]


def test_a_view_is_a_snapshot(tree):
    before = tree.to_rows()
    profiler = tfprof.Profiler(graph(op("a")))
    profiler.add_step(0, run({"a": 1}))
    old = profiler.view("scope", options())
    rows = old.to_rows()
    profiler.add_step(0, run({"a": 50, "new": 3}))
    assert old.to_rows() == rows
    assert tree.to_rows() == before
    assert [r["name"] for r in profiler.view("scope", options()).to_rows()] == [
        "_TFProfRoot", "a", "new",
    ]  # fmt: skip


def test_devices_of_a_view_are_a_snapshot_too():
    from tests.views.report_body import render_body

    profiler = tfprof.Profiler(graph(op("a"), op("b")))
    profiler.add_step(0, run({"a": 1}))
    old = profiler.view("scope", options(select=["device"]))
    text = render_body(old)
    profiler.add_step(1, run({"b": 1}))
    assert render_body(old) == text
