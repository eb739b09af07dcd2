"""The trace viewer in a browser: zoom, pan, details, search, ranges, keys; served and mailed."""

import contextlib
import json
from dataclasses import replace

import pytest

from tests.ui.web.conftest import running
from tfprof import tools
from tfprof.inputs.open_paths import opened_trace
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.trace import embedded, statements
from tfprof.ui.web.report import report
from tfprof.ui.web.server import application

pytestmark = pytest.mark.browser

OP = "dense/MatMul:MatMul"
COUNT = ".trace-search [role=status]"
HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def site():
    steps = [event("train", 1000 * at, 900, step_num=at, _r=1) for at in range(4)]
    ops = [event("dense/MatMul:MatMul", 1000 * at + 100, 300, correlation_id=at) for at in range(4)]
    inner = [event(HOSTILE, 1000 * at + 150, 100, note=f"{at}<b>") for at in range(4)]
    memory = [
        event("MemoryAllocation", 1000 * at + 10, 0, allocator_name="GPU_0_bfc",
              bytes_allocated=100 * at, bytes_reserved=10)
        for at in range(4)
    ]  # fmt: skip
    tiny = [event("tiny", at, 1) for at in range(0, 4000, 2)]
    kernels = [event("sgemm", 1000 * at + 500, 200, correlation_id=at) for at in range(4)]
    space = xspace(
        host(line(*steps, *ops, *inner, *memory, name="python"), line(*tiny, id=2, name="pool")),
        gpu(line(*kernels, id=14, name="Stream #14")),
    )
    return Site([opened_run(tools.open_run(space), "run.xplane.pb")])


@pytest.fixture(scope="module")
def server(site):
    with running(application(site)) as address:
        yield address


@pytest.fixture(params=["served", "mailed"])
def page(request, site, watched, report_file):
    """The viewer, drawn, from a server and in a report."""
    if request.param == "served":
        address = request.getfixturevalue("server")
        made = watched(address).open(f"{address}#/trace", "trace")
    else:
        made = watched().open(report_file(report(site, ["trace"])), "trace")
    drawn(made)
    return made


def drawn(page):
    page.tab.wait_for_function(
        "() => { const all = document.querySelector('.trace');"
        "return all?.dataset.waiting === 'false' && Number(all.dataset.marks) > 0 }"
    )


def view(page):
    """From when to when is shown."""
    return list(map(int, page.tab.locator(".trace").get_attribute("data-view").split()))


def moved(page, before):
    """The view once it is another one than before."""
    page.tab.wait_for_function(
        "before => document.querySelector('.trace').dataset.view !== before",
        arg=" ".join(map(str, before)),
    )
    return view(page)


def key(page, name):
    page.tab.locator(".trace-frame").focus()
    page.tab.keyboard.press(name)


WHOLE = (-79980, 4078980)


def whole(page):
    """Show all of the trace: it opens at a step."""
    key(page, "0")
    page.tab.wait_for_function(
        "whole => document.querySelector('.trace').dataset.view === whole",
        arg=" ".join(map(str, WHOLE)),
    )
    drawn(page)


def said(page, where, pattern):
    """Wait until an element has a text."""
    page.tab.wait_for_function(
        "([where, pattern]) => [...document.querySelectorAll(where)].some("
        "each => new RegExp(pattern).test(each.textContent))",
        arg=[where, pattern],
    )


