import math

import pytest

import tfprof
from tests.graphs.interpreter.programs import (
    FLOAT,
    Ref,
    Type,
    function,
    graph,
    node,
    placeholder,
    shape,
)
from tfprof.core.wire import messages as pb

T = {"T": Type(FLOAT)}
WEIGHTS = node("w", "VariableV2", dtype=Type(FLOAT), shape=shape(4, 5))
MODEL = graph(
    placeholder("x", None, 4), WEIGHTS,
    node("net/dense/MatMul", "MatMul", "x", "w", **T),
    node("net/dense/Relu", "Relu", "net/dense/MatMul", **T),
    node("net/out", "Softmax", "net/dense/Relu", **T),
)  # fmt: skip


def test_a_symbolic_count_and_its_numbers():
    report = tfprof.flops(MODEL)
    assert str(report.flops) == "70·B"  # 2·4·5, a relu of 5, a softmax of 5·5
    assert str(report.macs) == "20·B"
    assert report.flops.bind(B=3) == tfprof.flops(MODEL, batch=3).flops == 210
    assert {name: count.bind(B=1) for name, count in report.by_type.items()} == {
        "MatMul": 40, "Softmax": 25, "Relu": 5,
    }  # fmt: skip
    assert list(report.by_type) == ["MatMul", "Softmax", "Relu"]
    assert {name: count.bind(B=1) for name, count in report.by_scope.items()} == {
        "": 70, "net": 70, "net/dense": 45,
    }  # fmt: skip
    assert report.coverage == 1
    assert report.uncounted == {}
    assert report.notes == ()


def test_multiply_adds_as_the_unit():
    report = tfprof.flops(MODEL, batch=1, convention="macs")
    assert report.total == report.macs == 20
    assert report.flops == 70
    assert report.by_type == {"MatMul": 20}
    assert report.by_scope == {"": 20, "net": 20, "net/dense": 20}
    assert report.by_phase["forward"] == 20


def test_an_interactive_session_shows_explanations_as_they_are():
    explanation = tfprof.flops(MODEL).explain()
    assert repr(explanation) == explanation
    assert "2·n·k" in explanation
    assert repr(tfprof.flops(MODEL)) == "<FlopsReport 70·B FLOPs>"


def test_rows_say_how_each_op_was_counted():
    rows = {row["name"]: row for row in tfprof.flops(MODEL, batch=2).to_rows()}
    product = rows["net/dense/MatMul"]
    assert product["flops"] == 80
    assert product["macs"] == 40
    assert product["runs"] == 1
    assert product["status"] == "counted"
    assert product["phase"] == "forward"
    assert product["inputs"] == ["[2, 4]", "[4, 5]"]
    assert product["outputs"] == ["[2, 5]"]
    assert math.prod(product["numbers"].values()) == 2 * 4 * 5
    assert rows["x"]["status"] == "free"
    assert rows["x"]["flops"] is None
    assert rows["x"]["reason"]


