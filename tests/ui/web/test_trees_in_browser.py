import dataclasses

import numpy as np
import pytest

import tfprof
from tests.captures.tools.oracle import folder as capture_folder
from tests.ui.web.conftest import running
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import graph, op, op_log, run, stat, traced
from tfprof.ui.pages.document import Page
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.source_lines import source_roots
from tfprof.ui.pages.tree_block import TreeMeasure, tree_block
from tfprof.ui.web.report import page_file, report
from tfprof.ui.web.server import application

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=alert(1)>"
LIBRARY = "/usr/lib/python3.11/site-packages/keras/src/layers.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("source")


@pytest.fixture(scope="module")
def site(folder):
    file = folder / "train.py"
    file.write_text("def main():\n    model('<script>')\n")
    profiler = tfprof.Profiler(
        graph(
            op("net/dense/MatMul", "MatMul"), op("net/dense/Relu", "Relu", "net/dense/MatMul"),
            op("net/out", "Sum", "net/dense/Relu"), op(f"loss/{EVIL}", EVIL, "net/out"),
        ),
        op_log(
            traced("net/dense/MatMul", f"{file}:2:main", f"{LIBRARY}:7:call"),
            traced("net/out", f"{file}:2:main"),
        ),
    )  # fmt: skip
    executions = {
        "net/dense/MatMul": stat(700, start=100, memory=(2000, 64, 0), outputs=(2000,)),
        "net/dense/Relu": stat(200, start=800, memory=(9000, 64, 0), outputs=(9000,)),
        "net/out": stat(60, start=1000, outputs=(8,)), f"loss/{EVIL}": stat(40, start=1060),
    }  # fmt: skip
    profiler.add_step(0, run(executions))
    opened = opened_profiler(profiler, "run.pb")
    return Site([dataclasses.replace(opened, source_roots=source_roots([folder]))])


@pytest.fixture(scope="module")
def address(site):
    pytest.importorskip("uvicorn")
    with running(application(site)) as address:
        yield address


def names(page):
    return page.tab.locator("tr[data-row] .tree-name bdi").all_inner_texts()


def key(page, *keys):
    for each in keys:
        page.tab.keyboard.press(each)


def focused(page):
    return page.tab.evaluate("document.activeElement.querySelector?.('bdi')?.textContent ?? ''")


def test_rows_fold_sort_and_are_found(site, watched, report_file):
    page = watched().open(report_file(report(site, ["scope"])), "scope")
    assert names(page)[:7] == ["total", "net", "dense", "MatMul", "Relu", "out", "loss"]
    assert names(page)[7:] == [EVIL]
    page.tab.locator("tr[data-row]", has_text="dense").locator(".twist").click()
    assert "MatMul" not in names(page)
    page.tab.locator("tr[data-row]", has_text="dense").locator(".twist").click()
    page.tab.get_by_role("button", name="memory", exact=True).click()
    assert names(page)[3:5] == ["Relu", "MatMul"]
    assert page.tab.locator("th[aria-sort=descending]").inner_text() == "memory"
    page.tab.get_by_label("Search Name scopes").fill("relu")
    page.tab.get_by_text("1 of ").wait_for()
    assert names(page) == ["total", "net", "dense", "Relu"]
    page.tab.get_by_label("Search Name scopes").fill("")
    page.tab.get_by_text("7 of 7 rows open").wait_for()
    page.tab.get_by_label("Open to depth").select_option("1")
    assert names(page) == ["total", "net", "loss"]
    assert page.tab.locator(".both .all").count() == 3
    page.check()


def test_the_keyboard_alone_walks_through_the_tree(site, watched, report_file):
    page = watched().open(report_file(report(site, ["scope"])), "scope")
    page.tab.locator("tr[data-row='0']").focus()
    key(page, "ArrowDown", "ArrowRight")
    assert focused(page) == "dense"
    key(page, "ArrowLeft")
    assert "MatMul" not in names(page)
    key(page, "ArrowLeft")
    assert focused(page) == "net"
    key(page, "ArrowDown", "Enter")
    assert names(page) == ["dense", "MatMul", "Relu"]
    assert "_root=" in page.tab.url
    assert page.tab.locator(".crumbs li").all_inner_texts() == ["total", "net", "dense"]
    key(page, "End")
    assert focused(page) == "Relu"
    assert "by itself 200 µs" in page.tab.locator(".tree-details").inner_text()
    page.tab.get_by_role("button", name="total", exact=True).click()
    assert names(page)[0] == "total"
    page.check()