def test_zoom_and_pan_by_mouse_and_keyboard(page):
    whole(page)
    canvas = page.tab.locator(".trace-canvas")
    box = canvas.bounding_box()
    page.tab.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 60)
    page.tab.keyboard.down("Control")
    page.tab.mouse.wheel(0, -240)
    page.tab.keyboard.up("Control")
    t0, t1 = moved(page, WHOLE)
    assert 0 < t0 < t1 < 4_000_000 and t1 - t0 < 3_000_000
    page.tab.mouse.down()
    page.tab.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + 60, steps=4)
    page.tab.mouse.up()
    left = moved(page, (t0, t1))
    assert left[0] < t0 and abs((left[1] - left[0]) - (t1 - t0)) < 5
    for pressed, wider in (("w", False), ("s", True), ("d", None), ("a", None)):
        had = view(page)
        key(page, pressed)
        now = moved(page, had)
        assert wider is None or (now[1] - now[0] > had[1] - had[0]) == wider
    page.tab.wait_for_function("() => location.hash.includes('t0=')")
    key(page, "0")
    page.tab.wait_for_function("() => location.hash.includes('t0=-79980&t1=4078980')")
    key(page, "9")
    page.tab.wait_for_function("() => !location.hash.includes('t0=')")
    page.check()


def test_a_click_shows_all_that_is_known(page):
    whole(page)
    # The track of python is the first of the host: the hostile event is on its third lane.
    labels = page.tab.locator(".trace-label.track", has_text="python")
    top = labels.bounding_box()
    canvas = page.tab.locator(".trace-canvas").bounding_box()
    first, last = -0.02 * 3_999_000, 1.02 * 3_999_000
    x = canvas["x"] + canvas["width"] * (200_000 - first) / (last - first)
    page.tab.mouse.move(x, top["y"] + 1 + 2.5 * 17)
    page.tab.wait_for_selector(".tooltip:not([hidden])")
    assert HOSTILE in page.tab.locator(".tooltip").inner_text()
    page.tab.mouse.click(x, top["y"] + 1 + 2.5 * 17)
    details = page.tab.locator(".trace-details")
    details.wait_for()
    assert details.locator("h2").inner_text() == HOSTILE
    assert "0<b>" in details.locator(".arguments").inner_text()
    assert "100 ns" in details.locator(".facts").inner_text()
    assert details.locator(".path .event").all_inner_texts() == ["train 0", OP]
    page.tab.wait_for_function("() => location.hash.includes('sel=')")
    details.locator(".path .event").nth(1).click()
    said(page, ".trace-details h2", "^dense/MatMul:MatMul$")
    assert "Leads to (1)" in details.inner_text()
    details.locator(".partners .event").click()
    said(page, ".trace-details h2", "^sgemm$")
    key(page, ".")
    page.tab.wait_for_function("() => location.hash.includes('.1')")
    key(page, "Escape")
    assert details.count() == 0
    page.check()


@pytest.mark.parametrize("way", ["served", "mailed"])
def test_events_are_found_by_their_names_in_full(way, watched, report_file):
    ops = {"a/Relu:Relu": "Relu", "b/Relu:Relu": "Relu"}
    events = [event(name, 100 * at + 10 * i, 5) for at in range(3) for i, name in enumerate(ops)]
    site = Site([opened_run(tools.open_run(xspace(host(line(*events), display=ops))))])
    where = "#/trace?find=b%2FRelu"
    with contextlib.ExitStack() as stack:
        if way == "served":
            address = stack.enter_context(running(application(site)))
            made = watched(address).open(f"{address}{where}", "trace")
        else:
            made = watched().open(report_file(report(site, ["trace"])) + where, "trace")
        made.tab.wait_for_selector(".trace-details")
        assert made.tab.locator(".trace-details h2").inner_text() == "Relu"
        said(made, COUNT, "^1 of 3$")
        assert made.tab.locator(".nothing-found").inner_text() == ""
        assert "b/Relu:Relu" in made.tab.locator(".trace-arguments").inner_text()
        made.check()


def test_search_goes_from_one_to_the_next(page):
    key(page, "/")
    page.tab.keyboard.type("MATMUL")
    said(page, COUNT, "^4 events")
    for rank in (1, 2, 3):
        page.tab.keyboard.press("Enter")
        said(page, COUNT, f"^{rank} of 4$")
    key(page, "N")
    said(page, COUNT, "^2 of 4$")
    assert page.tab.locator(".trace-details h2").inner_text() == OP
    page.tab.locator(".trace-search input[type=search]").fill("(")
    page.tab.locator(".trace-search input[type=checkbox]").check()
    said(page, COUNT, "egular expression")
    page.troubles[:] = [each for each in page.troubles if "400" not in each]
    page.check()


