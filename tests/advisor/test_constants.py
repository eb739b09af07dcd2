import pytest

import tfprof
from tfprof.advisor.constants import check_recomputed_constants
from tfprof.testing.builders import graph, op, op_log, run, traced

from .checking import found, the_finding

NODES = [
    op("c", "Const"),
    op("gram", "MatMul", "c", "c"),
    op("root", "Sqrt", "gram", "^x"),
    op("x", "Placeholder"),
    op("y", "Mul", "root", "x"),
]
LOG = op_log(traced("gram", "train.py:4:main"), traced("root", "train.py:5:main"))


def test_a_profile_without_ops_has_no_findings():
    assert tfprof.Profiler(graph()).findings() == []


def test_results_that_never_change():
    finding = the_finding(
        check_recomputed_constants, NODES, run({"c": 1, "gram": 300, "root": 100, "y": 599}),
        op_log=LOG,
    )  # fmt: skip
    assert (finding.rule, finding.severity) == ("RecomputedConstantChecker", "warning")
    assert finding.evidence == {
        "op_count": 2, "op_micros": 400, "op_share": 0.4, "total_micros": 1000,
    }  # fmt: skip
    assert "most of it in 'gram' ('MatMul')" in finding.message
    assert finding.place == "train.py:4 in main"
    assert finding.gain.amount == 400


@pytest.mark.parametrize(("micros", "n"), [(99, 0), (100, 1)])
def test_cheap_ones_are_left_alone(micros, n):
    assert len(found(check_recomputed_constants, NODES, run({"gram": micros}))) == n
    assert found(check_recomputed_constants, NODES, run({"gram": micros, "y": 99_999})) == []
    assert len(found(check_recomputed_constants, NODES, run({"gram": micros, "y": 9_900}))) == n


def test_the_shortest_ops_count():
    finding = the_finding(check_recomputed_constants, NODES, run({"gram": 500, "root": 1}))
    assert finding.evidence["op_count"] == 2


@pytest.mark.parametrize(
    "type_",
    ["RandomUniform", "TensorSliceDataset", "RestoreV2", "TensorArrayV3", "ReadFile", "Enter",
     "StatefulPartitionedCall", "PyFunc", "HashTableV2", "Timestamp", "AssignVariableOp"],
)  # fmt: skip
def test_ops_with_state_and_what_follows_are_not_constants(type_):
    nodes = [op("c", "Const"), op("s", type_, "c"), op("t", "Sqrt", "s")]
    assert found(check_recomputed_constants, nodes, run({"s": 500, "t": 500})) == []


def test_one_input_that_changes_is_enough():
    nodes = [op("c", "Const"), op("v", "VarHandleOp"), op("r", "ReadVariableOp", "v"),
             op("a", "Add", "c", "r"), op("b", "Add", "c", "unknown")]  # fmt: skip
    assert found(check_recomputed_constants, nodes, run({"a": 500, "b": 500})) == []


def test_an_op_that_reads_one_constant_twice_and_ops_without_inputs():
    nodes = [op("c", "Const"), op("a", "Add", "c", "c:0"), op("z", "SomeSource")]
    finding = the_finding(check_recomputed_constants, nodes, run({"a": 500, "z": 500}))
    assert finding.evidence["op_micros"] == 500


def test_a_deep_chain():
    nodes = [op("op0", "Const")]
    nodes += [op(f"op{i}", "Identity", f"op{i - 1}") for i in range(1, 20_000)]
    finding = the_finding(check_recomputed_constants, nodes, run({"op19999": 500}))
    assert finding.evidence["op_count"] == 1


def test_without_a_run():
    assert found(check_recomputed_constants, NODES) == []
