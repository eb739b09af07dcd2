"""The instructions around one instruction."""

import pytest

from tests.captures.hlo.small_programs import INSIDE, MAIN
from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.graph import neighbourhood


@pytest.fixture
def module():
    return read(program(main=MAIN, inside=INSIDE))


def shown(graph):
    return {node.instruction.name: node.distance for node in graph.nodes}


def arrows(graph):
    names = [node.instruction.name for node in graph.nodes]
    return {(names[edge.tail], names[edge.head], edge.kind) for edge in graph.edges}


def test_steps_go_both_ways(module):
    graph = neighbourhood(module, module.find("f"), 1)
    assert shown(graph) == {"f": 0, "b": 1, "c": 1}
    assert arrows(graph) == {("b", "f", "data"), ("f", "c", "data"), ("b", "c", "control")}
    hidden = {
        node.instruction.name: (node.hidden_inputs, node.hidden_users) for node in graph.nodes
    }
    assert hidden == {"f": (0, 0), "b": (1, 0), "c": (0, 1)}


def test_no_steps_is_the_instruction_alone(module):
    assert shown(neighbourhood(module, module.find("f"), 0)) == {"f": 0}


def test_wide_enough_is_the_whole_computation(module):
    graph = neighbourhood(module, module.find("b"), 9)
    assert shown(graph) == {"b": 0, "a": 1, "f": 1, "d": 2, "c": 2}


def test_fusions_can_be_opened(module):
    graph = neighbourhood(module, module.find("f"), 1, expand_fusions=True)
    assert shown(graph) == {"f": 0, "b": 1, "c": 1, "p": 0, "t": 0}
    assert {("b", "p", "call"), ("p", "t", "data"), ("t", "f", "call")} <= arrows(graph)


def test_only_named_fusions_are_opened(module):
    opened = neighbourhood(module, module.find("f"), 1, expand_fusions=["f"])
    assert shown(opened) == {"f": 0, "b": 1, "c": 1, "p": 0, "t": 0}
    assert shown(neighbourhood(module, module.find("f"), 1, expand_fusions=["x"])) == {
        "f": 0, "b": 1, "c": 1,
    }  # fmt: skip


def test_the_body_of_a_loop_is_opened_if_it_is_named():
    body = [op("i", "parameter", "f32[4]"), op("n", "negate", "f32[4]", "i")]
    loop = [op("x", "parameter", "f32[4]"), op("w", "while", "f32[4]", "x", calls=["body", "test"])]
    module = read(program(main=loop, body=body, test=[op("c", "parameter", "f32[4]")]))
    opened = neighbourhood(module, module.find("w"), 1, expand_fusions=["w"])
    assert shown(opened) == {"w": 0, "x": 1, "i": 0, "n": 0}
    assert "n" not in shown(neighbourhood(module, module.find("w"), 1, expand_fusions=True))


def test_inputs_and_users_of_named_ones_are_added_also_of_those_that_were_added(module):
    graph = neighbourhood(module, module.find("f"), 0, inputs_of=["b", "f"])
    assert shown(graph) == {"f": 0, "b": 1, "a": 2}
    graph = neighbourhood(module, module.find("f"), 0, users_of=["f", "not there"])
    assert shown(graph) == {"f": 0, "c": 1}
    assert neighbourhood(module, module.find("f"), 0, users_of=["f"], most=1).is_cut


def test_too_many_are_cut(module):
    graph = neighbourhood(module, module.find("f"), 9, most=3)
    assert graph.is_cut
    assert len(graph.nodes) == 3
    graph = neighbourhood(module, module.find("f"), 1, expand_fusions=True, most=3)
    assert graph.is_cut
    assert len(graph.nodes) == 3