def test_a_step_is_a_range_with_its_time_by_name(page):
    whole(page)
    ruler = page.tab.locator(".trace-ruler").bounding_box()
    x = ruler["x"] + ruler["width"] * (1_450_000 + 80_000) / (3_999_000 * 1.04)
    page.tab.mouse.click(x, ruler["y"] + 32)
    table = page.tab.locator(".trace-range [data-block=names]")
    table.wait_for()
    assert "MatMul" in table.inner_text() and HOSTILE in table.inner_text()
    heading = page.tab.locator(".trace-heading").inner_text()
    # A step lasts until the next one starts: 1 µs, although its mark is closed after 900 ns.
    assert heading == "1.00 µs, from 1.000 µs to 2.000 µs, all tracks"
    table.locator("tr", has_text="sgemm").click()
    page.tab.wait_for_function(
        "() => document.querySelector('.trace-search input').value === 'sgemm'"
    )
    page.check()


def test_any_range_is_measured_and_summed_by_the_server(server, watched):
    page = watched(server).open(f"{server}#/trace", "trace")
    drawn(page)
    whole(page)
    ruler = page.tab.locator(".trace-ruler").bounding_box()
    page.tab.mouse.move(ruler["x"] + 300, ruler["y"] + 10)
    page.tab.mouse.down()
    page.tab.mouse.move(ruler["x"] + 500, ruler["y"] + 10, steps=3)
    page.tab.mouse.up()
    page.tab.locator(".trace-range [data-block=names]").wait_for()
    events = page.tab.locator(".trace-range [data-block=events]")
    events.wait_for()
    inside = page.tab.locator(".trace-range").get_by_role("button", name="Flame graph")
    assert inside.get_attribute("aria-pressed") == "true"
    events.locator("tbody tr", has_text="tiny").first.click()
    page.tab.locator(".trace-details").wait_for()
    assert page.tab.locator(".trace-details h2").inner_text() == "tiny"
    assert page.tab.locator(".trace-links a").count() == 0
    page.tab.goto("about:blank")  # which writes its state into the address no more
    page.tab.goto(f"{server}#/trace?find=MatMul")
    page.wait("trace")
    page.tab.locator(".trace-links a", has_text="ops").click()
    page.wait("op-stats")
    assert "dense/MatMul" in page.tab.locator("[data-block=ops] tbody").inner_text()
    page.go("trace")
    drawn(page)
    page.tab.locator(".trace-label.track .name", has_text="pool").click()
    said(page, ".trace-heading", "pool$")
    page.check()


def test_processes_fold_tracks_are_pinned_and_keys_are_listed(page):
    whole(page)
    names = page.tab.locator(".trace-label.track .name")
    n_tracks = names.count()
    page.tab.locator(".trace-label .pin").last.click()
    page.tab.locator(".trace-label.pinned").wait_for()
    page.tab.locator(".trace-label.process button").first.focus()
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_function(
        "n => document.querySelectorAll('.trace-label.track .name').length < n", arg=n_tracks
    )
    assert page.tab.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
    key(page, "?")
    assert page.tab.locator(".trace-keys").is_visible()
    page.tab.locator("label", has_text="all arrows").locator("input").check()
    said(page, ".trace .tools > [role=status]", "^4 arrows")
    page.tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.check()


def test_an_address_opens_the_same_view(server, watched):
    page = watched(server).open(f"{server}#/trace?t0=1000000&t1=2000000&sel=0.0", "trace")
    drawn(page)
    page.tab.locator(".trace-details").wait_for()
    key(page, "a")
    t0, t1 = moved(page, (1000000, 2000000))
    assert t1 - t0 == 1_000_000 and t0 < 1_000_000
    page.check()


