"""Source lines with their costs."""

from dataclasses import replace

import pytest

import tfprof
from tests.ui.web.axe import broken_rules
from tests.ui.web.conftest import running
from tfprof.core.columns.frames import Frame
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import graph, op, op_log, run, stat, traced
from tfprof.ui.pages.document import Page
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.source_costs import Costs, Line, Measure
from tfprof.ui.pages.source_lines import source_roots
from tfprof.ui.pages.source_page import code_block
from tfprof.ui.web.report import one_page
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]

LIBRARY = "/usr/lib/python3.11/site-packages/keras/src/layers.py"
EVIL = "    model('<img src=x onerror=alert(1)>')"


@pytest.fixture
def address(tmp_path):
    pytest.importorskip("uvicorn")
    file = tmp_path / "train.py"
    file.write_text(f"def main():\n{EVIL}\n    x = 1\n\n\n    loss(x)\n")
    log = op_log(
        traced("a", f"{file}:2:main"), traced("b", f"{file}:6:main"),
        traced("c", f"{LIBRARY}:7:call"),
    )  # fmt: skip
    profiler = tfprof.Profiler(graph(op("a"), op("b"), op("c")), log)
    profiler.add_step(0, run({"a": stat(70), "b": stat(20), "c": stat(10)}))
    opened = replace(opened_profiler(profiler), source_roots=source_roots([tmp_path]))
    with running(application(Site([opened]))) as address:
        yield address


def test_costs_stand_beside_the_text(address, watched):
    page = watched(address).open(f"{address}#/source", "source")
    rows = page.tab.locator(".code-file").first.locator("tbody tr")
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    of_line = {row[0]: row for row in cells}
    assert of_line["2"][1] == EVIL  # text, no markup
    assert of_line["2"][2:4] == ["70.0 µs", "70.0 %"]
    assert of_line["3"][2:4] == ["", ""]  # near a line with costs
    assert "10.0 µs belong to no recorded line" in page.tab.locator(".headline").inner_text()
    heat = "row => getComputedStyle(row).getPropertyValue('--heat')"
    assert page.tab.locator("tr.costs").first.evaluate(heat) == "45%"
    page.check()


def test_files_of_libraries_are_folded_beside_others(watched, report_file):
    lines = [Line(Frame(path, "f", 3), [5.0]) for path in (LIBRARY, "/me/train.py")]
    block = code_block("x", "X", "function", Costs([Measure("t", "time", "us", 10)], lines), ())
    page = watched().open(report_file(one_page(Page("x", "X", "", [block]), "a file")))
    files = page.tab.locator(".code-file h3")
    assert files.all_text_contents() == ["/me/train.py", LIBRARY]
    assert not files.nth(1).is_visible()
    page.tab.get_by_text("1 file of libraries").click()
    assert files.nth(1).is_visible()
    page.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_keeps_the_rules_of_axe(address, watched, scheme):
    page = watched(address, color_scheme=scheme).open(f"{address}#/source", "source")
    assert broken_rules(page, ["source"]) == {}
