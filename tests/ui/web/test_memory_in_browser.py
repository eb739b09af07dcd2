"""Pictures of memory: values of a program at their places, and what is alive at a moment."""

import pytest

import tfprof
from tests.captures.hlo.small_programs import PARAMETER, TEMPORARY, TRACE, with_buffers
from tests.hlo_programs import capture
from tests.ui.web.axe import broken_rules
from tests.ui.web.conftest import running
from tfprof.captures.run.run import open_run
from tfprof.inputs.opened import opened_profiler, opened_run
from tfprof.testing.builders import graph, op, run, stat
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("uvicorn")
    program = with_buffers(allocations=[TEMPORARY, PARAMETER], trace=TRACE)
    with running(application(Site([opened_run(open_run(capture(program)), "run")]))) as address:
        yield address


def test_values_are_bars_from_birth_to_death_that_lead_to_the_graph(address, watched):
    page = watched(address).open(f"{address}#/memory-viewer")
    bars = page.tab.locator(".buffers-picture .value")
    assert bars.count() == 4
    boxes = {
        each["label"].split(",")[0]: each
        for each in bars.evaluate_all(
            "all => all.map(each => ({ label: each.getAttribute('aria-label'),"
            " x: +each.getAttribute('x'), width: +each.getAttribute('width'),"
            " height: +each.getAttribute('height') }))"
        )
    }
    events = boxes["p"]["width"] / 6  # it is there all the time
    spans = {name: round(box["width"] / events) for name, box in boxes.items()}
    assert spans == {"p": 6, "a": 2, "b": 3, "c": 2}
    assert boxes["p"]["height"] == pytest.approx(2 * boxes["a"]["height"])
    assert "padding 112 B" in boxes["b"]["label"]
    pale = page.tab.locator(".value.not-at-peak")
    assert pale.count() == 1 and pale.get_attribute("aria-label").startswith("c,")
    assert "peak" in page.tab.locator(".figures").inner_text()
    # Without what is always there the others are larger.
    page.tab.get_by_label("Only what comes and goes").check()
    assert bars.count() == 3
    height = "all => +all[0].getAttribute('height')"
    assert bars.evaluate_all(height) > 1.4 * boxes["a"]["height"]
    assert "_only=moving" in page.tab.url
    page.tab.get_by_label("Only what comes and goes").uncheck()
    bars.first.focus()
    page.tab.keyboard.press("ArrowRight")
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_url("**/graph-viewer?**")
    page.wait("graph-viewer")
    assert "node=a" in page.tab.url
    page.check()


def test_the_page_keeps_the_rules_of_axe(address, watched):
    for scheme in ("light", "dark"):
        page = watched(address, color_scheme=scheme).open(f"{address}#/memory-viewer")
        assert broken_rules(page, ["memory-viewer"]) == {}


def test_what_is_alive_is_summed_by_scope_and_type(watched, report_file):
    names = ["net/a/x", "net/a/y", "net/b", "top"]
    profiler = tfprof.Profiler(graph(*(op(name, "X") for name in names), op("all", "Y", *names)))
    sizes = dict(zip(names, (100, 200, 50, 10), strict=True))
    runs = {name: stat(10, start=100, outputs=(size,)) for name, size in sizes.items()}
    profiler.add_step(0, run(runs | {"all": stat(5, start=110, outputs=(1,))}))
    content = report(Site([opened_profiler(profiler, "run.pb")]), ["memory-over-time"])
    page = watched().open(report_file(content), "memory-over-time")
    page.tab.get_by_label("List what is alive by").select_option("scope")
    rows = page.tab.locator(".live tbody tr")
    cells = [row.locator("td, th").all_inner_texts() for row in rows.all()]
    assert [(row[0], row[-1]) for row in cells if row[0]] == [
        ("net/a", "2"), ("net", "1"), ("(no scope)", "2"),
    ]  # fmt: skip
    assert cells[0][1] == "300"
    assert "B" in page.tab.locator(".live thead").inner_text()
    assert "_group=scope" in page.tab.url
    page.tab.get_by_label("List what is alive by").select_option("type")
    assert [row.locator("td, th").first.inner_text() for row in rows.all()][:2] == ["X", "Y"]
    page.check()
