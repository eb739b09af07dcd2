from types import SimpleNamespace

import pytest

import tfprof
from tests.graphs.interpreter.programs import FLOAT, Type, graph, node, placeholder
from tfprof.graphs.flops import registry
from tfprof.graphs.flops.formulas import Cost, declare_free, formula
from tfprof.graphs.flops.registry import FORMULAS, FREE
from tfprof.graphs.interpreter.calls import CALLS
from tfprof.graphs.read.op_outputs import outputs_of

UNCOUNTED = ("BoostedTrees", "Sdca", "XlaSparse", "Risc")
"""Families that are left uncounted: trees and estimators of TensorFlow 1, and experiments."""


def mine(op_type="MyOp"):
    return graph(placeholder("x", None, 3), node("mine", op_type, "x", T=Type(FLOAT)))


@pytest.fixture
def my_op():
    yield
    registry.unregister_flops("MyOp", "Relu")


def test_every_formula_has_a_derivation_and_a_source():
    for op_type, (rule, why, source, _) in FORMULAS.items():
        assert rule, op_type
        assert len(why) > 5, op_type
        assert source, op_type
    assert all(FREE.values())


def test_no_op_type_is_entered_twice():
    assert not FORMULAS.keys() & FREE.keys()
    with pytest.raises(ValueError, match="Relu is entered twice"):
        declare_free("Relu", because="x")
    with pytest.raises(ValueError, match="Const is entered twice"):
        formula("Const", "n", why="x")(lambda op: Cost())


@pytest.mark.tensorflow
def test_every_op_of_tensorflow_is_counted_free_or_known_not_to_be():
    import tensorflow as tf

    ops = [name for name in dir(tf.raw_ops) if outputs_of(name) is not None]
    assert len(ops) > 1200
    known = {*FORMULAS, *FREE, *CALLS}
    missing = [name for name in ops if name not in known and not name.startswith(UNCOUNTED)]
    assert missing == []


@pytest.mark.usefixtures("my_op")
def test_a_formula_of_the_user():
    assert tfprof.flops(mine()).coverage == 0.5

    @tfprof.register_flops("MyOp")
    def my_op(op):
        """Three for each element."""
        return 3 * op.n_in()

    report = tfprof.flops(mine())
    assert str(report.flops) == "9·B"
    assert report.coverage == 1
    assert "Three for each element." in report.explain()
    assert tfprof.flops(mine(), batch=2).flops == 18


@pytest.mark.usefixtures("my_op")
@pytest.mark.parametrize(("answer", "flops"), [(7, 7), (2.0, 2), (Cost(5, 1), 11)])
def test_what_a_formula_may_answer(answer, flops):
    tfprof.register_flops("MyOp", "Relu")(lambda op: answer)
    assert tfprof.flops(mine()).flops == flops
    assert tfprof.flops(mine("Relu")).flops == flops  # it wins over tfprof's


@pytest.mark.usefixtures("my_op")
@pytest.mark.parametrize(
    ("answer", "reason"), [(None, "has no answer"), ("many", "gave 'many', which is not a number")]
)
def test_a_formula_without_a_number(answer, reason):
    tfprof.register_flops("MyOp")(lambda op: answer)
    assert reason in tfprof.flops(mine()).uncounted["MyOp"]


@pytest.mark.usefixtures("my_op")
def test_a_formula_that_lacks_a_shape_is_not_counted():
    tfprof.register_flops("MyOp")(lambda op: op.n_in(3))
    assert tfprof.flops(mine()).uncounted == {"MyOp": "the shape of input 3 is unknown"}


@pytest.mark.parametrize("op_types", [(), (3,), ("",)])
def test_a_formula_needs_an_op_type(op_types):
    with pytest.raises(tfprof.UsageError, match="takes op types as text"):
        tfprof.register_flops(*op_types)


def packages(monkeypatch, load):
    entry = SimpleNamespace(name="MyOp", value="package:formula", load=load)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])


def test_a_formula_of_a_package(monkeypatch):
    packages(monkeypatch, lambda: lambda op: 4 * op.n_out(0) if op.outputs else 4)
    assert tfprof.flops(mine()).flops == 4


def test_a_package_that_can_not_be_loaded(monkeypatch):
    def load():
        raise ImportError("no such module")

    packages(monkeypatch, load)
    with pytest.raises(tfprof.UsageError, match=r"the FLOP formula MyOp .* ImportError"):
        tfprof.flops(mine())