@pytest.mark.parametrize("target", [MODEL, MODEL.SerializeToString()], ids=["message", "bytes"])
def test_the_same_question_has_the_same_answer(target, tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(MODEL.SerializeToString())
    first = tfprof.flops(target)
    assert first.explain() == tfprof.flops(target).explain() == tfprof.flops(path).explain()
    assert str(tfprof.flops(tfprof.Profiler(target)).flops) == "70·B"


@pytest.mark.parametrize(
    "shapes", [{"x": (3, 4)}, [(3, 4)], (3, 4), [None, 4], {"x": (3, None)}], ids=str
)
def test_ways_to_give_shapes(shapes):
    count = tfprof.flops(MODEL, input_shapes=shapes).flops
    assert (count if isinstance(count, int) else count.bind(B=3)) == 210


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": 0}, "batch=0 must be a positive integer"),
        ({"batch": 2.5}, "batch=2.5 must be"),
        ({"convention": "mac"}, "convention='mac': use flops"),
        ({"input_shapes": {"y": (1,)}}, "there is no input 'y'; inputs: x"),
        ({"input_shapes": {"x": (1, 9)}}, r"x is \(None, 4\) in this graph, not \(1, 9\)"),
        ({"input_shapes": {"x": 3}}, "x has 3, which is not a shape"),
        ({"input_shapes": {"x": (-3, 4)}}, "negative size"),
        ({"input_shapes": [(1, 4), (2, 4)]}, "has 2 shapes for 1 inputs"),
        ({"trip_counts": {"w": -1}}, "trip_counts: w is -1"),
        ({"trip_counts": -1}, "the number for all loops is -1"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(tfprof.UsageError, match=message):
        tfprof.flops(MODEL, **arguments)


def test_a_batch_that_the_graph_does_not_have():
    fixed = graph(placeholder("x", 8, 4), node("r", "Relu", "x", **T))
    assert tfprof.flops(fixed, batch=8).flops == 32
    with pytest.raises(tfprof.UsageError, match="the input x has a fixed first dimension of 8"):
        tfprof.flops(fixed, batch=4)
    open_ = placeholder("x", 8, 4)
    open_.attr["_output_shapes"].list.shape.add().dim.add(size=-1)
    with pytest.raises(tfprof.UsageError, match="the input x has a fixed first dimension of 8"):
        tfprof.flops(graph(open_, node("r", "Relu", "x", **T)), batch=4)
    with pytest.raises(tfprof.UsageError, match="this graph has no inputs"):
        tfprof.flops(graph(WEIGHTS), batch=4)


@pytest.mark.parametrize("target", [3, None, object()])
def test_other_targets_are_refused(target):
    with pytest.raises(tfprof.UsageError):
        tfprof.flops(target)


def test_files_of_keras_are_refused_with_the_remedy(tmp_path):
    path = tmp_path / "model.keras"
    path.write_bytes(b"anything")
    with pytest.raises(tfprof.UnknownFormatError, match=r"keras\.models\.load_model"):
        tfprof.flops(path)
    with pytest.raises(tfprof.InputError, match="cannot be read"):
        tfprof.flops(tmp_path / "missing.keras")


def test_what_is_not_counted_says_why():
    message = graph(
        placeholder("x", None, 4), node("p", "Placeholder", dtype=Type(FLOAT)),
        node("a", "Mystery", "x"), node("b", "Relu", "a", **T), node("c", "Relu", "x", **T),
        node("d", "MatMul", "p", "p", **T),
    )  # fmt: skip
    message.node[1].attr["shape"].shape.unknown_rank = True
    report = tfprof.flops(message)
    assert str(report.flops) == "4·B"
    assert set(report.uncounted) == {"Mystery", "Relu", "MatMul"}
    assert "tfprof.register_flops" in report.uncounted["Mystery"]
    assert "shape" in report.uncounted["Relu"]
    assert report.coverage == pytest.approx(1 - 3 / 6)
    assert "Mystery" in str(report)


def test_parts_of_a_training_step():
    step = graph(
        placeholder("x", 2, 4), WEIGHTS,
        node("init/Initializer/mul", "Mul", "w", "w", **T),
        node("dense/MatMul", "MatMul", "x", "w", **T),
        node("gradients/dense/MatMul_grad/MatMul", "MatMul", "x", "dense/MatMul",
             transpose_a=True, **T),
        node("dense/ReluGrad", "ReluGrad", "dense/MatMul", "dense/MatMul", **T),
        node("apply", "ApplyGradientDescent", "w", "x", "gradients/dense/MatMul_grad/MatMul", **T),
        node("adam/mul", "Mul", "w", "w", **T),
    )  # fmt: skip
    report = tfprof.flops(step)
    assert report.by_phase == {
        "forward": 80, "backward": 80 + 10, "optimizer": 40 + 20, "initialization": 20,
    }  # fmt: skip
    assert report.flops == 80 + 90 + 60  # what initializes runs once, not in a step
    assert "not in the total" in str(report)


def test_scopes_of_functions_stand_below_their_call():
    body = function("f", {"x": FLOAT}, {"y": ("inner/Relu:activations:0", FLOAT)},
                    node("inner/Relu", "Relu", "x", **T))  # fmt: skip

    def call(name):
        return node(name, "PartitionedCall", "x", Tin=[FLOAT], Tout=[FLOAT], f=Ref("f"))

    report = tfprof.flops(
        graph(placeholder("x", 5), call("a/PartitionedCall"), call("StatefulPartitionedCall_1"),
              call("b/mine"), body)
    )  # fmt: skip
    assert report.by_scope == {
        "": 15, "a": 5, "a/inner": 5, "b": 5, "b/mine": 5, "b/mine/inner": 5, "inner": 5,
    }  # fmt: skip
    (row,) = [row for row in report.to_rows() if row["type"] == "Relu"]
    assert (row["runs"], row["flops"], row["function"]) == (3, 15, "f")


def test_parameters():
    report = tfprof.params(MODEL)
    assert int(report) == report.total == 20
    assert report.bytes == 80


def test_a_graph_of_nothing():
    report = tfprof.flops(pb.GraphDef())
    assert (report.flops, report.macs, report.coverage) == (0, 0, 1)
    assert str(report)
    assert report.explain()
