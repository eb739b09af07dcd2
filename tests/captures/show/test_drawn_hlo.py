"""Parts of compiled programs as drawings."""

from tests.captures.hlo.test_graph import INSIDE, MAIN
from tests.hlo_programs import capture, program
from tfprof.captures.run.run import open_run
from tfprof.captures.show.drawn_hlo import draw_hlo
from tfprof.captures.tools.hlo_graph import graph_viewer
from tfprof.text.drawing.dot import to_digraph
from tfprof.text.drawing.plan import NO_CLUSTER

RUN = open_run(capture(program(main=MAIN, inside=INSIDE)))


def test_instructions_and_what_flows():
    drawing = draw_hlo(graph_viewer(RUN, node="f", width=1).data)
    assert drawing.title == ["test(1): around f"]
    assert [list(node.lines) for node in drawing.nodes] == [
        ["f", "fusion", "f32[4]"],
        ["b", "negate", "f32[4]", "(1 more)"],
        ["c", "abs", "f32[4]", "(1 more)"],
    ]
    assert {(edge.tail, edge.head, edge.kind, edge.label) for edge in drawing.edges} == {
        (1, 0, "data", "16 B"),
        (0, 2, "data", "16 B"),
        (1, 2, "control", "16 B"),
    }
    assert not drawing.clusters


def test_the_inside_of_a_fusion_is_framed():
    drawing = draw_hlo(graph_viewer(RUN, node="f", width=0, expand_fusions=True).data)
    assert [list(cluster.lines) for cluster in drawing.clusters] == [["f"]]
    assert [node.cluster for node in drawing.nodes] == [NO_CLUSTER, 0, 0]


def test_names_are_only_text():
    proto = program(main=MAIN, inside=INSIDE)
    proto.hlo_module.computations[0].instructions[2].name = '<b>"\\N'
    data = graph_viewer(open_run(capture(proto)), node='<b>"\\N', width=0).data
    assert "&lt;" not in to_digraph(draw_hlo(data)).source
    assert "\\\\N" in to_digraph(draw_hlo(data)).source