def test_forms_and_measures_are_in_the_address(site, watched, report_file):
    page = watched().open(report_file(report(site, ["scope"])), "scope")
    for form in ("flame", "treemap", "sunburst"):
        page.tab.locator(f"[data-form={form}]").click()
        assert int(page.tab.locator("canvas").get_attribute("data-cells")) >= 5
        assert f"_form={form}" in page.tab.url
    page.tab.get_by_label("Measure").select_option("bytes")
    page.tab.get_by_text("11.0 kB memory").wait_for()
    page.tab.get_by_label("Search Name scopes").fill("MatMul")
    page.tab.locator("canvas[data-hits='1']").wait_for()
    page.tab.reload()
    page.wait("scope")
    page.tab.get_by_text("11.0 kB memory").wait_for()
    assert page.tab.locator("[data-form=sunburst][aria-pressed=true]").count() == 1
    page.check()


def test_a_flame_graph_looks_at_what_is_chosen_by_mouse_and_by_keyboard(site, watched, report_file):
    page = watched().open(report_file(report(site, ["scope"])) + "#/scope?_form=flame", "scope")
    canvas = page.tab.locator("canvas")
    canvas.click(position={"x": 20, "y": 33})  # the second level: net
    page.tab.locator(".crumbs [aria-current]", has_text="net").wait_for()
    page.tab.get_by_text("960 µs time").wait_for()
    words = page.tab.locator(".tree-words")
    assert words.inner_text() == "net · 960 µs, 100.0 % of what is shown"
    canvas.focus()
    key(page, "ArrowDown")
    assert "net/dense · 900 µs" in page.tab.locator(".tree-words").inner_text()
    key(page, "Enter")
    page.tab.get_by_text("900 µs time").wait_for()
    assert words.inner_text().startswith("net/dense · 900 µs, 100.0 % of what is shown")
    key(page, "Escape", "Escape")
    page.tab.get_by_text("1.00 ms time").wait_for()
    page.check()


def test_lines_of_libraries_are_shown_on_request_with_sources(site, watched, report_file):
    page = watched().open(report_file(report(site, ["code"])), "code")
    assert names(page) == ["total", "train.py:2:main"]
    own = page.tab.locator("tr[data-row='1'] td").nth(2)
    assert own.inner_text() == "760 µs"
    assert page.tab.locator("tr[data-row='1'] .source").inner_text() == "model('<script>')"
    page.tab.locator("tr[data-row='1'] td").nth(1).click()
    assert "model('<script>')" in page.tab.locator(".source-lines .here").inner_text()
    page.tab.get_by_label("Show lines of libraries").check()
    page.tab.get_by_label("Open to depth").select_option("1000")
    assert names(page) == ["total", "train.py:2:main", "layers.py:7:call"]
    assert own.inner_text() == "60.0 µs"
    page.tab.locator("[data-form=flame]").click()
    page.tab.get_by_label("Callers below").check()
    page.tab.locator("canvas").focus()
    key(page, "ArrowDown")
    assert "layers.py:7:call" in page.tab.locator(".tree-words").inner_text()
    page.check()


def test_columns_are_chosen_and_rows_copied(site, watched, report_file):
    page = watched(permissions=["clipboard-read", "clipboard-write"])
    page.open(report_file(report(site, ["op"])), "op")
    menu = page.tab.locator(".tree-bar details.menu")
    menu.locator("summary").click()
    page.tab.get_by_role("checkbox", name="params", exact=True).last.uncheck()
    page.tab.get_by_role("checkbox", name="time", exact=True).last.uncheck()  # the menu stays open
    head = page.tab.locator("thead")
    assert "params" not in head.inner_text() and "time" not in head.inner_text()
    menu.get_by_role("button", name="Default").click()
    assert "time" in head.inner_text()
    page.tab.get_by_role("checkbox", name="params", exact=True).last.uncheck()
    page.tab.keyboard.press("Escape")
    assert not menu.evaluate("each => each.open")
    address = page.tab.url
    page.tab.reload()
    page.wait("op")
    assert page.tab.url == address and "params" not in head.inner_text()
    page.tab.get_by_role("button", name="Copy as CSV").click()
    page.tab.get_by_text("rows are in").wait_for()
    copied = page.tab.evaluate("navigator.clipboard.readText().catch(() => '')")
    assert copied.splitlines()[2].startswith("1,MatMul,700,")
    page.check()


def test_options_change_what_the_server_shows(address, watched):
    page = watched(address).open(address + "#/scope", "scope")
    page.tab.get_by_text("Filter").click()
    page.tab.get_by_label("At least time (µs)").fill("500")
    key(page, "Enter")
    page.tab.get_by_text("of 3 rows open").wait_for()
    assert names(page) == ["total", "net", "dense", "MatMul"]
    assert "min_micros=500" in page.tab.url
    page.tab.get_by_label("Show names").fill("(")
    key(page, "Enter")
    page.tab.get_by_text("close the group").wait_for()
    page.tab.get_by_label("Show names").fill("net.*")
    key(page, "Enter")
    page.tab.get_by_text("of 3 rows open").wait_for()
    page.tab.get_by_label("Settings").get_by_text("Columns", exact=True).first.click()
    page.tab.locator("fieldset.choices").get_by_label("types").check()
    page.tab.locator("thead", has_text="types").wait_for()
    assert "MatMul" in page.tab.locator("tr[data-row='3'] td").last.inner_text()
    page.check()


