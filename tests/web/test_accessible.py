"""Pages for everybody: axe's rules, the keyboard, small windows, dark and light."""

from importlib.resources import files

import pytest

from tfprof.pages.opened import opened_run
from tfprof.pages.site import Site
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.web.report import report

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule_of_axe(content, watched, report_file, scheme):
    pytest.importorskip("axe_core_python")
    script = (files("axe_core_python") / "axe.min.js").read_text("utf-8")
    data, pages = content
    page = watched(color_scheme=scheme).open(report_file(data))
    broken = {}
    for name in pages:
        page.go(name)
        # Evaluated by the debugger, which no content policy concerns.
        page.tab.evaluate(script)
        found = page.tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        if found:
            broken[name] = [
                (
                    rule["id"],
                    rule["nodes"][0]["html"][:120],
                    rule["nodes"][0]["failureSummary"][:200],
                )
                for rule in found
            ]
    assert broken == {}


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
        if page.tab.evaluate("document.activeElement.textContent") == "TensorFlow stats":
            break
    page.tab.keyboard.press("Enter")
    page.wait("op-stats")
    header = page.tab.locator("th button", has_text="self time").first
    header.focus()
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("th:has(button:focus)").get_attribute("aria-sort") == "descending"
    page.check()
