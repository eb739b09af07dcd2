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