def test_the_drawn_graph_opens_scopes_by_keyboard_and_by_mouse(address, watched):
    page = watched(address).open(address + "#/model-graph", "model-graph")
    page.tab.get_by_role("button", name="net,").focus()
    key(page, "Enter")
    page.tab.get_by_role("button", name="dense,").wait_for()
    assert page.tab.get_by_role("button", name="net,").get_attribute("aria-expanded") == "true"
    page.tab.get_by_role("button", name="dense,").click()
    page.tab.get_by_label("MatMul, MatMul").wait_for()
    assert page.tab.locator(".edge").count() == 3
    page.tab.get_by_label("MatMul, MatMul").focus()
    key(page, "ArrowDown")
    assert "Relu" in page.tab.evaluate("document.activeElement.getAttribute('aria-label')")
    page.tab.get_by_label("Colour boxes by").select_option("bytes")
    page.tab.get_by_text("The strongest colour: 9.00 kB, memory.").wait_for()
    page.tab.get_by_label("Search boxes").fill("relu")
    assert page.tab.locator(".found").count() == 1
    page.check()


def test_memory_over_time_shows_what_is_alive_at_a_moment(site, watched, report_file):
    page = watched().open(report_file(report(site, ["memory-over-time"])), "memory-over-time")
    assert page.tab.locator(".mark").count() >= 2
    page.tab.get_by_text("11.0 kB in 2 buffers").wait_for()
    page.tab.get_by_role("slider").focus()
    key(page, "Home")
    page.tab.get_by_text("2.00 kB in 1 buffers").wait_for()
    page.tab.locator(".grid tbody", has_not_text="Relu").wait_for()
    assert "_at=0" in page.tab.url
    key(page, "ArrowRight")
    page.tab.get_by_text("11.0 kB in 2 buffers").wait_for()
    page.check()


def test_all_open_rows_of_a_tree_are_printed(watched, report_file):
    ops = [op(f"net/layer_{at}/MatMul", "MatMul") for at in range(60)]
    profiler = tfprof.Profiler(graph(*ops))
    profiler.add_step(0, run({each.name: stat(5) for each in ops}))
    site = Site([opened_profiler(profiler, "run.pb")])
    page = watched().open(report_file(report(site, ["scope"])), "scope")
    page.tab.get_by_label("Open to depth").select_option("all")
    rows = page.tab.locator("tr[data-row]")
    assert rows.count() < 80
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 122
    page.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rows.count() < 80
    page.check()


def test_a_hundred_thousand_rows_are_drawn_where_they_are_looked_at(watched, report_file):
    parent = np.concatenate([[-1], np.zeros(100), 1 + np.arange(100_000) % 100]).astype(np.int64)
    totals = np.concatenate([[1e5], np.full(100, 1e3), np.ones(100_000)])
    labels = [f"row {at}" for at in range(len(parent))]
    micros = TreeMeasure("micros", "time", "us", totals, whole=1e5)
    page_of_tree = Page("big", "Big", "", [tree_block(labels, parent, [micros], id="big")])
    index = {"format": 1, "runs": [{"name": "r", "source": ""}], "run": "r",
             "pages": [{"id": "big", "title": "Big", "group": "", "missing": ""}]}  # fmt: skip
    content = page_file(index, {"page/big?": page_of_tree.to_json()}, [page_of_tree])
    page = watched().open(report_file(content), "big")
    page.tab.get_by_label("Open to depth").select_option("1000")
    page.tab.get_by_text("100,100 of 100,100 rows open").wait_for()
    page.tab.locator("tr[data-row='0']").focus()
    key(page, "End")
    assert focused(page) == "row 100100"
    assert page.tab.locator("tbody tr").count() < 100
    key(page, "ArrowLeft", "ArrowLeft")
    assert focused(page) == "row 100"
    page.tab.get_by_text("99,100 of 100,100 rows open").wait_for()
    page.check()


@pytest.mark.parametrize("width", [1400, 700])
def test_details_of_a_chosen_row_are_in_sight(watched, report_file, width):
    site = Site(open_paths([capture_folder("gpu-rocm-jax-attention")]))
    page = watched(viewport={"width": width, "height": 900})
    page.open(report_file(report(site, ["op-profile"])), "op-profile")
    assert page.tab.locator("tbody tr").count() > 20
    page.tab.locator("tbody tr[data-row='3']").click()
    details = page.tab.locator(".tree-details")
    assert "framework op" in details.inner_text()
    box = details.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 900
    assert box["x"] + box["width"] <= width
    details.get_by_role("button", name="Close").click()
    assert details.count() == 0
    page.check()
