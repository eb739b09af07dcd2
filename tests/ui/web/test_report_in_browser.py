from dataclasses import replace
from urllib.parse import quote

import pytest

from tfprof import tools
from tfprof.errors import UsageError
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report

pytestmark = pytest.mark.browser


@pytest.fixture
def site():
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(3)]
    ops = [event("dense/MatMul:MatMul", 100 * at + 10, 30) for at in range(3)]
    return Site([opened_run(tools.open_run(xspace(host(line(*steps, *ops)))), "train.xplane.pb")])


def test_every_page_of_a_report_opens_without_connections(site, watched, report_file):
    page = watched().open(report_file(report(site)), "start")
    for entry in site.to_dict()["pages"]:
        if not entry["missing"]:
            page.go(entry["id"])
            assert page.tab.locator("main h1").inner_text() == entry["title"]
            assert page.tab.locator("main .block").count() > 0
    page.check()


def test_rows_in_an_address_that_no_table_has_are_reported(site, watched, report_file):
    page = watched().open(report_file(report(site, ["op-stats"])), "op-stats")
    said = page.tab.locator(".nothing-found")
    assert said.inner_text() == ""
    page.go("op-stats", "?find=<b>none</b>")
    assert said.inner_text() == "No row matches “<b>none</b>”: all rows are shown."
    assert said.get_attribute("role") == "status"
    page.go("op-stats", "?find=matmul")
    assert said.inner_text() == ""
    page.check()


def test_links_of_a_report_lead_to_the_rows_that_it_holds(site, watched, report_file):
    page = watched().open(
        report_file(report(site, ["op-stats", "trace"])) + "#/op-stats", "op-stats"
    )
    page.tab.locator("[data-block=ops] td a").first.click()
    page.wait("trace")
    assert page.tab.get_by_label("Search events").input_value() != ""
    page.check()


def test_links_of_rows_are_not_hidden_by_the_head_of_their_table(watched, report_file):
    ops = [event(f"scope_{at}/Mul:Mul", 10 * at, 5) for at in range(90)]
    site = Site([opened_run(tools.open_run(xspace(host(line(*ops)))), "train.xplane.pb")])
    page = watched().open(report_file(report(site, ["op-stats"])), "op-stats")
    page.tab.locator("[data-block=ops] td a").first.wait_for()
    row, top, below_head = page.tab.evaluate(_FOCUS_BELOW_THE_HEAD)
    assert row == "40", "rows that are drawn anew keep the focus"
    assert top >= below_head
    page.check()


# The row at the top edge of the table, where its head sticks; rows are drawn in the next frame.
_FOCUS_BELOW_THE_HEAD = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const drawn = async () => { await frame(); await frame(); };
  const table = document.querySelector("[data-block=ops]");
  table.querySelector(".scroller").scrollTop = 39 * 26;
  await drawn();
  table.querySelector('[aria-rowindex="40"] a').focus();
  await drawn();
  const link = document.activeElement;
  return [
    link.closest("tr")?.getAttribute("aria-rowindex"), link.getBoundingClientRect().top,
    table.querySelector("th").getBoundingClientRect().bottom,
  ];
}"""


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


def test_a_report_of_two_runs_shows_each_and_both(watched, report_file):
    def run_of(name, op, micros):
        steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(3)]
        ops = [event(f"dense/{op}:{op}", 100 * at + 10, micros) for at in range(3)]
        return replace(opened_run(tools.open_run(xspace(host(line(*steps, *ops))))), name=name)

    site = Site([run_of("be*fore", "MatMul", 30), run_of("af~ter (2)", "Relu", 60)])
    site = replace(site, opened=[*site.opened, run_of("other", "Sum", 5)])
    second = "af~ter (2)"
    pages = ["start", "op-stats", "trace"]
    page = watched().open(report_file(report(site, pages, {"against": second})), "start")
    assert page.tab.get_by_label("Run", exact=True).locator("option").count() == 2
    page.go("op-stats")
    table = page.tab.locator("[data-block=ops]")
    assert "MatMul" in table.inner_text()
    assert "Relu" not in table.inner_text()
    page.tab.get_by_label("Compare with").select_option(second)
    page.tab.locator("[data-block=ops] th", has_text="difference").first.wait_for()
    for name in ("MatMul", "Relu"):
        assert name in table.inner_text()
    page.go("trace", f"?against={quote(second)}")
    assert page.tab.locator(".trace").count() == 2
    page.tab.get_by_label("Run", exact=True).select_option(second)
    page.wait("trace")
    page.tab.get_by_label("Compare with").wait_for(state="detached")  # it holds one direction
    page.go("op-stats", f"?run={quote(second)}")
    assert "MatMul" not in table.inner_text()
    page.check()


def test_a_report_of_two_runs_has_a_limit(site):
    both = Site([*site.opened, replace(site.opened[0], name="again")])
    with pytest.raises(UsageError, match=r"has .* MB|has .* kB.*choose some of its pages"):
        report(both, (), {"against": "again"}, most_bytes=50_000)
    with pytest.raises(UsageError, match="cannot be compared with itself"):
        report(both, (), {"against": site.opened[0].name})
    with pytest.raises(UsageError, match="no run 'none' is open"):
        report(both, (), {"against": "none"})


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
