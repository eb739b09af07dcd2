"""Ops of devices as a tree."""

import pytest

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps, OpKey, Traffic
from tfprof.captures.events.ops.op_tree import op_tree, shown_ops


def op(name, time, category="loop fusion", provenance="", *, own=None, program=1, **facts):
    return DeviceOp(
        OpKey(program, name), category, provenance, occurrences=2, time_ps=time,
        self_ps=time if own is None else own, normalized_ps=time, flops=time, model_flops=time,
        traffic=Traffic(time, time), **facts,
    )  # fmt: skip


def outline(tree):
    return [(level, node.name, node.time_ps) for level, node in tree.walk()]


def build(*ops, by="program", idle=0, with_idle=False, names=None, **how):
    total = sum(one.self_ps for one in ops) + idle
    whole = DeviceOps(ops, total, idle)
    return op_tree(whole, by, {1: "jit(1)"} if names is None else names, with_idle=with_idle, **how)


def test_by_program():
    tree = build(op("a.1", 30), op("b.1", 20, "copy"), op("c.1", 5, program=9))
    assert outline(tree) == [
        (0, "by_program", 55), (1, "jit(1)", 50), (2, "loop fusion", 30), (3, "a.1", 30),
        (2, "copy", 20), (3, "b.1", 20), (1, "main", 5), (2, "loop fusion", 5), (3, "c.1", 5),
    ]  # fmt: skip
    assert (tree.flops, tree.occurrences, tree.children[0].occurrences) == (55, 0, 0)
    assert tree.children[0].children[0].occurrences == 2


def test_by_category():
    tree = build(op("a.1", 30), op("c.1", 5, program=9), op("b.1", 20, "copy"), by="category")
    assert outline(tree) == [
        (0, "by_category", 55), (1, "loop fusion", 35), (2, "a.1", 30), (2, "c.1", 5),
        (1, "copy", 20), (2, "b.1", 20),
    ]  # fmt: skip


def test_by_provenance():
    tree = build(op("a.1", 30, provenance="net/dense/MatMul:MatMul"), op("b.1", 5), by="provenance")
    assert outline(tree) == [
        (0, "by_provenance", 35), (1, "jit(1)", 35), (2, "net", 30), (3, "dense", 30),
        (4, "MatMul", 30), (5, "loop fusion", 30), (6, "a.1", 30), (2, "loop fusion", 5),
        (3, "b.1", 5),
    ]  # fmt: skip


def test_duplicates_are_one_node_with_all_of_them_below():
    tree = build(
        op("a.2", 10, deduplicated_name="a.1", provenance="x:Add"),
        op("a.1", 30, deduplicated_name="a.1", provenance="y:Add"), op("b.1", 5),
    )  # fmt: skip
    assert outline(tree)[2:] == [
        (2, "loop fusion", 45), (3, "a.1 and its duplicate(s)", 40), (4, "a.1", 30),
        (4, "a.2", 10), (3, "b.1", 5),
    ]  # fmt: skip
    group = tree.children[0].children[0].children[0]
    assert (group.is_group, group.occurrences, group.op.provenance) == (True, 4, "")


def test_ops_that_hold_others_count_with_their_own_time_and_have_no_node():
    tree = build(op("while.1", 100, "while", own=10), op("a.1", 90))
    assert outline(tree) == [
        (0, "by_program", 100), (1, "jit(1)", 100), (2, "loop fusion", 90), (3, "a.1", 90),
    ]  # fmt: skip


def test_regions_are_left_out():
    assert [name for _, name, _ in outline(build(op("region_0.1", 10), op("a.1", 5)))] == [
        "by_program", "jit(1)", "loop fusion", "a.1",
    ]  # fmt: skip


def test_fused_ops_lie_in_the_fusion():
    inner = (op("add.1", 0), op("mul.1", 0))
    tree = build(op("a.1", 30, children=inner))
    assert [name for _, name, _ in outline(tree)][-3:] == ["a.1", "add.1", "mul.1"]


def test_idle_time():
    shown = outline(build(op("a.1", 30), idle=70, with_idle=True))
    assert shown[:3] == [(0, "by_program", 100), (1, "IDLE", 70), (1, "jit(1)", 30)]
    assert outline(build(op("a.1", 30), idle=70))[0] == (0, "by_program", 30)
    assert outline(build(idle=70, with_idle=True)) == [(0, "IDLE", 70)]


def test_of_many_children_the_first_are_kept_with_their_number():
    tree = build(*[op(f"a.{n}", 10 + n) for n in range(7)], by="category", most_children=3)
    [category] = tree.children
    assert [child.name for child in category.children] == ["a.6", "a.5", "a.4"]
    assert (category.n_children, category.time_ps) == (7, sum(range(10, 17)))


@pytest.mark.parametrize("by", ["program", "category", "provenance"])
def test_nothing(by):
    assert outline(build(by=by)) == [(0, f"by_{by}", 0)]


def test_deep_provenance_needs_no_recursion():
    tree = build(op("a.1", 1, provenance="/".join(["x"] * 5000) + ":Add"), by="provenance")
    assert max(level for level, _ in tree.walk()) == 5003


def test_the_most_time_of_its_own_comes_first():
    ops = DeviceOps((op("b", 5), op("a", 5), op("c", 90, own=1), op("d", 7)))
    assert [one.key.name for one in shown_ops(ops)] == ["d", "a", "b", "c"]