def test_a_report_says_what_it_merges(site, watched, report_file, monkeypatch):
    documents = embedded.trace_documents
    monkeypatch.setattr(embedded, "trace_documents", lambda made: documents(made, 3000))
    page = watched().open(report_file(report(site, ["trace"])), "trace")
    drawn(page)
    assert "shows 2,020 events as" in page.tab.locator(".trace-remark").inner_text()
    page.check()


def test_a_trace_of_another_program(tmp_path, watched, report_file):
    events = [{"ph": "X", "name": f"call {at}", "ts": at * 10, "dur": 8, "pid": 1, "tid": 1}
              for at in range(50)]  # fmt: skip
    path = tmp_path / "other.json"
    path.write_text(json.dumps([*events, {"ph": "?", "ts": 1}]))
    page = watched(viewport={"width": 700, "height": 800})
    page.open(report_file(report(Site([opened_trace(path)]))), "trace")
    drawn(page)
    assert int(page.tab.locator(".trace").get_attribute("data-marks")) == 50
    assert "1 events are not shown" in page.tab.locator(".notes").text_content()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 700
    page.check()


@pytest.mark.parametrize("width", [1400, 700])
def test_details_of_a_clicked_event_are_in_sight_and_the_timeline_fills_the_window(
    site, watched, report_file, width
):
    page = watched(viewport={"width": width, "height": 900})
    page.open(report_file(report(site, ["trace"])), "trace")
    drawn(page)
    frame = page.tab.locator(".trace-frame")
    assert frame.bounding_box()["y"] < (130 if width > 1000 else 420)
    assert page.tab.evaluate("document.documentElement.scrollHeight") <= 900
    frame.focus()
    page.tab.keyboard.press(".")
    box = page.tab.locator(".trace-details h2").bounding_box()
    assert 0 <= box["y"] < 880 and box["x"] + box["width"] <= width
    assert page.tab.evaluate("scrollY") == 0
    page.tab.get_by_role("button", name="Close").click()
    page.tab.locator(".trace-details").wait_for(state="detached")
    frame.focus()
    page.tab.keyboard.press("F")
    assert page.tab.locator(".trace").bounding_box()["x"] == 0
    page.tab.get_by_role("button", name="Back to the page").click()
    assert page.tab.locator(".trace.full").count() == 0
    page.check()


def test_the_width_of_the_names_can_be_changed(site, watched, report_file):
    page = watched().open(report_file(report(site, ["trace"])), "trace")
    drawn(page)
    labels = page.tab.locator(".trace-labels")
    before = labels.bounding_box()["width"]
    page.tab.get_by_role("separator", name="Width of the names").focus()
    page.tab.keyboard.press("ArrowRight")
    assert labels.bounding_box()["width"] == pytest.approx(before + 24, abs=1)
    page.check()


def test_it_opens_at_the_slowest_whole_step(site, page):
    [block] = [each for each in site.page("trace", {}).blocks if each["kind"] == "trace"]
    start, end = (
        block["steps"]["starts"][block["slowest"]],
        block["steps"]["ends"][block["slowest"]],
    )
    t0, t1 = view(page)
    assert t0 < start < end < t1 and t1 - t0 < 1.3 * (end - start)
    said(page, ".trace-status", f"^The slowest whole step, train {block['slowest']}: 1.00 µs.")
    whole(page)
    key(page, "9")
    assert moved(page, WHOLE) == [t0, t1]
    page.check()


