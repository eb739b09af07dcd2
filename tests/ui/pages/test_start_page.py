"""The first page of a profile: figures, findings, and what costs most."""

import pytest

import tfprof
from tfprof.inputs.opened import opened_profiler
from tfprof.ui.pages.packed_columns import unpacked
from tfprof.ui.pages.site import Site


@pytest.fixture(scope="module")
def profiler():
    files = tfprof.demo_files()
    return tfprof.open_profile(files.graph, files.run_meta, files.op_log)


@pytest.fixture(scope="module")
def page(profiler):
    return Site([opened_profiler(profiler, "a file")]).page("start", {})


def rows_of(page, name):
    (table,) = (b for b in page.blocks if b["kind"] == "table" and b["id"] == name)
    return list(zip(*map(unpacked, table["cells"]), strict=True))


def test_the_costliest_op_types_are_those_of_the_op_view(page, profiler):
    tree = profiler.view(
        "op", tfprof.ProfileOptionBuilder().with_max_depth(10_000).order_by("micros").build()
    )
    types = [(tree.names[row], int(tree.columns["exec_micros"][row])) for row in range(1, 6)]
    assert [(name, cost) for name, cost, _ in rows_of(page, "op")] == types


def test_lines_are_the_users_own_with_what_libraries_did_for_them(page, profiler):
    rows = rows_of(page, "code")
    assert all(name.startswith("train.py:") for name, _, _ in rows)
    assert len({name for name, _, _ in rows}) == len(rows)
    whole = profiler.view("code").total_exec_micros
    assert [share for _, _, share in rows] == [cost / whole for _, cost, _ in rows]
    assert sum(cost for _, cost, _ in rows) <= whole


def test_it_says_what_was_read_and_what_to_do(page):
    facts = dict(next(b for b in page.blocks if b["kind"] == "facts")["items"])
    assert facts["Read from"] == "a file"
    assert facts["Devices"] == "cpu:0"
    rules = [item["rule"] for b in page.blocks if b["kind"] == "findings" for item in b["items"]]
    assert "ExpensiveOperationChecker" in rules
