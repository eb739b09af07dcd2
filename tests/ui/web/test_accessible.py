"""Accessible pages: axe's rules, the keyboard, small windows, dark and light."""

import pytest

from tests.ui.web.axe import broken_rules
from tests.ui.web.conftest import running
from tfprof.demo import demo_capture
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def content():
    """A report with a bit of everything, and its pages."""
    site = Site([opened_run(run_with_everything(), "a-folder-with-a-long-name/" * 8)])
    index = site.to_dict()
    return report(site), [page["id"] for page in index["pages"] if not page["missing"]]


def run_with_everything():
    long_name = "/".join(["a_scope_with_a_long_name"] * 12)
    events = []
    for at in range(5):
        start = 100_000 * at
        events += [
            event("train", start, 90_000, step_num=at, _r=1),
            event("IteratorGetNext:IteratorGetNext", start + 1000, 20_000),
            event(f"{long_name}/MatMul:MatMul", start + 30_000, 50_000),
        ]
    return opened(xspace(host(line(*events))))


def test_no_page_of_a_report_breaks_a_rule_of_axe(content, watched, report_file):
    data, pages = content
    page = watched(color_scheme="light").open(report_file(data))
    assert broken_rules(page, pages) == {}
    page.check()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gpu", ()),
        # What the other one lacks, and what is different here.
        ("input-bound", ("start", "input-pipeline", "tf-data", "memory-viewer", "graph-viewer")),
    ],
)
def test_no_served_page_of_a_capture_breaks_a_rule_of_axe(name, wanted, watched):
    """Pages of a server have their controls, which a report leaves out."""
    pytest.importorskip("uvicorn")
    site = Site(open_paths([demo_capture(name)]))
    there = [page["id"] for page in site.to_dict()["pages"] if not page["missing"]]
    pages = wanted or there
    assert set(pages) <= set(there)
    with running(application(site)) as address:
        page = watched(address, color_scheme="light").open(address)
        assert broken_rules(page, pages) == {}
        page.check()


@pytest.mark.parametrize("width", [1400, 700])
def test_no_page_is_wider_than_its_window(content, watched, report_file, width):
    data, pages = content
    page = watched(viewport={"width": width, "height": 900}).open(report_file(data))
    for name in pages:
        page.go(name)
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_keyboard_alone_goes_from_page_to_page_and_sorts_a_table(content, watched, report_file):
    page = watched().open(report_file(content[0]), "start")
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate("document.activeElement.textContent") == "To the page"
    for _ in range(30):
        page.tab.keyboard.press("Tab")
        if page.tab.evaluate("document.activeElement.textContent") == "Ops":
            break
    page.tab.keyboard.press("Enter")
    page.wait("op-stats")
    header = page.tab.locator("th button", has_text="self time").first
    header.focus()
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("th:has(button:focus)").get_attribute("aria-sort") == "descending"
    page.check()
