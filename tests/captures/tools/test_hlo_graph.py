"""The graph viewer's data."""

import json

import pytest

from tests.captures.hlo.small_programs import INSIDE, MAIN
from tests.captures.tools.oracle import folder
from tests.hlo_programs import capture, op, program
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.hlo_graph import graph_viewer
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError


@pytest.fixture
def run():
    other = program(main=[op("z", "parameter", "f32[2]")])
    other.hlo_module.name = "other"
    return open_run(capture(other, program(main=MAIN, inside=INSIDE)))


def test_nodes_and_edges(run):
    result = graph_viewer(run, node="%f", width=1)
    assert result.data["program"] == "test(2)"
    nodes = result.to_rows("nodes")
    assert [node["instruction"] for node in nodes] == ["f", "b", "c"]
    assert (nodes[0]["flops"], nodes[0]["bytes_accessed"]) == (4, 32)
    assert nodes[0]["expression"] == "%f = f32[4]{0} fusion(f32[4]{0} %b), kind=, calls=%inside"
    assert result.to_rows("edges")[0] == {
        "tail": "b", "head": "f", "kind": "data", "shape": "f32[4]", "size_bytes": 16,
    }  # fmt: skip
    assert result.verdict == ("f is a fusion of b; 3 instructions.",)
    json.dumps(result.to_dict())


def test_without_a_node_it_is_what_the_program_returns(run):
    assert graph_viewer(run, program="test").data["center"] == "d"
    assert graph_viewer(run, program="other").data["center"] == "z"


def test_without_a_program_it_is_the_one_that_took_the_most_time_then_the_largest(run):
    assert graph_viewer(run).data["program"] == "test(2)"
    pmap = open_run([str(path) for path in folder("cpu-jax-pmap").glob("*.xplane.pb")])
    # It ran for 84.5 ms. The first of eight programs has two instructions, and did not run.
    result = graph_viewer(pmap)
    assert result.data["program"] == "jit__fun(6)"
    # So is the instruction.
    center = result.data["center"]
    assert result.verdict[0].startswith(f"{center} took the most time of its program: ")
    assert graph_viewer(pmap, node=center).verdict == result.verdict[1:]


def test_what_is_not_there_is_named(run):
    with pytest.raises(UsageError, match=r"no instruction 'q' in test.*, other"):
        graph_viewer(run, node="q")
    with pytest.raises(UsageError, match="width=-1"):
        graph_viewer(run, width=-1)
    with pytest.raises(UsageError, match="no program"):
        graph_viewer(run, program=9)


def test_nothing_to_show_has_a_reason():
    empty = graph_viewer(open_run(pb.XSpace(hostnames=["a"])))
    assert "no compiled programs" in empty.notes[0].message
    bare = graph_viewer(open_run(capture(pb.HloProto(hlo_module=pb.HloModuleProto(name="m")))))
    assert "no instructions" in bare.notes[0].message


def test_too_much_to_show_has_a_note():
    chain = [op("n0", "parameter", "f32[]")]
    chain += [op(f"n{n}", "negate", "f32[]", f"n{n - 1}") for n in range(1, 1200)]
    result = graph_viewer(open_run(capture(program(main=chain))), width=5000)
    assert len(result.table("nodes")) == 1000
    assert "nearest 1000" in result.notes[0].message


def test_a_real_program():
    (path,) = folder("gpu-rocm-jax-attention").glob("*.xplane.pb")
    run = open_run(path)
    folded = graph_viewer(run, program=59, node="loop_reduce_fusion")
    opened = graph_viewer(run, program=59, node="loop_reduce_fusion", expand_fusions=True)
    assert len(folded.table("nodes")) == 6
    assert len(opened.table("nodes")) == 17
    assert len(opened.table("edges")) == 21
