"""Tables in a browser: names stay in sight, empty columns fold, and addresses have all choices."""

import pytest

from tfprof import tools
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

pytestmark = pytest.mark.browser

NAMES = [f"model/encoder/layer_{at}/attention/query/projection/inner/MatMul" for at in range(12)]


@pytest.fixture(scope="module")
def site():
    ops = [event(f"{name}:MatMul", 100 * at, 10 + at) for at, name in enumerate(NAMES)]
    steps = [event("train", 0, 1300, step_num=0, _r=1)]
    return Site([opened_run(tools.open_run(xspace(host(line(*steps), line(*ops, id=2)))))])


@pytest.fixture
def page(site, watched, report_file):
    return watched(viewport={"width": 700, "height": 900}).open(
        report_file(report(site, ["op-stats"])), "op-stats"
    )


def headers(page):
    return page.tab.locator("[data-block=ops] th").all_inner_texts()


def test_the_column_that_says_what_a_row_is_comes_first_and_stays(page):
    assert headers(page)[0] == "op"
    scroller = page.tab.locator("[data-block=ops] .scroller")
    left = scroller.evaluate("each => { each.scrollLeft = 400; return each.scrollLeft }")
    assert left > 100
    for cell in ("th:first-child", "td:first-child"):
        apart = page.tab.locator(f"[data-block=ops] {cell}").first.evaluate(
            "each => each.getBoundingClientRect().left"
            " - each.closest('.scroller').getBoundingClientRect().left"
        )
        assert 0 <= apart < 3
    page.check()


def test_columns_without_numbers_are_folded_and_counted(page):
    button = page.tab.locator("[data-block=ops] .folds")
    shown = headers(page)
    n_empty = int(button.inner_text().split()[0])
    assert n_empty > 2
    assert "Zero or unknown in all rows: " in button.get_attribute("title")
    button.click()
    assert len(headers(page)) == len(shown) + n_empty
    button.click()
    assert headers(page) == shown
    page.check()


def test_search_order_and_columns_are_in_the_address(page):
    page.tab.locator("[data-block=ops] input[type=search]").fill("layer_1")
    page.tab.locator("[data-block=ops] [role=status]", has_text="3 of 12 rows").wait_for()
    page.tab.locator("[data-block=ops] th[data-column=operation] button").click()
    page.tab.locator("[data-block=ops] th[data-column=operation] button").click()
    page.tab.locator("[data-block=ops] .folds").click()
    seen = page.tab.locator("[data-block=ops] td:first-child").all_inner_texts()
    shown = headers(page)
    again = page.tab.url
    page.tab.goto("about:blank")
    page.open(again, "op-stats")
    page.tab.locator("[data-block=ops] [role=status]", has_text="3 of 12 rows").wait_for()
    assert page.tab.locator("[data-block=ops] td:first-child").all_inner_texts() == seen
    assert len(set(seen)) == 3 and "layer_11" in seen[0]
    assert headers(page) == shown
    page.check()


def test_the_chosen_tab_is_in_the_address(page):
    page.tab.get_by_role("tab", name="With idle time").click()
    again = page.tab.url
    page.tab.goto("about:blank")
    page.open(again, "op-stats")
    chosen = page.tab.locator("[role=tab][aria-selected=true]")
    assert chosen.inner_text() == "With idle time"
    page.check()


def test_bars_of_names_that_begin_and_end_alike_have_different_labels(page):
    names = page.tab.locator("[data-block=host_by_op] .parts .name").all_inner_texts()
    assert len(names) > 8
    assert len(set(names)) == len(names)
