"""Instructions of programs that the capture lacks, from the annotations of their kernels."""

import pytest

from tests.captures.events.made import NOW
from tfprof.captures.facts.hlo_programs import annotated
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.trace.tracks import derived_lines
from tfprof.core.columns.numerals import LARGEST
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

BASIC = {"hlo_module": "jit_f", "program_id": 7, "tf_op": "XlaModule:", "kernel_details": NOW}
DETAILED = {
    "op_type": "add", "op_name": "jit(f)/dense/add", "source_file": "/a/model.py",
    "source_line": "12", "shape": "f32[4]",
}  # fmt: skip


def run_of(*kernels):
    return opened(xspace(host(line()), gpu(line(*kernels, id=14, name="Stream #14"))))


def row(table, name, column):
    return dict(zip(table.column(name), table.column(column), strict=True))


ANNOTATED = (
    event("loop_add_fusion", 0, 500, hlo_op="loop_add_fusion", **DETAILED, **BASIC),
    event("sgemm", 500, 300, hlo_op="custom-call.1", prefix="jit(f)", name="dense/dot", **BASIC),
)


def test_level_1_tells_op_source_and_shape():
    table = hlo_stats(run_of(*ANNOTATED)).table()
    assert row(table, "hlo_op_name", "source_info")["loop_add_fusion"] == "/a/model.py:12"
    assert row(table, "hlo_op_name", "tf_op_name") == {
        "loop_add_fusion": "jit(f)/dense/add:add", "custom-call.1": "jit(f)/dense/dot:",
    }  # fmt: skip
    texts = row(table, "hlo_op_name", "hlo_op_expression")
    assert texts["loop_add_fusion"] == "%loop_add_fusion = f32[4]"
    assert row(table, "hlo_op_name", "model_flop_rate") == {
        "loop_add_fusion": None, "custom-call.1": None,
    }, "costs stay unknown"  # fmt: skip


def test_all_tools_name_the_op():
    run = run_of(*ANNOTATED)
    ops = {"jit(f)/dense/add", "jit(f)/dense/dot"}
    assert set(op_stats(run).table().column("operation")) == ops
    assert set(kernel_stats(run).table().column("op_name")) == ops
    lines = {each.name: each.names for each in derived_lines(run.hosts[0]).lines}
    assert lines["Source code - from #14"] == ["/a/model.py:12"]


@pytest.mark.parametrize(
    ("line", "number"), [("7" * 5000, LARGEST), ("²", 0), ("-1", 0), ("", 0), (13, 13)]
)
def test_any_text_may_be_a_line(line, number):
    kernel = event("k", 0, 9, **{**DETAILED, **BASIC, "source_line": line}, hlo_op="k")
    (found,) = annotated(run_of(kernel).hosts[0]).values()
    assert found.source_line == number


def test_the_reference_does_not_read_them():
    run = run_of(*ANNOTATED)
    assert set(kernel_stats(run, classic=True).table().column("op_name")) == {"XlaModule"}
    assert "jit(f)" not in str(hlo_stats(run, classic=True).table().rows)


def test_basic_annotations_without_a_name_tell_the_instruction_only():
    run = run_of(event("k", 0, 9, hlo_op="loop_add_fusion", **BASIC))
    assert kernel_stats(run).table().column("op_name") == ["jit_f(7)/loop_add_fusion"]
