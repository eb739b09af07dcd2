from collections import defaultdict
from fractions import Fraction

import pytest

from tests.graphs.interpreter.programs import (
    FLOAT,
    INT,
    Ref,
    Type,
    analyse,
    const,
    function,
    graph,
    node,
    placeholder,
)
from tests.graphs.interpreter.while_loops import TYPES, X, body, condition
from tests.graphs.reports.programs import matmul, two_layers
from tfprof.graphs.costs.scope_sums import (
    Amounts,
    added,
    below,
    call_scope,
    scope_sums,
    with_inner_scopes,
)
from tfprof.graphs.model.symbolic import Symbolic

BATCH = Symbolic.named("B")


def relu(name, source):
    return node(name, "Relu", source, T=Type(FLOAT))


def sums(message, results=None, **settings):
    analysis, _ = analyse(message, **settings)
    return scope_sums(analysis, results=results)


def op_by_op(analysis, prefix="", times=1):
    """Scope and cost of every run of every op, functions expanded at each call."""
    for place, verdict in analysis.verdicts.items():
        name = analysis.body.nodes[place].name
        often = times * analysis.times.get(place, 1)
        if "Initializer/" in name:
            continue
        yield below(prefix, name.rpartition("/")[0]), verdict.cost.flops * often
        inside = below(prefix, call_scope(name, {}))
        for each in analysis.calls.get(place, ()):
            yield from op_by_op(each.analysis, inside, often * each.times)


def agrees_with_every_op(message, **settings):
    """Whether what every scope costs in all is what its ops cost."""
    analysis, _ = analyse(message, **settings)
    expected = defaultdict(int)
    for scope, flops in op_by_op(analysis):
        while scope:
            expected[scope] += flops
            scope = scope.rpartition("/")[0]
        expected[""] += flops
    found = with_inner_scopes(scope_sums(analysis).own)
    return {scope: amounts.flops for scope, amounts in found.items() if amounts.flops != 0} == {
        scope: flops for scope, flops in expected.items() if flops != 0
    }


def test_ops_count_in_their_innermost_scope():
    found = sums(two_layers(8))
    assert found.own == {
        "dense1": Amounts(macs=96, other=24, activation_bytes=8 * 3 * 4),
        "dense2": Amounts(macs=48, activation_bytes=8 * 2 * 4),
        "": Amounts(other=16, activation_bytes=8 * 2 * 4),
    }
    assert list(found.own) == ["dense1", "dense2", ""]  # as they run
    assert agrees_with_every_op(two_layers(8))


def test_sizes_may_be_open():
    found = sums(two_layers())
    assert found.own["dense1"] == Amounts(
        macs=12 * BATCH, other=3 * BATCH, activation_bytes=12 * BATCH
    )


def test_what_leaves_a_scope_is_its_output():
    found = sums(two_layers(8))
    shapes = {scope: [tensor.shape for tensor in each] for scope, each in found.outputs.items()}
    assert shapes == {"dense1": [(8, 3)], "dense2": [(8, 2)]}


def test_the_first_output_of_a_scope_is_the_first_of_its_last_op():
    """Batch norm also gives its statistics, and room for scratch that may be empty."""
    norm = node("bn/norm", "FusedBatchNormV3", "bn/conv", "m", "m", "m", "m", T=Type(FLOAT),
                U=Type(FLOAT), is_training=True)  # fmt: skip
    message = graph(
        placeholder("x", 8, 4, 4, 3), relu("bn/conv", "x"), placeholder("m", 3), norm,
        relu("next/relu", "bn/norm"),
    )  # fmt: skip
    shapes = [tensor.shape for tensor in sums(message).outputs["bn"]]
    assert shapes[0] == (8, 4, 4, 3)
    assert (3,) in shapes
    assert (0,) not in shapes


def test_ops_that_hand_on_make_no_activation():
    message = graph(
        placeholder("x", 8, 4), relu("a/relu", "x"), node("b/same", "Identity", "a/relu"),
        relu("a/again", "b/same"), node("c/flat", "Reshape", "a/again", "c/shape"),
        const("c/shape", 32, rank=1),
    )  # fmt: skip
    found = sums(message)
    # a/relu is taken by a/again only, through an op of b; a/again is the result, through c.
    assert found.own == {"a": Amounts(other=64, activation_bytes=128)}
    assert [tensor.shape for tensor in found.outputs["a"]] == [(8, 4)]


def test_only_results_leave_if_the_caller_says_which():
    message = graph(placeholder("x", 8), relu("a/first", "x"), relu("a/second", "x"))
    assert sums(message, results=[(2, 0)]).own["a"].activation_bytes == 32
    assert sums(message).own["a"].activation_bytes == 64


def test_integers_are_not_activations():
    message = graph(
        placeholder("x", 8, dtype=INT), node("a/add", "AddV2", "x", "x", T=Type(INT)),
        node("b/add", "AddV2", "a/add", "a/add", T=Type(INT)),
    )  # fmt: skip
    assert sums(message).own == {}


def test_activations_of_unknown_size_are_reported():
    message = graph(node("x", "Placeholder", dtype=Type(FLOAT)), relu("a/relu", "x"))
    assert sums(message).own == {"a": Amounts(unsized=1)}


def called(*nodes, result="a/mm:product:0"):
    return function("layer", {"x": FLOAT}, {"y": (result, FLOAT)}, *nodes)