def test_a_search_lists_its_hits_and_names_a_wrong_term(page):
    key(page, "/")
    page.tab.keyboard.type("dur>200ns track:PYTHON dur<1us")
    said(page, COUNT, "^8 events, 5 names$")
    hits = page.tab.locator(".trace-hits .hit")
    assert hits.count() == 8
    assert hits.nth(1).inner_text().split("\n") == [OP, "100 ns", "300 ns", "python"]
    hits.nth(3).click()
    said(page, COUNT, "^4 of 8$")
    assert page.tab.locator(".trace-details h2").inner_text() == OP
    page.tab.locator(".trace-hits").focus()
    page.tab.keyboard.press("ArrowDown")
    said(page, COUNT, "^5 of 8$")
    assert page.tab.locator(".hit[aria-selected=true]").inner_text().startswith("train 2")
    page.tab.locator(".trace-search input[type=search]").fill('arg:"note=2<b>"')
    said(page, COUNT, "^no such event")
    page.tab.locator(".trace-search input[type=search]").fill("arg:note=2<b>")
    said(page, COUNT, "^1 event, 1 name$")
    page.tab.locator(".trace-search input[type=search]").fill("MatMul dur>5")
    said(page, COUNT, "^dur>5 is not a condition on durations; write dur>1ms")
    page.troubles[:] = [each for each in page.troubles if "400" not in each]
    page.check()


def test_tracks_are_filtered_and_moved(page):
    whole(page)
    names = page.tab.locator(".trace-label.track .name")
    assert names.all_inner_texts()[-2:] == ["python", "pool"]
    names.nth(-1).focus()
    page.tab.keyboard.press("Alt+ArrowUp")
    page.tab.wait_for_function(
        "() => [...document.querySelectorAll('.trace-label.track .name')].at(-1).textContent"
        " === 'python'"
    )
    names.nth(-1).drag_to(names.nth(-2))
    page.tab.wait_for_function(
        "() => [...document.querySelectorAll('.trace-label.track .name')].at(-1).textContent"
        " === 'pool'"
    )
    page.tab.get_by_label("Kind of tracks").select_option("python")
    page.tab.wait_for_function("() => document.querySelectorAll('.trace-label.track').length === 1")
    page.tab.get_by_label("Kind of tracks").select_option("")
    page.tab.get_by_label("Filter tracks").fill("STREAM")
    page.tab.wait_for_function(
        "() => [...document.querySelectorAll('.trace-label')].map(each => each.innerText)"
        ".every(each => !each.includes('python'))"
    )
    page.tab.wait_for_function("() => location.hash.includes('_tracks=STREAM')")
    page.check()


def test_keys_go_from_event_to_event(page):
    whole(page)
    page.tab.locator(".trace-label.track .name", has_text="python").click()  # selects the track
    key(page, "Escape")
    page.tab.locator(".trace-search input[type=search]").fill("MatMul")
    said(page, COUNT, "^4 events")
    page.tab.locator(".trace-hits .hit").nth(1).click()
    said(page, ".trace-status", f"^{OP}: at 1.100 µs, 300 ns, on python$")
    key(page, "]")
    said(page, ".trace-status", r"^sgemm: at 1.500 µs, 200 ns, on Stream #14")
    key(page, "]")
    said(page, ".trace-status", r"^No arrow leads from this event")
    key(page, "[")
    said(page, ".trace-status", f"^{OP}: at 1.100")
    key(page, "ArrowRight")
    said(page, ".trace-status", "^<img src=x")
    key(page, "ArrowDown")
    said(page, ".trace-status", "^tiny: at 1.150 µs, 1.00 ns, on pool$")
    key(page, "ArrowUp")
    said(page, ".trace-status", "^<img src=x .* at 1.150 µs, 100 ns, on python$")
    page.check()


def test_the_details_move_below_and_stay_in_the_address(page):
    whole(page)
    panel, frame = page.tab.locator(".trace-panel"), page.tab.locator(".trace-frame")
    beside = panel.bounding_box()
    assert beside["x"] > frame.bounding_box()["x"] + frame.bounding_box()["width"] - 1
    page.tab.get_by_role("button", name="Details below the timeline").click()
    below = panel.bounding_box()
    assert below["y"] > frame.bounding_box()["y"] + frame.bounding_box()["height"] - 1
    page.tab.wait_for_function("() => location.hash.includes('_dock=below')")
    page.tab.get_by_role("separator", name="Size of the details").focus()
    page.tab.keyboard.press("ArrowUp")
    assert panel.bounding_box()["height"] == pytest.approx(below["height"] + 24, abs=1)
    key(page, "e")
    assert not panel.is_visible()
    key(page, ".")
    page.tab.locator(".trace-details").wait_for()  # what is selected is shown
    key(page, "s")
    assert page.tab.locator(".trace-details").is_visible()
    page.check()


