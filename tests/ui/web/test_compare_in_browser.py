"""The page of two runs in a browser: chosen beside the list of pages, drawn, and in a report."""

from dataclasses import replace

import pytest

from tests.ui.web.axe import broken_rules
from tests.ui.web.conftest import running
from tfprof.demo import tutorial_files
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import report
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]

TWO_SCREENS = 1800
COLOURS = {"longer": (213, 94, 0), "shorter": (0, 114, 178)}


@pytest.fixture(scope="module")
def site():
    """Two recordings of one program, before and after its input became faster."""
    folder = tutorial_files()
    return Site(open_paths([str(folder / name) for name in ("slow-input", "faster-input")]))


@pytest.fixture(scope="module")
def address(site):
    pytest.importorskip("uvicorn")
    with running(application(site)) as address:
        yield address


def test_a_choice_leads_to_the_page_and_its_end_leads_back(address, watched):
    page = watched(address).open(address, "start")
    page.tab.get_by_label("Compare with").select_option("faster-input")
    page.wait("compare")
    assert page.tab.locator("nav [aria-current=page]").inner_text() == "Compare"
    assert page.tab.locator(".headline").inner_text().startswith("Step time is 94.5% shorter")
    page.tab.get_by_label("Compare with").select_option("")
    page.wait("start")
    page.tab.get_by_role("link", name="Compare", exact=True).click()
    page.wait("compare")
    assert page.tab.get_by_label("Compare with").input_value() == "faster-input"
    page.check()


def test_it_has_two_screens_at_most_and_breaks_no_rule_of_axe(address, watched):
    page = watched(address, color_scheme="light").open(f"{address}#/compare", "compare")
    assert page.tab.evaluate("document.documentElement.scrollHeight") <= TWO_SCREENS
    assert page.tab.locator("main h2").count() == 3  # parts, ops, scopes
    assert broken_rules(page, ["compare"]) == {}
    for width in (1400, 700, 390):
        page.tab.set_viewport_size({"width": width, "height": 900})
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    page.check()


def test_parts_have_two_bars_as_long_as_their_times(address, watched):
    page = watched(address).open(f"{address}#/compare", "compare")
    parts = page.tab.locator(".pairs li")
    assert parts.locator(".name").all_inner_texts() == ["Host compute", "Input", "All others"]
    before, after = (
        [bar.bounding_box()["width"] for bar in parts.locator(f".bar.{name}").all()]
        for name in ("before", "after")
    )
    assert max(before + after) == before[1]  # 45.5 ms of input
    assert before[0] / before[1] == pytest.approx(2.85 / 45.5, rel=0.02)
    assert after[0] / before[1] == pytest.approx(1.86 / 45.5, rel=0.02)
    assert parts.nth(1).inner_text().split("\n")[-2:] == ["-45.3 ms", "shorter"]
    page.check()


def capture(name, a_us, b_us):
    events = []
    for at in range(4):
        start = 1_000_000 * at
        events += [
            event("train", start, 900_000, step_num=at, _r=1),
            event("s/a:MatMul", start + 1000, a_us * 1000 + at),
            event("s/b:MatMul", start + 400_000, b_us * 1000 + at),
        ]
    return replace(opened_run(opened(xspace(host(line(*events))))), name=name)


def colour_at(page, x, y):
    """Red, green and blue of the flame graph at a place in it."""
    return page.tab.locator(".tree-canvas").evaluate(
        """(canvas, [x, y]) => {
          const scale = canvas.width / canvas.clientWidth;
          const place = [x * scale, y * scale, 1, 1];
          return [...canvas.getContext("2d").getImageData(...place).data].slice(0, 3);
        }""",
        [x, y],
    )


def like(colour):
    """The name of the colour that is painted over white."""
    lost = [255 - each for each in colour]
    if max(lost) < 5:
        return "none"
    shares = {
        name: [(255 - each) / max(255 - part for part in paint) for each in paint]
        for name, paint in COLOURS.items()
    }
    own = [each / max(lost) for each in lost]
    return min(
        shares, key=lambda name: sum(abs(a - b) for a, b in zip(own, shares[name], strict=True))
    )


def test_the_flame_graph_is_as_wide_as_after_and_has_the_colour_of_the_difference(
    watched, report_file
):
    site = Site([capture("before", 100, 300), capture("after", 300, 100)])
    data = report(site, ["start", "compare"], {"against": "after"})
    page = watched(color_scheme="light").open(report_file(data))
    page.tab.get_by_label("Compare with").select_option("after")
    page.wait("compare")
    canvas = page.tab.locator(".tree-canvas")
    box = canvas.bounding_box()
    assert canvas.get_attribute("data-cells") == "4"  # total, s, s/a, s/b
    wide = box["width"]
    assert like(colour_at(page, wide * 0.5, 5)) == "none"  # the sum is as before
    assert like(colour_at(page, wide * 0.70, 50)) == "longer"
    assert like(colour_at(page, wide * 0.80, 50)) == "shorter"
    page.tab.mouse.move(box["x"] + wide * 0.6, box["y"] + 50)
    tip = page.tab.locator(".tooltip").inner_text()
    for text in ("s/a", "300 µs", "before 100 µs", "difference 200 µs", "longer"):
        assert text in tip
    legend = page.tab.locator(".tree-legend").inner_text()
    assert all(text in legend for text in ("shorter", "within noise", "longer"))
    page.tab.get_by_label("Measure").select_option("before")
    assert like(colour_at(page, wide * 0.70, 50)) == "shorter"
    page.tab.get_by_role("button", name="Table", exact=True).click()
    assert page.tab.locator("[data-block=scopes] tr[data-row]").count() == 4
    page.check()
