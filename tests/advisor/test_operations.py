import pytest

from tfprof.advisor.operations import check_operations
from tfprof.testing.builders import CPU, GPU, op, op_log, run, traced

from .checking import FLOAT16, FLOAT32, found, the_finding, typed


def batch_norm(scope, *types):
    return [op(f"{scope}/{type_.lower()}", type_) for type_ in types]


def test_a_batch_norm_made_of_small_ops_is_blamed():
    nodes = [*batch_norm("net/bn_1/BatchNorm", "Rsqrt", "Mul", "Sub"), op("mm", "MatMul")]
    log = op_log(traced("net/bn_1/BatchNorm/mul", "net.py:3:bn"))
    run_meta = run({"net/bn_1/BatchNorm/mul": 30, "net/bn_1/BatchNorm/rsqrt": 20, "mm": 950})
    finding = the_finding(check_operations, nodes, run_meta, op_log=log)
    assert (finding.rule, finding.severity) == ("OperationChecker", "warning")
    assert finding.evidence == {
        "batch_norm_count": 1, "op_micros": 50, "op_share": 0.05, "total_micros": 1000,
    }  # fmt: skip
    assert finding.message.startswith(
        "1 batch norm is made of small ops ('net/bn_1/BatchNorm'); they take 50 µs (5.0 % of all "
        "ops). Use the fused op"
    )
    assert finding.place == "net.py:3 in bn"
    assert finding.gain.amount == 50


def test_without_a_run_the_graph_decides():
    finding = the_finding(check_operations, batch_norm("BatchNorm", "Rsqrt"))
    assert (finding.severity, finding.gain) == ("warning", None)


def test_a_cheap_one_is_only_good_to_know():
    nodes = [*batch_norm("batch_normalization/batchnorm", "Rsqrt"), op("mm")]
    run_meta = run({"batch_normalization/batchnorm/rsqrt": 4, "mm": 96})
    finding = the_finding(check_operations, nodes, run_meta)
    assert finding.severity == "info"
    assert "('batch_normalization')" in finding.message


def test_many_are_counted_and_three_are_named():
    nodes = [node for i in range(5) for node in batch_norm(f"l{i}/batch_norm", "Rsqrt")]
    message = the_finding(check_operations, nodes).message
    assert message.startswith(
        "5 batch norms are made of small ops (for example 'l0/batch_norm', 'l1/batch_norm' and "
        "'l2/batch_norm')."
    )


@pytest.mark.parametrize(
    "fused", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"]
)
def test_every_release_of_the_fused_op_is_fused(fused):
    nodes = batch_norm("net/BatchNorm", fused, "Rsqrt", "AssignSub")
    assert found(check_operations, nodes) == []


def test_one_fused_batch_norm_does_not_excuse_another():
    nodes = [*batch_norm("a/BatchNorm", "FusedBatchNormV3"), *batch_norm("b/BatchNorm", "Rsqrt")]
    assert "('b/BatchNorm')" in the_finding(check_operations, nodes).message


def test_a_name_alone_makes_no_batch_norm():
    nodes = [
        *batch_norm("Adam/update_BatchNorm", "Sqrt", "Mul"),
        *batch_norm("gradients/BatchNorm", "Mul"),
        op("BatchNorm", "Rsqrt"),
        *batch_norm("layer_norm", "Rsqrt"),
    ]
    assert found(check_operations, nodes) == []


def conv(data_format, element_type=FLOAT32):
    return typed(op("conv", "Conv2D", data_format=data_format), element_type)


@pytest.mark.parametrize(
    ("data_format", "element_type", "device", "severity"),
    [
        ("NHWC", FLOAT32, GPU, "info"),
        ("NDHWC", FLOAT32, GPU, "info"),
        ("NCHW", FLOAT32, GPU, None),
        ("NHWC", FLOAT16, GPU, None),
        ("NCHW", FLOAT16, GPU, "warning"),
        ("NCHW", FLOAT32, CPU, "warning"),
        ("NHWC", FLOAT32, CPU, None),
        ("", FLOAT32, GPU, None),
    ],
)
def test_the_data_format_should_suit_the_device(data_format, element_type, device, severity):
    nodes = [conv(data_format, element_type), op("other")]
    findings = found(check_operations, nodes, run({"conv": 60, "other": 40}, device=device))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    for finding in findings:
        assert finding.evidence == {
            "op_count": 1, "op_micros": 60, "op_share": 0.6, "total_micros": 100,
        }  # fmt: skip
        assert finding.message.startswith("1 op (60 µs, 60.0 % of the time) uses the data format")


def test_what_grappler_has_changed_at_run_time_is_not_judged():
    name = "conv-0-TransposeNHWCToNCHW-LayoutOptimizer"
    assert found(check_operations, [conv("NHWC")], run({"conv": 60, name: 1}, device=GPU)) == []


def test_ops_that_did_not_run_are_on_no_device():
    assert found(check_operations, [conv("NCHW")]) == []
    assert found(check_operations, [conv("NCHW"), op("a")], run({"a": 1})) == []
