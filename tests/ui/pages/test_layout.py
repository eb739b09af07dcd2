import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.ui.pages import layers
from tfprof.ui.pages.graph_block import GraphEdge, GraphNode, graph_block
from tfprof.ui.pages.layout import laid_out

PROGRAMS = ["", pytest.param("dot", marks=pytest.mark.skipif(not shutil.which("dot"), reason="no"))]


def boxes_of(layout):
    return [(x, y, x + w, y + h) for x, y, w, h in layout.boxes]


def overlap(a, b):
    tiny = 0.2  # places are rounded
    return a[0] + tiny < b[2] and b[0] + tiny < a[2] and a[1] + tiny < b[3] and b[1] + tiny < a[3]


@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_lead_down_and_boxes_do_not_touch(program):
    sizes = [(80, 30)] * 5
    layout = laid_out(sizes, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (3, 4)], dot=program)
    boxes = boxes_of(layout)
    for start, end in [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]:
        assert boxes[start][3] < boxes[end][1]
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(len(line) >= 2 for line in layout.lines)
    assert layout.lines[0][0][1] < layout.lines[0][-1][1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_box_holds_those_in_it_and_lines_end_at_its_border(program):
    sizes = [(80, 30), (80, 30), (60, 30), (60, 30)]
    layout = laid_out(sizes, [(0, 2), (2, 3), (1, 3)], [-1, -1, 1, 1], dot=program)
    boxes = boxes_of(layout)
    outer = boxes[1]
    for inner in boxes[2:]:
        assert outer[0] < inner[0] and inner[2] < outer[2]
        assert outer[1] < inner[1] and inner[3] < outer[3]
    assert layout.lines[0][-1][1] == pytest.approx(outer[1], abs=12)  # dot ends before the arrow
    assert layout.lines[2] == []  # from a box to one in it


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 14))
    box = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(box, box), max_size=30)) if n else []
    inside = [draw(st.integers(-1, at - 1)) for at in range(n)]
    size = st.tuples(st.integers(10, 200), st.integers(10, 60))
    return [draw(size) for _ in range(n)], edges, inside


@given(graphs())
def test_any_graph_has_a_layout_the_same_each_time_with_siblings_apart(graph):
    sizes, edges, inside = graph
    layout = laid_out(sizes, edges, inside, dot="")
    assert layout == laid_out(sizes, edges, inside, dot="")
    boxes = boxes_of(layout)
    for a in range(len(sizes)):
        for b in range(a):
            if inside[a] == inside[b]:
                assert not overlap(boxes[a], boxes[b])
    for x, y, right, bottom in boxes:
        assert x >= -0.1 and y >= -0.1
        assert right <= layout.width + 0.2 and bottom <= layout.height + 0.2


def middle_points(line):
    """Points along a line of cubic curves."""
    for at in range(0, len(line) - 3, 3):
        corners = line[at : at + 4]
        for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            weights = [(1 - share) ** 3, 3 * share * (1 - share) ** 2,
                       3 * share**2 * (1 - share), share**3]  # fmt: skip
            yield tuple(
                sum(w * corner[axis] for w, corner in zip(weights, corners, strict=True))
                for axis in (0, 1)
            )


def is_within(point, box):
    tiny = 0.3  # places are rounded
    return box[0] + tiny < point[0] < box[2] - tiny and box[1] + tiny < point[1] < box[3] - tiny


def assert_no_line_crosses_a_box(layout, edges, inside):
    boxes = boxes_of(layout)
    around = dict(enumerate(inside))

    def holders(box):
        return {box} | (holders(around[box]) if around[box] >= 0 else set())

    for (start, end), line in zip(edges, layout.lines, strict=True):
        if not line:
            continue
        shared = holders(start) & holders(end)
        for point in middle_points(line):
            for at, box in enumerate(boxes):
                assert at in shared or not is_within(point, box), (start, end, at)


@given(graphs())
def test_no_line_leads_through_a_box(graph):
    sizes, edges, inside = graph
    layout = laid_out(sizes, edges, inside, dot="")
    assert_no_line_crosses_a_box(layout, edges, inside)


@given(graphs())
def test_lines_that_are_too_long_lead_around_all_boxes(graph):
    sizes, edges, inside = graph
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "_MOST_PASSED", -1)
        layout = laid_out(sizes, edges, inside, dot="")
    assert_no_line_crosses_a_box(layout, edges, inside)


def test_a_source_stands_above_its_reader():
    layout = laid_out([(80, 30)] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)], dot="")
    assert layout.boxes[4][1] == layout.boxes[2][1]


def test_of_a_circle_the_line_is_turned_that_most_others_are_against():
    # 0 → 1 → 2 → 3, 0 → 2, 1 → 3, and a line back from 3 to 0.
    edges = [(3, 0), (0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
    tops = [box[1] for box in laid_out([(80, 30)] * 4, edges, dot="").boxes]
    assert tops == sorted(set(tops))


def test_lines_that_need_not_cross_do_not():
    # Two rows of three, joined in the opposite order.
    layout = laid_out([(80, 30)] * 6, [(0, 5), (1, 4), (2, 3)], dot="")
    above = sorted(range(3), key=lambda box: layout.boxes[box][0])
    below = sorted(range(3, 6), key=lambda box: layout.boxes[box][0])
    assert [5 - box for box in above] == below


def test_ends_of_lines_at_a_box_are_apart_and_in_the_order_of_the_other_ends():
    layout = laid_out([(80, 30)] * 4, [(0, 3), (1, 3), (2, 3)], dot="")
    by_source = sorted((layout.boxes[box][0], layout.lines[box][-1][0]) for box in range(3))
    ends = [end for _, end in by_source]
    assert ends == sorted(set(ends))


def test_a_program_that_fails_leaves_our_own_layers():
    sizes, edges = [(80, 30)] * 2, [(0, 1)]
    assert laid_out(sizes, edges, dot="/nonexistent/dot") == laid_out(sizes, edges, dot="")


def test_the_block_has_boxes_lines_and_what_they_weigh():
    block = graph_block(
        [
            GraphNode("a", "a", "MatMul", weights={"time": 3.0}, toggle={"open": "a"}),
            GraphNode("b", "b", inside=""),
        ],
        [GraphEdge("a", "b", "float 2x3", 4)],
        [("time", "Time", "us")],
        dot="",
    )
    assert block["nodes"][0]["weights"] == {"time": 3.0}
    assert block["nodes"][0]["toggle"] == {"open": "a"}
    assert block["edges"][0]["start"] == 0 and block["edges"][0]["end"] == 1
    assert block["edges"][0]["count"] == 4
    assert block["measures"] == [{"id": "time", "label": "Time", "unit": "us"}]
