"""Charts: their marks, what they tell, and what is too much to be drawn one by one."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.document import Page
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import one_page, report

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


def chart(**more):
    block = {
        "kind": "chart", "id": "c", "form": "heatmap", "title": "Steps", "x_label": "step",
        "y_label": "time", "unit": "us", "x": [], "series": [], **more,
    }  # fmt: skip
    return one_page(Page("x", "X", "", [block]), "a file")


def test_a_heat_map_of_very_many_steps_shows_the_largest_of_several(watched, report_file):
    values = [1.0] * 20_000
    values[12_345] = 50.0
    names = [str(at) for at in range(20_000)]
    content = chart(x=names, series=[{"name": "a:0", "values": values}])
    page = watched().open(report_file(content))
    cells = page.tab.locator(".cell")
    assert cells.count() == 589
    darkest = "cells => cells.findIndex(each => each.style.fillOpacity === '1')"
    assert cells.evaluate_all(darkest) == 12_345 // 34
    assert "largest of 34" in page.tab.locator(".chart").inner_text()
    page.check()


def test_events_are_counted_in_whole_numbers(watched, report_file):
    series = [{"name": "held", "values": [1.0, 2.0, 3.0]}]
    content = chart(form="line", x=[0, 1, 2], series=series, x_label="event")
    page = watched().open(report_file(content))
    labels = page.tab.locator(".plot text[text-anchor=middle]").all_text_contents()
    assert [each for each in labels if each != "event"] == ["0", "1", "2"]
    page.check()


def test_a_drag_shows_a_part_of_the_time_and_the_address_has_it(watched, report_file):
    series = [{"name": "heap", "values": [5e9] * 90 + [5e9 + 1e8 * at for at in range(11)]}]
    content = chart(
        form="area", x=list(range(101)), series=series, x_unit="ms", unit="bytes", x_label="time"
    )
    page = watched().open(report_file(content))
    box = page.tab.locator(".plot").bounding_box()
    x = [box["x"] + 72 + (box["width"] - 80) * part for part in (0.9, 1.0)]
    page.tab.mouse.move(x[0], box["y"] + 90)
    page.tab.mouse.down()
    page.tab.mouse.move(x[1], box["y"] + 90, steps=4)
    page.tab.mouse.up()
    shown = page.tab.locator(".chart p.quiet")
    assert shown.inner_text().startswith("90.0 ms to 100 ms")
    labels = page.tab.locator(".plot text[text-anchor=middle]").all_text_contents()
    assert labels[:2] == ["92.0 ms", "94.0 ms"]
    area = page.tab.locator(".area").bounding_box()
    assert area["x"] >= box["x"] + 71 and area["x"] + area["width"] <= box["x"] + box["width"]
    again = page.tab.url
    assert "_span-c=90" in again
    page.tab.goto("about:blank")
    page.open(again)
    assert shown.inner_text().startswith("90.0 ms to 100 ms")
    page.tab.locator(".plot").focus()
    page.tab.keyboard.press("-")
    assert "to 100 ms" in shown.inner_text() and not shown.inner_text().startswith("90")
    page.tab.get_by_role("button", name="Whole").click()
    assert shown.count() == 0 and "_span" not in page.tab.url
    page.check()


def test_a_part_of_memory_over_time_leads_to_the_same_part_of_the_timeline(watched, report_file):
    site = Site(open_paths([folder("cpu-memory-bfc")]))
    page = watched().open(report_file(report(site, ["memory", "trace"])) + "#/memory", "memory")
    plot = page.tab.locator(".plot").first
    plot.focus()
    page.tab.keyboard.press("ArrowRight")
    page.tab.keyboard.press("+")
    link = page.tab.get_by_role("link", name="in the timeline")
    seen = page.tab.url.partition("_span-")[2].partition("=")[2].split("%7E")
    link.click()
    page.wait("trace")
    page.tab.wait_for_selector(".trace[data-view]")
    view = page.tab.locator(".trace").get_attribute("data-view").split()
    assert [int(each) / 1e9 for each in view] == pytest.approx([float(each) for each in seen])
    page.check()
