"""Drawn graphs: boxes that are chosen, opened, followed and coloured."""

import pytest

from tests.captures.hlo.small_programs import INSIDE, MAIN
from tests.hlo_programs import capture, program
from tests.ui.web.axe import broken_rules
from tests.ui.web.conftest import running
from tfprof.captures.run.run import open_run
from tfprof.inputs.opened import opened_run
from tfprof.ui.pages.document import Page
from tfprof.ui.pages.graph_block import GraphEdge, GraphNode, graph_block
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import one_page
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("uvicorn")
    run = open_run(capture(program(main=MAIN, inside=INSIDE)))
    with running(application(Site([opened_run(run, "run")]))) as address:
        yield address


def names(page):
    texts = page.tab.locator(".graph-picture .box > text:first-of-type").all_text_contents()
    return sorted(texts)


def test_a_handle_adds_inputs_and_the_address_keeps_them(address, watched):
    page = watched(address).open(f"{address}#/graph-viewer?node=f&width=1")
    assert names(page) == ["b", "c", "f"]
    page.tab.get_by_role("button", name="show 1 input of b").click()
    page.tab.get_by_role("button", name="hide the inputs of b").wait_for()
    assert names(page) == ["a", "b", "c", "f"]
    assert "inputs_of=b" in page.tab.url
    page.tab.go_back()
    page.tab.get_by_role("button", name="show 1 input of b").wait_for()
    assert names(page) == ["b", "c", "f"]
    page.check()


def test_a_fusion_is_opened_by_its_sign_and_chosen_by_its_box(address, watched):
    page = watched(address).open(f"{address}#/graph-viewer?node=b&width=1")
    page.tab.get_by_role("button", name="open f").click()
    page.tab.get_by_role("button", name="close f").wait_for()
    assert {"p", "t"} <= set(names(page))
    page.tab.locator(".box[aria-label='f'] > text").first.dispatch_event("click")
    page.tab.locator(".graph-chosen h3", has_text="f").wait_for()
    assert "node=f" in page.tab.url
    assert "%f = f32[4]{0} fusion" in page.tab.locator(".graph-chosen pre").inner_text()
    page.check()


def test_keys_show_inputs_and_open_a_fusion(address, watched):
    page = watched(address).open(f"{address}#/graph-viewer?node=f&width=1")
    page.tab.locator(".box[aria-label^='b,']").focus()
    page.tab.keyboard.press("i")
    page.tab.get_by_role("button", name="hide the inputs of b").wait_for()
    page.tab.locator(".box[aria-label^='f,']").focus()
    page.tab.keyboard.press("o")
    page.tab.get_by_role("button", name="close f").wait_for()
    page.check()


def test_the_text_of_the_program_opens_and_is_searched(address, watched):
    page = watched(address).open(f"{address}#/graph-viewer?node=f")
    block = page.tab.locator(".program-text")
    block.locator("summary").click()
    text = block.locator("pre")
    text.wait_for()
    assert "ENTRY %main {" in text.inner_text()
    saved = [each.get_attribute("download") for each in block.get_by_role("link").all()]
    assert [name[-8:] for name in saved] == [".hlo.txt", ".hlo.dot"]
    block.get_by_label("Search the text").fill("FUSION(")
    page.tab.wait_for_function(
        "() => document.querySelector('.program-text [role=status]').textContent.startsWith('1 of')"
    )
    assert "%f = f32[4]{0} fusion" in text.inner_text() and "ENTRY" not in text.inner_text()
    page.check()


def test_the_page_keeps_the_rules_of_axe(address, watched):
    page = watched(address, color_scheme="light").open(f"{address}#/graph-viewer")
    assert broken_rules(page, ["graph-viewer"]) == {}


def test_boxes_are_coloured_by_kind_with_a_legend(watched, report_file):
    nodes = [
        GraphNode("a", "a", weights={"bound_by": "Compute"}),
        GraphNode("b", "b", weights={"bound_by": "HBM"}),
        GraphNode("c", "c", weights={"bound_by": None}),
    ]
    edges = [GraphEdge("a", "b"), GraphEdge("b", "c")]
    block = graph_block(nodes, edges, [("bound_by", "bound by", "text")], dot="")
    page = watched().open(report_file(one_page(Page("x", "X", "", [block]), "a file")))
    legend = page.tab.locator(".graph-legend li")
    assert legend.all_inner_texts() == ["Compute", "HBM"]
    fills = page.tab.locator(".box rect").evaluate_all("all => all.map(each => each.style.fill)")
    assert fills[0] and fills[1] and fills[0] != fills[1] and not fills[2]
    page.check()