def dragged(page, first, last):
    ruler = page.tab.locator(".trace-ruler").bounding_box()
    page.tab.mouse.move(ruler["x"] + first * ruler["width"], ruler["y"] + 10)
    page.tab.mouse.down()
    page.tab.mouse.move(ruler["x"] + last * ruler["width"], ruler["y"] + 10, steps=3)
    page.tab.mouse.up()


def test_two_ranges_are_compared(page):
    whole(page)
    dragged(page, 0.1, 0.3)
    key(page, "A")
    said(page, ".trace-range", "This is A")
    dragged(page, 0.5, 0.9)
    if page.tab.evaluate("Boolean(document.getElementById('site'))"):
        said(page, ".trace-range", "“tfprof ui” compares ranges")
    else:
        table = page.tab.locator(".trace-range [data-block=difference]")
        table.wait_for()
        assert "tiny" in table.inner_text()
        said(
            page,
            ".trace-range",
            r"A is [\d.]+ ns with .* of self time, this range, B, is 1\.[\d]+ µs",
        )
        page.tab.get_by_role("button", name="Swap A and B").click()
        said(page, ".trace-range", r"A is 1\.[\d]+ µs")
    page.tab.get_by_role("button", name="Forget A").click()
    page.tab.wait_for_function("() => !location.hash.includes('_a0')")
    page.check()


def test_a_statement_in_sql_finds_events(server, watched):
    pytest.importorskip("duckdb")
    page = watched(server).open(f"{server}#/trace", "trace")
    drawn(page)
    page.tab.get_by_role("button", name="SQL").click()
    page.tab.keyboard.type("select host, event_id, name from events where name = 'sgemm'")
    page.tab.keyboard.press("Enter")
    said(page, COUNT, "^4 events, 1 name$")
    page.tab.locator(".trace-found tbody tr").nth(2).click()
    said(page, COUNT, "^3 of 4$")
    assert page.tab.locator(".trace-details h2").inner_text() == "sgemm"
    page.tab.get_by_label("Statement in SQL").fill(
        "select start_ps, duration_ps from steps where step = 'train 1'"
    )
    page.tab.keyboard.press("Enter")
    page.tab.locator(".trace-found tbody tr").filter(has_text="1,000,000").click()
    said(page, ".trace-heading", "^1.00 µs, from 1.000 µs to 2.000 µs")
    page.tab.get_by_label("Statement in SQL").fill("drop table events")
    page.tab.keyboard.press("Enter")
    said(page, COUNT, "DROP is not allowed")
    page.troubles[:] = [each for each in page.troubles if "400" not in each]
    page.check()


def test_rows_of_a_statement_become_a_track(server, watched):
    pytest.importorskip("duckdb")
    page = watched(server).open(f"{server}#/trace", "trace")
    drawn(page)
    page.tab.get_by_role("button", name="SQL").click()
    pin = page.tab.get_by_role("button", name="Pin as a track")
    field = page.tab.get_by_label("Statement in SQL")
    field.fill("select name, count(*) as n from events group by name")
    page.tab.keyboard.press("Enter")
    page.tab.locator(".trace-found tbody tr").first.wait_for()
    assert pin.is_hidden()  # no row has a time
    field.fill("select step as name, start_ps, duration_ps from steps where step = 'train 1'")
    page.tab.keyboard.press("Enter")
    pin.click()
    label = page.tab.locator(".trace-label.query")
    assert label.inner_text().startswith("select step as name")
    assert label.get_attribute("title").endswith("\n1 row")
    whole(page)

    def click_step():
        box, canvas = label.bounding_box(), page.tab.locator(".trace-canvas").bounding_box()
        x = canvas["width"] * (1_500_000 - WHOLE[0]) / (WHOLE[1] - WHOLE[0])
        page.tab.mouse.click(canvas["x"] + x, box["y"] + 8)
        said(page, ".trace-heading", "^1.00 µs, from 1.000 µs to 2.000 µs")

    click_step()
    page.tab.wait_for_function("() => location.hash.includes('_queries=')")
    page.tab.reload()
    page.wait("trace")
    said(page, ".trace-label.query", "select step as name")
    page.tab.wait_for_function(
        "() => document.querySelector('.trace-label.query').title.endsWith('1 row')"
    )
    click_step()
    label.get_by_role("button").click()
    page.tab.wait_for_function("() => !location.hash.includes('_queries')")
    assert label.count() == 0
    page.check()


