"""The instructions around one instruction."""

import pytest

from tests.captures.hlo.small_programs import INSIDE, MAIN
from tests.hlo_programs import program, read
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
    hidden = {node.instruction.name: node.n_hidden for node in graph.nodes}
    assert hidden == {"f": 0, "b": 1, "c": 1}


def test_no_steps_is_the_instruction_alone(module):
    assert shown(neighbourhood(module, module.find("f"), 0)) == {"f": 0}


def test_wide_enough_is_the_whole_computation(module):
    graph = neighbourhood(module, module.find("b"), 9)
    assert shown(graph) == {"b": 0, "a": 1, "f": 1, "d": 2, "c": 2}


def test_fusions_can_be_opened(module):
    graph = neighbourhood(module, module.find("f"), 1, expand_fusions=True)
    assert shown(graph) == {"f": 0, "b": 1, "c": 1, "p": 0, "t": 0}
    assert {("b", "p", "call"), ("p", "t", "data"), ("t", "f", "call")} <= arrows(graph)


def test_too_many_are_cut(module):
    graph = neighbourhood(module, module.find("f"), 9, most=3)
    assert graph.is_cut
    assert len(graph.nodes) == 3
    graph = neighbourhood(module, module.find("f"), 1, expand_fusions=True, most=3)
    assert graph.is_cut
    assert len(graph.nodes) == 3
