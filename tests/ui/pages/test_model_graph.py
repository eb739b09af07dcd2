import pytest

import tfprof
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import graph, op, run, stat
from tfprof.ui.pages.model_graph import MOST_INSIDE, model_graph_page


def drawn(profiler, **params):
    page = model_graph_page(opened_profiler(profiler), params, dot="")
    return next(block for block in page.blocks if block["kind"] == "graph")


def boxes(block):
    return {node["label"]: node for node in block["nodes"]}


def lines(block):
    names = [node["label"] for node in block["nodes"]]
    return {(names[each["start"]], names[each["end"]]): each["count"] for each in block["edges"]}


@pytest.fixture
def net():
    profiler = tfprof.Profiler(
        graph(
            op("in/x", "Placeholder"), op("net/w", "VariableV2", shape=[2, 3]),
            op("net/dense/MatMul", "MatMul", "in/x", "net/w"),
            op("net/dense/Relu", "Relu", "net/dense/MatMul"),
            op("loss", "Sum", "net/dense/Relu", "net/dense/MatMul"),
            op("train", "NoOp", "^loss"),
        )
    )  # fmt: skip
    profiler.add_step(0, run({"net/dense/MatMul": stat(700), "net/dense/Relu": stat(200)}))
    return profiler


def test_scopes_are_boxes_and_lines_are_counted_between_them(net):
    block = drawn(net)
    assert set(boxes(block)) == {"in", "net", "loss"}
    assert block["note"] == "1 box without lines is not drawn: 1 NoOp."
    assert lines(block) == {("in", "net"): 1, ("net", "loss"): 2}  # control edges carry nothing
    assert boxes(block)["net"]["weights"]["micros"] == 900
    assert boxes(block)["net"]["detail"] == "3 ops · 900 µs"
    assert boxes(block)["loss"]["detail"] == "Sum"
    assert {each["id"]: each["unit"] for each in block["measures"]}["micros"] == "us"


def test_a_scope_opens_and_closes(net):
    opened = boxes(drawn(net))["net"]["toggle"]
    block = drawn(net, **opened)
    assert {"net", "w", "dense"} < set(boxes(block))
    assert boxes(block)["net"]["is_open"]
    assert boxes(block)["dense"]["inside"] == block["nodes"].index(boxes(block)["net"])
    assert block["focus"] == block["nodes"].index(boxes(block)["net"])
    assert lines(block)["w", "dense"] == 1
    closed = drawn(net, **boxes(block)["net"]["toggle"])
    assert set(boxes(closed)) == set(boxes(drawn(net)))


def test_a_row_of_a_view_is_shown_with_all_around_it(net):
    block = drawn(net, at="net/dense/MatMul")
    assert boxes(block)["MatMul"]["detail"] == "MatMul · 700 µs"
    assert block["nodes"][block["focus"]]["id"] == "net/dense/MatMul"


def test_the_lightest_of_many_are_one_box():
    ops = [op(f"op_{at:03}", "NoOp") for at in range(40)]
    names = [each.name for each in ops]
    profiler = tfprof.Profiler(graph(*ops, op("last", "AddN", *names)))
    profiler.add_step(0, run({f"op_{at:03}": stat(1000 - at) for at in range(40)}))
    block = drawn(profiler)
    assert len(block["nodes"]) == MOST_INSIDE + 1
    rest = boxes(block)["27 others"]
    assert rest["weights"]["micros"] == sum(1000 - at for at in range(14, 40))
    assert lines(block)["op_000", "27 others"] == 1


def test_a_profile_without_inputs_of_ops_has_no_drawing():
    page = model_graph_page(opened_profiler(tfprof.Profiler(graph(op("a"), op("b")))), {}, dot="")
    assert [block["kind"] for block in page.blocks] == ["empty"]
    assert "no graph to draw" in page.blocks[0]["text"]


def test_the_page_begins_with_the_heaviest_box(net):
    page = model_graph_page(opened_profiler(net), {"open": "net\nnet/dense"}, dot="")
    assert page.blocks[0]["items"] == [
        "6 ops, drawn as 8 boxes; net/dense/MatMul takes the most time of them, 77.8% of 900 µs."
    ]


def test_the_only_scope_is_open_at_once():
    block = drawn(tfprof.Profiler(graph(op("net/a"), op("net/b", "X", "net/a"))))
    assert set(boxes(block)) == {"net", "a", "b"}


def test_a_step_that_is_not_there_says_which_are(net):
    net.add_step(4, run({"loss": stat(5)}))
    page = model_graph_page(opened_profiler(net), {"step": "7"}, dot="")
    assert "available steps: 0 4" in page.blocks[0]["items"][0]["text"]
    assert [control.name for control in page.controls] == ["step"]


def test_an_op_without_a_name_is_a_box():
    profiler = tfprof.Profiler(graph(op("x"), op("", "B", "x"), op("c", "C", "x")))
    assert sorted(boxes(drawn(profiler))) == ["", "c", "x"]