CALL = {"f": Ref("layer"), "Tin": [FLOAT], "Tout": [FLOAT]}


def test_scopes_in_a_function_stand_below_its_call():
    message = graph(
        placeholder("x", 8, 8), node("outer/first", "PartitionedCall", "x", **CALL),
        node("outer/second", "PartitionedCall", "outer/first", **CALL),
        called(matmul("a/mm", "x", "x")),
    )  # fmt: skip
    found = sums(message)
    assert found.own == {
        "outer/first/a": Amounts(macs=512, activation_bytes=256),
        "outer/second/a": Amounts(macs=512, activation_bytes=256),
    }
    assert set(found.outputs) == {
        "outer/first", "outer/first/a", "outer/second", "outer/second/a", "outer",
    }  # fmt: skip
    assert agrees_with_every_op(message)


def test_a_call_without_a_name_is_not_a_scope():
    message = graph(
        placeholder("x", 8, 8), node("StatefulPartitionedCall_1", "PartitionedCall", "x", **CALL),
        called(matmul("a/mm", "x", "x")),
    )  # fmt: skip
    assert list(sums(message).own) == ["a"]
    assert call_scope("m/StatefulPartitionedCall/PartitionedCall_1", {}) == "m"
    assert call_scope("m/loop", {"m/loop": "model/lstm"}) == "model/lstm"


def test_loops_are_multiplied():
    message = graph(
        X, const("start", 0), const("limit", 10),
        node("m/loop", "While", "start", "limit", "x", T=TYPES, cond=Ref("cond"), body=Ref("body")),
        condition(), body(),
    )  # fmt: skip
    found = sums(message)
    assert found.own == {"m/loop": Amounts(macs=5120, activation_bytes=10 * 256)}
    assert agrees_with_every_op(message)


def test_initializers_are_left_out():
    message = graph(
        placeholder("x", 8), relu("w/Initializer/relu", "x"), relu("a/relu", "x"),
        node("w/Initializer/call", "PartitionedCall", "x", **CALL),
        called(relu("a/mm", "x"), result="a/mm:activations:0"),
    )  # fmt: skip
    assert list(sums(message).own) == ["a"]
    assert agrees_with_every_op(message)


def test_backward_ops_have_no_activations():
    message = graph(
        placeholder("x", 8, 8), matmul("a/mm", "x", "x"),
        matmul("gradients/a/mm_grad/MatMul", "a/mm", "a/mm"),
    )  # fmt: skip
    found = sums(message)
    assert found.own["a"] == Amounts(macs=512, activation_bytes=256)  # kept for the gradient
    assert found.own["gradients/a/mm_grad"] == Amounts(macs=512)


def test_layers_may_be_others_than_names_say():
    analysis, _ = analyse(two_layers(8))
    layers = {"dense1/MatMul": "net/first", "dense1/Relu": "net/first", "add": "net"}
    found = scope_sums(analysis, layers)
    assert set(found.own) == {"net/first", "dense2", "net"}


def test_what_functions_do_counts_for_the_layer_that_calls_them():
    message = graph(
        placeholder("x", 8, 8), node("net/block", "PartitionedCall", "x", **CALL),
        called(matmul("dense_1/mm", "x", "x"), matmul("a/mm", "dense_1/mm:product:0", "x")),
    )  # fmt: skip
    analysis, _ = analyse(message)
    found = scope_sums(analysis, {"net/block": "net"})
    assert found.own == {"net": Amounts(macs=1024, activation_bytes=512)}


def test_times_are_added_and_unknown_ones_counted():
    analysis, _ = analyse(two_layers(8))

    def picos_of(analysis, place, verdict):
        return None if verdict.cost.macs == 0 else verdict.cost.macs

    found = scope_sums(analysis, picos_of=picos_of)
    assert (found.own["dense1"].picos, found.own["dense1"].untimed) == (96, 1)
    total = added(found.own.values())
    assert (total.picos, total.untimed) == (144, 2)


def test_many_scopes_in_functions_become_one(monkeypatch):
    monkeypatch.setattr("tfprof.graphs.costs.scope_sums.MOST_SCOPES", 1)
    message = graph(
        placeholder("x", 8, 8), node("outer", "PartitionedCall", "x", **CALL),
        called(matmul("b/mm", "x", "x"), matmul("a/mm", "b/mm:product:0", "x")),
    )  # fmt: skip
    assert sums(message).own == {"outer": Amounts(macs=1024, activation_bytes=512)}


@pytest.mark.parametrize(
    ("scope", "path", "full"),
    [("", "a", "a"), ("m", "", "m"), ("m", "a", "m/a"), ("m/a", "m/a/b", "m/a/b"),
     ("m/a", "m", "m/a"), ("m/a", "m/b", "m/a/m/b"), ("m", "mm", "m/mm")],
)  # fmt: skip
def test_scopes_of_functions_as_seen_from_the_call(scope, path, full):
    assert below(scope, path) == full


def test_nothing_adds_up_to_nothing():
    assert added([]) == Amounts()
    assert added([]).flops == 0
    assert Amounts(macs=2, other=1, unsized=1).times(3) == Amounts(macs=6, other=3, unsized=1)


def test_amounts_of_a_fraction_of_the_runs_are_rounded():
    assert Amounts(macs=3, other=1, picos=7).times(Fraction(1, 2)) == Amounts(
        macs=2, other=0, picos=4
    )