def test_without_duckdb_there_is_no_field_for_sql(site, watched, monkeypatch):
    monkeypatch.setattr(statements, "find_spec", lambda name: None)
    with running(application(site)) as address:
        page = watched(address)
        with page.tab.expect_response("**/sql/here*"):
            page.open(f"{address}#/trace", "trace")
        drawn(page)
        assert page.tab.get_by_role("button", name="SQL").count() == 0
        page.check()


def test_a_report_has_no_field_for_sql(site, watched, report_file):
    page = watched().open(report_file(report(site, ["trace"])), "trace")
    drawn(page)
    assert page.tab.get_by_role("button", name="SQL").count() == 0
    page.check()


@pytest.mark.parametrize("way", ["served", "mailed"])
def test_two_runs_show_the_same_step_at_the_same_place(way, watched, report_file):
    def run_of(name, begin):
        steps = [event("train", begin + 1000 * at, 900, step_num=at, _r=1) for at in range(4)]
        first = event("start", 0, 10)
        return replace(opened_run(tools.open_run(xspace(host(line(first, *steps))))), name=name)

    site = Site([run_of("slow", 3000), run_of("fast", 500)])
    where = "#/trace?against=fast"
    with contextlib.ExitStack() as stack:
        if way == "served":
            address = stack.enter_context(running(application(site)))
            page = watched(address).open(f"{address}{where}", "trace")
        else:
            content = report(site, ["trace"], {"against": "fast"})
            page = watched().open(report_file(content) + where, "trace")
        page.tab.wait_for_function(
            "() => document.querySelectorAll('.trace[data-view]').length === 2"
        )
        # The same step begins 2.5 µs earlier in the other one.
        apart = """by => {
            const [a, b] = [...document.querySelectorAll('.trace')].map(
                each => each.dataset.view.split(' ').map(Number));
            return a[1] - a[0] < by
                && a.every((time, at) => Math.abs(time - b[at] - 2_500_000) < 3);
        }"""
        page.tab.wait_for_function(apart, arg=2_000_000)
        page.tab.locator(".trace-frame").nth(1).focus()
        page.tab.keyboard.press("w")
        page.tab.keyboard.press("w")
        page.tab.wait_for_function(apart, arg=1_000_000)
        assert page.tab.locator(".trace .tools > b").all_inner_texts() == ["slow", "fast"]
        page.check()


def test_the_map_shows_the_whole_trace_and_moves_what_is_in_sight(page):
    box = page.tab.locator(".trace-map").bounding_box()
    before = view(page)  # the slowest step, a quarter of the trace
    page.tab.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 8)
    middle = moved(page, before)
    assert sum(middle) / 2 == pytest.approx(sum(WHOLE) / 2, abs=20_000)
    assert middle[1] - middle[0] == pytest.approx(before[1] - before[0], abs=5)
    page.tab.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 8)
    page.tab.mouse.down()
    page.tab.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 8, steps=3)
    page.tab.mouse.up()
    chosen = moved(page, middle)
    assert chosen[1] - chosen[0] == pytest.approx((WHOLE[1] - WHOLE[0]) * 0.1, rel=0.1)
    page.check()


