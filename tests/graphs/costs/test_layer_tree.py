import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.costs.layer_tree import NO_LAYER, folded, layer_rows, scope_rows, share
from tfprof.graphs.costs.params import ParamRow
from tfprof.graphs.costs.scope_sums import Amounts, ScopeSums
from tfprof.graphs.live.traced_graph import TracedLayer
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor

BATCH = Symbolic.named("B")


def param(name, count, trainable=True):
    return ParamRow(name, (count,), "float32", count, trainable, 4 * count)


def layer(path, *children, shapes=None, variables=()):
    return TracedLayer(path, path.rpartition("/")[2], "Layer", shapes, variables, children)


def paths(rows):
    return [(row.path, row.depth, row.total.macs, row.weights.params) for row in rows]


def test_scopes_get_their_rows_in_the_order_in_which_they_run():
    sums = ScopeSums({"b/c": Amounts(macs=1), "a": Amounts(macs=2), "b": Amounts(macs=4)})
    rows = scope_rows(sums, [], {})
    assert paths(rows) == [("", 0, 7, 0), ("b", 1, 5, 0), ("b/c", 2, 1, 0), ("a", 1, 2, 0)]
    assert [row.parent for row in rows] == [-1, 0, 1, 0]
    assert [row.own.macs for row in rows] == [0, 4, 1, 2]
    assert [row.name for row in rows] == ["", "b", "c", "a"]


def test_variables_are_where_their_name_or_their_first_use_says():
    sums = ScopeSums({"m/a_1": Amounts(macs=1), "n/b": Amounts(macs=1)})
    variables = [
        param("m/a/w", 1),  # m is in its name, and m/a_1 uses it
        param("n/b/w/part_0", 2, False),
        param("x", 4, None),
        param("gone/w", 8),
    ]
    users = {"m/a/w": "m/a_1/MatMul", "n/b/w/part_0": "other", "x": "n/b/read"}
    rows = {row.path: row for row in scope_rows(sums, variables, users)}
    assert rows["m/a_1"].own_weights.trainable == 1
    assert rows["n/b"].own_weights == (0, 2, 4, 24)
    assert rows[NO_LAYER].weights.params == 8
    assert rows[""].weights == (9, 2, 4, 60)


def test_layers_are_those_of_the_model():
    model = layer(
        "m", layer("m/a", shapes=((None, 3),), variables=("w",)),
        layer("m/block", layer("m/block/b", variables=("v",)), shapes=((None, 5), (None, None))),
        shapes=((None, 5),),
    )  # fmt: skip
    sums = ScopeSums(
        {
            "m/a": Amounts(macs=1),
            "m/block/b/while/body": Amounts(macs=2),  # a loop inside the layer
            "elsewhere/x": Amounts(macs=4),  # outside of every layer
            "m": Amounts(macs=8),
        },
        {"m/block": (Tensor((BATCH, 9), 1),), "m/block/b": (Tensor((2, 2), 1),)},
    )
    rows = layer_rows(model, sums, [param("w", 3), param("v", 5, False), param("u", 7)], BATCH)
    assert paths(rows) == [
        ("m", 0, 15, 15),
        ("m/a", 1, 1, 3),
        ("m/block", 1, 2, 5),
        ("m/block/b", 2, 2, 5),
        (f"m/{NO_LAYER}", 1, 0, 7),
    ]
    assert rows[0].own.macs == 12
    assert [row.shapes for row in rows] == [
        ((BATCH, 5),),
        ((BATCH, 3),),
        ((BATCH, 5), (BATCH, 9)),  # the size that Keras does not know is that of a tensor
        ((2, 2),),
        (),
    ]


@pytest.fixture
def rows():
    own = {f"s{i}": Amounts(macs=i) for i in (3, 1, 5, 2, 4)}
    own |= {"s5/x": Amounts(macs=10), "s5/y": Amounts(macs=20)}
    return scope_rows(ScopeSums(own), [param("s1/w", 100)], {})


def test_the_most_expensive_stay_in_their_order_and_the_rest_becomes_one(rows):
    top = folded(rows, None, 2)
    assert paths(top) == [
        ("", 0, 45, 100),
        ("s5", 1, 35, 0),
        ("s5/x", 2, 10, 0),
        ("s5/y", 2, 20, 0),
        ("s4", 1, 4, 0),
        ("… 3 more", 1, 6, 100),
    ]
    assert [row.parent for row in top] == [-1, 0, 1, 1, 0, 0]
    assert top[-1].folded == 3


def test_a_single_one_is_not_folded(rows):
    assert folded(rows, None, 4) == rows
    assert [row.path for row in folded(rows, None, 1)] == ["", "s5", "s5/x", "s5/y", "… 4 more"]


def test_deeper_rows_become_part_of_the_one_above(rows):
    flat = folded(rows, 1, None)
    assert [row.depth for row in flat] == [0, 1, 1, 1, 1, 1]
    assert next(row for row in flat if row.path == "s5").own.macs == 35
    assert [row.own.macs for row in folded(rows, 0, None)] == [45]


def adds_up(rows):
    for place, row in enumerate(rows):
        inner = [other for other in rows if other.parent == place]
        for field in ("macs", "other", "flops", "activation_bytes", "picos"):
            total = getattr(row.own, field) + sum(getattr(r.total, field) for r in inner)
            assert total == getattr(row.total, field)
        for field in ("params", "trainable", "non_trainable", "unknown", "size_bytes"):
            total = getattr(row.own_weights, field)
            total += sum(getattr(r.weights, field) for r in inner)
            assert total == getattr(row.weights, field)


scopes = st.lists(st.sampled_from("abc"), max_size=4).map("/".join)
amounts = st.builds(Amounts, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@given(
    st.dictionaries(scopes, amounts), st.dictionaries(scopes, st.integers(0, 9)),
    st.none() | st.integers(0, 3), st.none() | st.integers(1, 3),
)  # fmt: skip
def test_own_and_inner_rows_always_add_up_to_the_total(own, weights, depth, top):
    variables = [param(f"{scope}/w".strip("/"), count) for scope, count in weights.items()]
    rows = folded(scope_rows(ScopeSums(own), variables, {}), depth, top)
    adds_up(rows)
    assert rows[0].total.flops == sum(each.flops for each in own.values())
    assert rows[0].weights.params == sum(weights.values())


def test_shares():
    assert share(1, 4) == 0.25
    assert share(BATCH, 4 * BATCH) == 0.25
    assert share(0, 0) is None
