"""Names of ops of a backward pass; the expected values are those of xprof 2.24."""

import pytest

from tests.hlo_programs import capture, op, program
from tfprof import tools
from tfprof.captures.facts.training import is_backward, programs_train
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


@pytest.mark.parametrize(
    ("name", "type_", "trains"),
    [
        ("gradient_tape/a", "Mul", True),
        ("a/gradients/b", "Mul", True),
        ("a/gradients_1/b", "Mul", True),
        ("gradients/X", "", True),
        ("jit(f)/transpose(jvp(x))/mul", "", True),
        ("a/gradient_tapes/b", "Mul", False),
        ("a/gradient/b", "Mul", False),
        ("mygradient/a", "Mul", False),
        ("a/gradients", "Mul", False),
        ("gradients/x", "", False),
        ("a/transpose(b)", "", False),
        ("jit(f)/transpose[permutation=(1,0)]", "", False),
        ("gradients/transpose(j)/y", "Mul", False),
    ],
)
def test_names_of_ops(name, type_, trains):
    assert is_backward(name, type_) is trains
    run = opened(xspace(host(line(event(f"{name}:{type_}", 0, 5)))))
    task = "Training" if trains else "Inference"
    for classic in (False, True):
        assert tools.op_stats(run, classic=classic).to_gviz()[0]["p"]["task_type"] == task
    assert tools.overview(run, classic=True).to_gviz()[2]["p"]["is_training"] == "false"
    assert tools.overview(run).to_gviz()[2]["p"]["is_training"] == str(trains).lower()


@pytest.mark.parametrize(
    ("name", "type_", "trains"),
    [
        ("jit(f)/transpose(jvp(g))/mul", "", True),
        ("jit(f)/transpose(jvp(g))", "", True),
        ("transpose(b)/c:d", "", True),
        ("gradients/a", "Mul", True),
        ("gradients/a", "", False),
        ("vmap(transpose(x))/y", "", False),
        ("jit(f)/transpose[permutation=(1,0)]", "", False),
        ("transpose(x)/y", "Mul", False),
        ("a/gradients", "Mul", False),
    ],
)
def test_names_in_programs(name, type_, trains):
    made = program(main=[op("a", "parameter", "f32[4]"), op("n", "negate", "f32[4]", "a")])
    metadata = made.hlo_module.computations[0].instructions[1].metadata
    metadata.op_name, metadata.op_type = name, type_
    run = tools.open_run([capture(made).SerializeToString()])
    assert programs_train(run.hosts) is trains
    assert tools.overview(run, classic=True).to_gviz()[2]["p"]["is_training"] == str(trains).lower()
