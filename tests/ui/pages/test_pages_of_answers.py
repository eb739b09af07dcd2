"""Pages of costs, advice and contents hold what the library answers."""

import numpy as np
import pytest

import tfprof
from tests.graphs.reports.programs import two_layers
from tfprof.graphs.reports.flops_text import type_rows
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import graph, op, run, stat
from tfprof.ui.pages import advice_page, contents_page, cost_pages
from tfprof.ui.pages.document import column
from tfprof.ui.pages.rows_table import first_rows, rows_table
from tfprof.ui.pages.site import Site

pytestmark = pytest.mark.one_engine


def table(page, name):
    [block] = [each for each in page.blocks if each.get("id") == name]
    ids = [each["id"] for each in block["columns"]]
    return [dict(zip(ids, row, strict=True)) for row in zip(*block["cells"], strict=True)]


def texts(page):
    return [text for block in page.blocks if block["kind"] == "words" for text in block["items"]]


def test_float_operations():
    report = tfprof.flops(two_layers(8))
    page = cost_pages.flops_page(report, type_rows(report), tfprof.summary(two_layers(8)))
    cards = page.blocks[0]["items"]
    assert [card["value"] for card in cards[:2]] == [report.flops, report.macs]
    rows = table(page, "types")
    assert {row["type"]: row["count"] for row in rows if row["count"]} == report.by_type
    assert sum(row["share"] or 0 for row in rows) == pytest.approx(1)
    assert any(text.startswith("Coverage: 100 % of ") for text in texts(page))


def test_counts_that_are_open_are_formulas():
    page = cost_pages.flops_page(tfprof.flops(two_layers()), (), tfprof.summary(two_layers()))
    assert page.blocks[0]["items"][0]["unit"] == "text"
    assert "B" in table(page, "layers")[0]["flops"]


def test_a_report_alone_has_its_op_types():
    kinds = [block["kind"] for block in cost_pages.flops_page(tfprof.flops(two_layers())).blocks]
    assert "table" in kinds and "empty" not in kinds


def test_layers():
    found = tfprof.summary(two_layers(8), device=(1e12, 1e9))
    rows = table(cost_pages.summary_page(found), "layers")
    plain = found.to_rows()
    for name in ("params", "flops", "macs", "weight_bytes", "share", "least_micros"):
        assert [row[name] for row in rows] == [row[name] for row in plain]
    assert [row["path"] for row in rows][:2] == ["total", plain[1]["path"]]
    assert any("parameters" in text for text in texts(cost_pages.summary_page(found)))


def test_uncountable_ops_are_named():
    message = graph(op("a", "NoSuchOp"))
    report = tfprof.flops(message)
    page = cost_pages.flops_page(report, type_rows(report))
    assert table(page, "types")[0]["reason"]
    assert any("NoSuchOp" in text for text in texts(page))


@pytest.fixture
def profiler():
    made = tfprof.Profiler(graph(op("a/b", "MatMul"), op("c", "VariableV2", shape=[2, 3])))
    made.add_step(3, run({"a/b": stat(700, memory=(2000, 64, 0)), "c": stat(100)}))
    return made


def test_contents_of_a_profile(profiler):
    page = contents_page.contents_of_profile(profiler)
    assert texts(page)[0] == "Ops: 2, all of a graph"
    [step] = table(page, "steps")
    assert (step["step"], step["op_micros"]) == (3, 800)
    assert table(page, "devices")[0]["micros"] == 800
    without = contents_page.contents_of_profile(tfprof.Profiler(graph(op("a"))))
    assert [block["kind"] for block in without.blocks].count("empty") == 1


def test_advice_on_a_profile(profiler):
    page = advice_page.advice_of_profile(profiler)
    found = [item["rule"] for b in page.blocks if b["kind"] == "findings" for item in b["items"]]
    assert found == [finding.rule for finding in profiler.findings()]
    nothing = advice_page.advice_page([], ["OneChecker"])
    assert nothing.blocks[0]["kind"] == "empty"
    assert "Checked: OneChecker." in texts(nothing)


def test_the_pages_of_a_profile(profiler):
    site = Site([opened_profiler(profiler)])
    ids = [page["id"] for page in site.to_dict()["pages"]]
    assert {"advice", "contents", "flops", "summary"} <= set(ids)
    macs = site.page("flops", {"convention": "macs"})
    assert macs.controls[0].value == "macs"
    assert site.page("summary", {}).controls[0].value == "flops"


@pytest.mark.parametrize("n_rows", [10, 300])
def test_the_first_rows_of_a_packed_table(n_rows):
    rows = [{"name": f"op {i % 4}", "micros": i + 0.5, "runs": i} for i in range(n_rows)]
    block = first_rows(rows_table("ops", "Ops", rows), 7)
    assert block == {**rows_table("ops", "Ops", rows), "n_rows": 7, "cells": block["cells"]}
    for cells, key in zip(block["cells"], ("name", "micros", "runs"), strict=True):
        values = [row[key] for row in rows]
        if n_rows < 64:
            assert cells == values[:7]
        else:
            longer = column(values)
            assert _unpacked(cells) == _unpacked(longer)[:7] == values[:7]


def _unpacked(cells):
    import base64

    if isinstance(cells, list):
        return cells
    if "texts" in cells:
        return [cells["texts"][place] for place in _unpacked(cells["at"])]
    kind = "<i4" if cells["type"] == "i32" else "<f8"
    return np.frombuffer(base64.b64decode(cells["data"]), kind).tolist()


def test_a_table_with_too_many_rows_says_so(monkeypatch):
    monkeypatch.setattr("tfprof.ui.pages.rows_table.MOST_ROWS", 3)
    block = rows_table("ops", "Ops", [{"a": 1}] * 5)
    assert (block["n_rows"], block["title"]) == (3, "Ops (the first 3 of 5 rows)")
