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