def test_below_a_track_stands_how_busy_it_is(page):
    whole(page)
    label = page.tab.locator(".trace-label.track", has_text="Stream #14").bounding_box()
    canvas = page.tab.locator(".trace-canvas").bounding_box()
    x = canvas["x"] + canvas["width"] * (600_000 - WHOLE[0]) / (WHOLE[1] - WHOLE[0])
    for _ in range(50):  # the shares come after the first picture
        page.tab.mouse.move(x, label["y"] + label["height"] - 4)
        page.tab.mouse.move(x + 1, label["y"] + label["height"] - 3)
        if page.tab.locator(".tooltip:not([hidden])").count():
            break
        page.tab.wait_for_timeout(50)
    assert page.tab.locator(".tooltip").inner_text().startswith("Stream #14\nbusy 100.0 %")
    page.check()


def test_a_drag_over_tracks_selects_a_range_of_these_alone(server, watched):
    page = watched(server).open(f"{server}#/trace", "trace")
    drawn(page)
    whole(page)
    canvas = page.tab.locator(".trace-canvas").bounding_box()
    stream = page.tab.locator(".trace-label.track", has_text="Stream #14").bounding_box()
    x = [canvas["x"] + canvas["width"] * part for part in (0.1, 0.9)]
    page.tab.keyboard.down("Shift")
    page.tab.mouse.move(x[0], stream["y"] + 5)
    page.tab.mouse.down()
    page.tab.mouse.move(x[1], stream["y"] + 12, steps=3)
    page.tab.mouse.up()
    page.tab.keyboard.up("Shift")
    said(page, ".trace-heading", "Stream #14$")
    table = page.tab.locator(".trace-range [data-block=names]")
    table.wait_for()
    assert "sgemm" in table.inner_text() and "tiny" not in table.inner_text()
    pool = page.tab.locator(".trace-label.track .name", has_text="pool")
    pool.click(modifiers=["Control"])
    said(page, ".trace-heading", ", 2 tracks$")
    said(page, ".trace-range [data-block=names]", "tiny")
    page.tab.wait_for_function("() => /_on=\\w+(,|%2C)\\w+/.test(location.hash)")
    page.tab.reload()
    page.wait("trace")
    said(page, ".trace-heading", ", 2 tracks$")
    page.tab.get_by_role("button", name="All tracks").click()
    said(page, ".trace-heading", ", all tracks$")
    said(page, ".trace-range [data-block=names]", "MatMul")
    page.check()


def test_a_line_at_the_pointer_shows_its_time(page):
    whole(page)
    canvas = page.tab.locator(".trace-canvas").bounding_box()
    cursor = page.tab.locator(".trace-cursor")
    assert cursor.is_hidden()
    x = canvas["x"] + canvas["width"] * (1_500_000 - WHOLE[0]) / (WHOLE[1] - WHOLE[0])
    page.tab.mouse.move(x, canvas["y"] + 80)
    assert cursor.is_visible()
    assert cursor.bounding_box()["x"] == pytest.approx(x, abs=1.5)
    value, unit = cursor.inner_text().split()
    assert unit == "µs" and float(value) == pytest.approx(1.5, abs=0.01)
    page.tab.mouse.move(5, 5)
    assert cursor.is_hidden()
    page.check()


def test_notes_are_written_kept_and_deleted(page):
    whole(page)
    key(page, "t")
    field = page.tab.locator(".trace-notes input")
    assert field.input_value() == "note"
    field.fill("warm-up ends <b>")
    page.tab.wait_for_function("() => location.hash.includes('warm-up')")
    page.tab.reload()
    page.wait("trace")
    drawn(page)
    assert field.input_value() == "warm-up ends <b>"
    key(page, ".")  # the first event of the track
    page.tab.locator(".trace-details").wait_for()
    key(page, "t")
    page.tab.wait_for_function("() => document.querySelectorAll('.trace-notes input').length === 2")
    page.tab.get_by_role("button", name="Delete the note").first.click()
    page.tab.get_by_role("button", name="Delete the note").click()
    page.tab.wait_for_function("() => !location.hash.includes('_notes')")
    page.check()
