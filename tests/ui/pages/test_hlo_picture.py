"""The picture of the graph viewer."""

import json

import pytest

from tests.captures.hlo.small_programs import INSIDE, MAIN
from tests.captures.tools.oracle import folder
from tests.hlo_programs import capture, op, program
from tfprof.captures.all_tools import TOOLS
from tfprof.captures.run.run import open_run
from tfprof.errors import UsageError
from tfprof.inputs.opened import opened_run
from tfprof.ui.pages.compare import compared
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.tool_pages import tool_page


@pytest.fixture(scope="module")
def run():
    return open_run(capture(program(main=MAIN, inside=INSIDE)))


def graph(run, **params):
    page = tool_page(TOOLS["graph-viewer"], run, params)
    return next(block for block in page.blocks if block["kind"] == "graph")


def boxes(block):
    return {node["id"]: node for node in block["nodes"]}


def lines(block):
    names = [node["id"] for node in block["nodes"]]
    return {(names[each["start"]], names[each["end"]]) for each in block["edges"]}


def test_boxes_at_the_border_have_handles_that_add_what_is_hidden(run):
    block = graph(run, node="f", width="1")
    assert set(boxes(block)) == {"b", "f", "c"}
    (above,) = boxes(block)["b"]["handles"]
    assert (above["side"], above["sign"]) == ("above", "+1")
    assert above["label"] == "show 1 input of b"
    added = graph(run, width="1", **above["params"])
    assert added["nodes"][added["focus"]]["id"] == "b"
    assert set(boxes(added)) == {"a", "b", "f", "c"}
    assert ("a", "b") in lines(added)
    # What was added can be followed, and taken away.
    (below,) = boxes(added)["a"]["handles"]
    assert (below["side"], below["label"]) == ("below", "show 1 user of a")
    both = graph(run, width="1", **{**above["params"], **below["params"]})
    assert set(boxes(both)) == {"a", "b", "f", "c", "d"}
    (hides,) = boxes(added)["b"]["handles"]
    assert hides["label"] == "hide the inputs of b"
    assert set(boxes(graph(run, width="1", **hides["params"]))) == {"b", "f", "c"}


def test_a_fusion_opens_in_place_and_closes(run):
    closed = graph(run, node="b", width="1")
    assert boxes(closed)["f"]["is_open"] is False
    opened = graph(run, width="1", **boxes(closed)["f"]["toggle"])
    place = list(boxes(opened)).index("f")
    assert boxes(opened)["f"]["is_open"]
    assert boxes(opened)["f/p"]["inside"] == boxes(opened)["f/t"]["inside"] == place
    assert ("f/p", "f/t") in lines(opened)
    assert set(boxes(graph(run, width="1", **boxes(opened)["f"]["toggle"]))) == set(boxes(closed))


def test_the_chosen_instruction_is_described_with_its_text(run):
    chosen = graph(run, node="f")["chosen"]
    facts = dict(map(tuple, chosen["facts"]))
    assert (facts["operation"], facts["shape"], facts["float operations"]) == (
        "fusion", "f32[4]", "4",
    )  # fmt: skip
    assert chosen["text"].splitlines() == [
        "%f = f32[4]{0} fusion(f32[4]{0} %b), kind=, calls=%inside", "", "%inside {",
        "  %p = f32[4]{0} parameter(0)", "  ROOT %t = f32[4]{0} tanh(f32[4]{0} %p)", "}",
    ]  # fmt: skip


def test_no_line_is_drawn_from_a_fusion_to_what_is_in_it(run):
    opened = graph(run, node="f", fusions="f")
    assert not {each for each in lines(opened) if each in {("f/t", "f"), ("b", "f/p")}}
    assert ("b", "f") in lines(opened)


def test_the_heaviest_instruction_comes_first_with_time_and_limit():
    (path,) = folder("gpu-rocm-jax-attention").glob("*.xplane.pb")
    block = graph(open_run(path))
    assert [each["id"] for each in block["measures"]][:2] == ["self_us", "bound_by"]
    heaviest = boxes(block)["gemm_fusion_dot_general.1"]
    assert block["nodes"][block["focus"]] == heaviest
    assert heaviest["weights"]["self_us"] == pytest.approx(359.9, abs=1)
    assert heaviest["weights"]["bound_by"] == "HBM"
    assert heaviest["weights"]["self_us"] == max(
        node["weights"]["self_us"] or 0 for node in block["nodes"]
    )


def test_too_many_boxes_are_cut_with_a_word():
    chain = [op("n0", "parameter", "f32[]")]
    chain += [op(f"n{n}", "negate", "f32[]", f"n{n - 1}") for n in range(1, 400)]
    page = tool_page(
        TOOLS["graph-viewer"], open_run(capture(program(main=chain))), {"width": "500"}
    )
    block = next(each for each in page.blocks if each["kind"] == "graph")
    assert len(block["nodes"]) == 300
    said = [
        item["text"] for each in page.blocks if each["kind"] == "remarks" for item in each["items"]
    ]
    assert "Only the nearest 300 instructions are drawn." in said


def test_the_text_of_the_program_is_data_of_its_own(run):
    page = tool_page(TOOLS["graph-viewer"], run, {"node": "b"})
    [block] = [each for each in page.blocks if each["kind"] == "program-text"]
    assert block["file"].endswith(".hlo.txt")
    site = Site([opened_run(run, "run")])
    text, dot = json.loads(site.data(block["path"], block["params"])).values()
    assert text.startswith("HloModule ") and "ENTRY %main {" in text and "%f = f32[4]" in text
    assert dot.startswith("digraph ") and '"b" -> "f";' in dot
    with pytest.raises(UsageError, match="no program"):
        site.data(block["path"], {"program": "nothing"})
    both = compared(page, page, ("run", "other"))
    texts = [each["params"] for each in both.blocks if each["kind"] == "program-text"]
    assert [each.get("run") for each in texts] == [None, "other"]
