"""Charts: their marks, what they tell, and what is too much to be drawn one by one."""

import pytest

from tfprof.ui.pages.document import Page
from tfprof.ui.web.report import one_page

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
