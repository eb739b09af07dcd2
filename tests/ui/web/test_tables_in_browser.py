"""Tables in a browser: names stay in sight, empty columns fold, and addresses have all choices."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.ui.pages.document import Page, tabs, words
from tfprof.ui.pages.site import Site
from tfprof.ui.web.report import one_page, report

pytestmark = pytest.mark.browser

NAMES = [f"model/encoder/layer_{at}/attention/query/projection/inner/MatMul" for at in range(12)]
TYPES = ("MatMul", "MatMul", "Relu")
COUNT = "[data-block=ops] [role=status]"


@pytest.fixture(scope="module")
def site():
    ops = [
        event(f"{name}:{TYPES[at % 3]}", 100_000 * at, 10_000 + 1000 * at)
        for at, name in enumerate(NAMES)
    ]
    steps = [event("train", 0, 1_300_000, step_num=0, _r=1)]
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


def cells(page, column):
    place = page.tab.locator(f"[data-block=ops] th[data-column={column}]").evaluate(
        "each => each.cellIndex + 1"
    )
    return page.tab.locator(f"[data-block=ops] tbody td:nth-child({place})").all_inner_texts()


def opened_again(page):
    again = page.tab.url
    page.tab.goto("about:blank")
    page.open(again, "op-stats")


def test_columns_without_numbers_are_folded_and_counted_and_all_can_be_chosen(page):
    tab, shown = page.tab, headers(page)
    menu = tab.locator("[data-block=ops] summary", has_text="Columns")
    n_empty = int(menu.inner_text().split()[2])
    assert menu.inner_text().endswith("empty") and n_empty > 2
    # By the keyboard alone: open the menu, to "All", the first column, and the second.
    menu.press("Enter")
    tab.get_by_role("button", name="Default").wait_for()
    for key in ("Tab", "Enter"):
        tab.keyboard.press(key)
    assert len(headers(page)) == len(shown) + n_empty
    assert "_columns-ops=all" in tab.url
    for key in ("Tab", "Enter", "Tab", "Space"):  # "Default", then "self time", as "op" stays
        tab.keyboard.press(key)
    assert headers(page) == [shown[0], *shown[2:]]
    assert tab.get_by_role("checkbox", name="op", exact=True).is_disabled()
    tab.keyboard.press("Escape")
    assert menu.evaluate("each => each === document.activeElement")
    opened_again(page)
    assert headers(page) == [shown[0], *shown[2:]]
    page.check()


def test_search_order_and_filters_are_in_the_address(page):
    tab = page.tab
    tab.locator("[data-block=ops] input[type=search]").fill("layer_1")
    tab.locator(COUNT, has_text="3 of 12 rows").wait_for()
    tab.locator("[data-block=ops] th[data-column=operation] button").click()
    tab.locator("[data-block=ops] th[data-column=operation] button").click()
    tab.locator("[data-block=ops] summary", has_text="Filter").click()
    tab.get_by_label("Column to filter by").select_option("type")
    tab.get_by_role("checkbox", name="MatMul").check()
    tab.locator(COUNT, has_text="2 of 12 rows").wait_for()
    seen = cells(page, "operation")
    assert len(set(seen)) == 2 and "layer_10" in seen[0]
    opened_again(page)
    tab.locator(COUNT, has_text="2 of 12 rows").wait_for()
    assert cells(page, "operation") == seen
    page.go("op-stats", "?_sort-ops=operation")
    tab.locator(COUNT, has_text="12 rows").wait_for()
    tab.go_back()
    tab.locator(COUNT, has_text="2 of 12 rows").wait_for()
    tab.get_by_role("button", name="Remove filter: type: MatMul").click()
    tab.locator(COUNT, has_text="3 of 12 rows").wait_for()
    page.check()


def test_conditions_on_numbers_are_typed_or_chosen_and_nonsense_is_ignored(page):
    tab = page.tab
    search = tab.locator("[data-block=ops] input[type=search]")
    search.fill("self time > 0.018 ms")
    tab.locator(COUNT, has_text="3 of 12 rows").wait_for()
    search.press("Enter")
    tab.get_by_role("button", name="Remove filter: self time > 18 µs").wait_for()
    assert search.input_value() == ""
    tab.locator("[data-block=ops] summary", has_text="Filter").click()
    tab.get_by_label("Column to filter by").select_option("total_self_time")
    tab.get_by_label("Condition").select_option("at most")
    tab.get_by_label("Number in µs").fill("20")
    tab.get_by_label("Number in µs").press("Enter")
    tab.locator(COUNT, has_text="2 of 12 rows").wait_for()
    assert cells(page, "total_self_time") == ["20", "19"]
    page.go("op-stats", "?_filter-ops=gone%3E%3D1;total_self_time%3E%3Dx;%25&_sort-ops=x")
    tab.locator(COUNT, has_text="12 rows").wait_for()
    page.go("op-stats", "?_columns-ops=,,x&_group-ops=y&_filter-ops=total_self_time%3E%3D1e99")
    tab.locator("[data-block=ops] td", has_text="No row meets all filters.").wait_for()
    assert len(headers(page)) > 3
    page.check()


def test_groups_and_the_foot_have_sums_of_what_adds_up(page):
    tab = page.tab
    foot = tab.locator("[data-block=ops] tfoot")
    place = cells(page, "total_self_time")
    assert sum(map(float, place)) == 186  # 10 + 11 + ... + 21
    assert foot.inner_text().split("\t")[:2] == ["Sum of 12 rows", "186"]
    tab.get_by_label("Group by").select_option("type")
    assert cells(page, "operation") == ["▸ MatMul 8 rows", "▸ Relu 4 rows"]
    assert cells(page, "total_self_time") == ["120", "66"]
    assert cells(page, "avg_self_time") == ["", ""]
    tab.locator("tr.group button").first.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("tr.group button:focus").get_attribute("aria-expanded") == "true"
    assert len(cells(page, "operation")) == 10
    opened_again(page)
    assert len(cells(page, "operation")) == 10
    tab.get_by_label("Group by").select_option("")
    assert cells(page, "total_self_time") == place
    page.check()


def test_what_is_shown_is_copied_and_saved(page):
    tab = page.tab
    page.go("op-stats", "?_columns-ops=total_self_time,type&_filter-ops=total_self_time%3E%3D20")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="CSV").click()
    assert saved.value.suggested_filename == "ops.csv"
    assert saved.value.path().read_text("utf-8").splitlines() == [
        "op,self time (µs),type",
        f"{NAMES[11]},21,Relu",
        f"{NAMES[10]},20,MatMul",
    ]
    # A report is a file, where browsers may keep the clipboard to themselves.
    tab.evaluate(
        "Object.defineProperty(navigator, 'clipboard',"
        " { value: { writeText: async text => { window.copied = text } } })"
    )
    tab.get_by_role("button", name="Copy").click()
    tab.locator(COUNT, has_text="2 rows copied").wait_for()
    assert tab.evaluate("copied.split('\\n')[1].split('\\t')") == [NAMES[11], "21", "Relu"]
    page.check()


def test_a_column_is_as_wide_as_its_edge_is_put(page):
    tab = page.tab
    head = tab.locator("[data-block=ops] th[data-column=operation]")
    edge = head.get_by_role("separator")
    width = head.bounding_box()["width"]
    edge.focus()
    tab.keyboard.press("ArrowRight")
    assert head.bounding_box()["width"] == pytest.approx(width + 16, abs=1)
    assert int(edge.get_attribute("aria-valuenow")) == pytest.approx(width + 16, abs=1)
    box = edge.bounding_box()
    tab.mouse.move(box["x"] + 2, box["y"] + 5)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 62, box["y"] + 5)
    tab.mouse.up()
    assert head.bounding_box()["width"] == pytest.approx(width + 76, abs=2)
    edge.dblclick()
    cell = tab.locator("[data-block=ops] td").first
    assert cell.inner_text() == NAMES[11]
    assert cell.evaluate("each => each.scrollWidth <= each.clientWidth")
    page.check()


KEY_COLUMNS = {
    "op-stats": ("ops", "operation total_self_time device_total_self_time_percent occurrences"),
    "hlo-stats": (
        "instructions",
        "hlo_op_name total_self_time total_self_time_percent occurrences bound_by"
        " model_flop_rate measured_memory_bw",
    ),
    "roofline": (
        "ops",
        "operation total_self_time total_self_time_percent occurrences roofline_efficiency bound_by"
        " measured_flop_rate",
    ),
    "kernel-stats": ("kernels", "kernel_name total_duration_us total_duration_share occurrences"),
}


def test_key_columns_are_in_sight_and_on_paper(watched, report_file):
    site = Site(open_paths([folder("gpu-rocm-jax-attention")]))
    page = watched().open(report_file(report(site, [*KEY_COLUMNS])))
    for name, (block, ids) in KEY_COLUMNS.items():
        page.go(name)
        table = page.tab.locator(f"[data-block={block}]")
        shown = table.locator("th").evaluate_all("all => all.map(each => each.dataset.column)")
        assert shown[: len(ids.split())] == ids.split()
        edge = table.locator(".scroller").bounding_box()
        last = table.locator("th").nth(len(ids.split()) - 1).bounding_box()
        assert last["x"] + last["width"] <= edge["x"] + edge["width"]
    page.go("roofline")
    table = page.tab.locator("[data-block=ops]")
    # Shares have bars, efficiencies a colour.
    assert table.locator("tbody td.part").count() >= 25
    assert table.locator("tbody td.graded").count() >= 20
    n_columns = table.locator("th").count()
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert table.locator("th").count() == 12
    assert f"{n_columns - 12} more columns not printed" in table.inner_text()
    page.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert table.locator("th").count() == n_columns
    page.check()


def test_the_chosen_tab_is_in_the_address(page):
    page.tab.get_by_role("tab", name="With idle time").click()
    again = page.tab.url
    page.tab.goto("about:blank")
    page.open(again, "op-stats")
    chosen = page.tab.locator("[role=tab][aria-selected=true]")
    assert chosen.inner_text() == "With idle time"
    page.check()


def test_each_block_of_tabs_has_its_own_choice_in_the_address(watched, report_file):
    blocks = [
        tabs(name, [("one", [words([f"{name} 1"])]), ("two", [words([f"{name} 2"])])])
        for name in ("a", "b")
    ]
    page = watched().open(report_file(one_page(Page("x", "X", "", blocks), "a file")))
    page.tab.get_by_role("tab", name="two").last.click()
    again = page.tab.url
    page.tab.goto("about:blank")
    page.open(again, "x")
    assert page.tab.get_by_role("tabpanel").all_inner_texts() == ["a 1", "b 2"]
    page.check()


def test_bars_of_names_that_begin_and_end_alike_have_different_labels(page):
    names = page.tab.locator("[data-block=host_by_op] .parts .name").all_inner_texts()
    assert len(names) > 8
    assert len(set(names)) == len(names)
