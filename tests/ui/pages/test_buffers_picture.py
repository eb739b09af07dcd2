"""The picture of the memory viewer."""

import pytest

from tests.captures.tools.oracle import folder
from tests.ui.pages.packed import unpacked
from tfprof.captures.all_tools import TOOLS
from tfprof.captures.run.run import open_run
from tfprof.ui.pages.tool_pages import tool_page

pytestmark = pytest.mark.one_engine


@pytest.fixture(scope="module")
def run():
    return open_run([str(path) for path in folder("tpu-v6e-jax").glob("*.xplane.pb*")])


def page_of(run, **params):
    return tool_page(TOOLS["memory-viewer"], run, params)


def picture(page):
    block = next(each for each in page.blocks if each["kind"] == "buffers")
    names = ("names", "kinds", "born", "dies", "offsets", "sizes", "padding", "at_peak")
    rows = zip(*(unpacked(block[name]) for name in names), strict=True)
    return block, [dict(zip(names, row, strict=True)) for row in rows]


def figures_of(page):
    block = next(each for each in page.blocks if each["kind"] == "figures")
    return {item["label"]: item["value"] for item in block["items"]}


def test_what_is_there_at_the_peak_adds_up_to_it(run):
    page = page_of(run)
    block, rows = picture(page)
    at_peak = [row for row in rows if row["at_peak"]]
    assert sum(row["sizes"] for row in at_peak) == figures_of(page)["peak"] == 21_474_836_512
    assert max(unpacked(block["levels"])) == figures_of(page)["peak"]
    assert figures_of(page)["padding at the peak"] == sum(row["padding"] for row in at_peak)
    there = [row for row in rows if row["born"] <= block["peak"] < row["dies"]]
    assert {row["names"] for row in there} == {row["names"] for row in at_peak}


@pytest.mark.parametrize("capture", ["tpu-v6e-jax", "cpu-xla", "cpu-jax-pmap", "gpu-rocm-jax-conv"])
def test_at_every_event_the_values_fill_what_is_in_use_and_none_lies_on_another(capture):
    run = open_run([str(path) for path in folder(capture).glob("*.xplane.pb*")])
    programs = page_of(run).controls[0].choices
    for program, _ in programs:
        page = page_of(run, program=program)
        block, rows = picture(page)
        levels = unpacked(block["levels"])
        for event in range(block["n_events"]):
            there = [row["sizes"] for row in rows if row["born"] <= event < row["dies"]]
            assert sum(there) == levels[event + 1], (program, event)
        for at, one in enumerate(rows):
            assert one["offsets"] + one["sizes"] <= block["total"]
            for other in rows[:at]:
                in_time = one["born"] < other["dies"] and other["born"] < one["dies"]
                in_place = (
                    one["offsets"] < other["offsets"] + other["sizes"]
                    and other["offsets"] < one["offsets"] + one["sizes"]
                )
                assert not (in_time and in_place), (program, one, other)


def test_another_memory_can_be_chosen(run):
    (control,) = [each for each in page_of(run).controls if each.name == "memory_space"]
    assert ("5", "memory of the host (memory space 5)") in list(control.choices)
    page = page_of(run, memory_space="5")
    block, rows = picture(page)
    assert block["n_events"] == 0
    assert {row["kinds"] for row in rows} == {"parameter"}
    assert figures_of(page)["peak"] == 3 * 5_368_709_120


def test_values_without_times_are_counted_below_the_picture(run):
    texts = [
        item["text"]
        for block in page_of(run).blocks
        if block["kind"] == "remarks"
        for item in block["items"]
    ]
    assert "6 values of temporary memory, 192 B, without times in the plan are not drawn." in texts
