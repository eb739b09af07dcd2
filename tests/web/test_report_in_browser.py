import pytest

from tfprof import tools
from tfprof.pages.opened import opened_run
from tfprof.pages.site import Site
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.web.report import report

pytestmark = pytest.mark.browser


@pytest.fixture
def site():
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(3)]
    ops = [event("dense/MatMul:MatMul", 100 * at + 10, 30) for at in range(3)]
    return Site([opened_run(tools.open_run(xspace(host(line(*steps, *ops)))), "train.xplane.pb")])


def test_every_page_of_a_report_opens_and_asks_nobody(site, watched, report_file):
    page = watched().open(report_file(report(site)), "start")
    for entry in site.to_dict()["pages"]:
        if not entry["missing"]:
            page.go(entry["id"])
            assert page.tab.locator("main h1").inner_text() == entry["title"]
            assert page.tab.locator("main .block").count() > 0
    page.check()


def test_rows_that_an_address_asks_for_and_no_table_has_are_told(site, watched, report_file):
    page = watched().open(report_file(report(site, ["op-stats"])), "op-stats")
    said = page.tab.locator(".nothing-found")
    assert said.inner_text() == ""
    page.go("op-stats", "?find=<b>none</b>")
    assert said.inner_text() == "No row matches “<b>none</b>”: all rows are shown."
    assert said.get_attribute("role") == "status"
    page.go("op-stats", "?find=matmul")
    assert said.inner_text() == ""
    page.check()


def test_links_of_rows_are_not_hidden_by_the_head_of_their_table(watched, report_file):
    ops = [event(f"scope_{at}/Mul:Mul", 10 * at, 5) for at in range(90)]
    site = Site([opened_run(tools.open_run(xspace(host(line(*ops)))), "train.xplane.pb")])
    page = watched().open(report_file(report(site, ["op-stats"])), "op-stats")
    scroller = page.tab.locator("[data-block=ops] .scroller")
    scroller.evaluate("each => { each.scrollTop = 40 * 26 }")
    page.tab.wait_for_function("document.querySelector('[data-block=ops] [aria-rowindex=\"40\"] a')")
    # The row at the top edge lies below the head, which sticks there.
    page.tab.evaluate("document.querySelector('[data-block=ops] [aria-rowindex=\"40\"] a').focus()")
    page.tab.wait_for_function(
        """() => {
          const link = document.activeElement, head = link.closest("table")?.tHead;
          return head && link.getBoundingClientRect().top >= head.getBoundingClientRect().bottom;
        }"""
    )
    assert page.tab.evaluate("document.activeElement.closest('tr').ariaRowIndex") == "40"
    page.check()


@pytest.mark.parametrize("name", ["op-stats", "scope"])
def test_paper_is_as_wide_as_the_table(site, watched, report_file, name):
    page = watched(viewport={"width": 720, "height": 900}, color_scheme="dark")
    page.open(report_file(report(site, [name])), name)
    page.tab.emulate_media(media="print", color_scheme="dark")
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 720
    table = page.tab.locator("table.grid").first
    assert table.evaluate("each => each.getBoundingClientRect().right") <= 720
    assert table.evaluate("each => getComputedStyle(each).color") == "rgb(0, 0, 0)"
    page.check()


def test_all_rows_are_printed_though_few_are_drawn_on_the_screen(watched, report_file):
    ops = [event(f"scope_{at}/Mul:Mul", 10 * at, 5) for at in range(90)]
    site = Site([opened_run(tools.open_run(xspace(host(line(*ops)))), "train.xplane.pb")])
    page = watched().open(report_file(report(site, ["op-stats"])), "op-stats")
    rows = page.tab.locator("[data-block=ops] tbody tr:not(.spacer)")
    rows.first.wait_for()
    assert rows.count() < 60
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 90
    page.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rows.count() < 60
    page.check()
