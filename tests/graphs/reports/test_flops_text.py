import re

import pytest

from tests.graphs.interpreter.programs import FLOAT, Ref, Type, function, graph, node, placeholder
from tests.graphs.reports.programs import matmul, two_layers
from tfprof.graphs.model.symbolic import Symbolic, maximum
from tfprof.graphs.reports.flops import flops
from tfprof.graphs.reports.flops_text import (
    explanation,
    headline,
    number_text,
    shape_text,
    short_number,
    type_lines,
)

BATCH = Symbolic.named("B")


def odd(name, op="NoSuchOp"):
    return node(name, op, "x", T=Type(FLOAT))


def test_the_headline_of_a_small_graph():
    assert (
        headline(flops(two_layers(8)))
        == """\
328 FLOPs, 144 MACs
A multiply-add is 1 MAC and 2 FLOPs. Every other operation on floats is 1 FLOP; integer arithmetic
on indices and shapes is not counted.

FLOPs by op type:
  MatMul  288  87.8 %
  Relu     24   7.3 %
  AddV2    16   4.9 %

Coverage: 100 % of 10 ops: 4 counted, 6 without float operations."""
    )


def test_open_sizes_have_no_shares():
    text = headline(flops(two_layers()))
    assert text.startswith("41·B FLOPs, 18·B MACs\n")
    assert "  MatMul  36·B\n  Relu     3·B\n  AddV2    2·B\n" in text


def test_macs():
    text = headline(flops(two_layers(8), convention="macs"))
    assert "MACs by op type:\n  MatMul  144  100.0 %\n\n" in text


def test_parts_of_a_step():
    message = graph(
        placeholder("x", 8, 8), matmul("net/mm", "x", "x"), matmul("gradients/net/mm", "x", "x"),
        matmul("gradients/net/mm_1", "x", "x"), matmul("w/Initializer/mm", "x", "x"),
    )  # fmt: skip
    text = headline(flops(message))
    assert (
        "FLOPs of one step:\n"
        "  forward   1,024  33.3 %\n"
        "  backward  2,048  66.7 %\n"
        "Variables are initialized once: 1,024, not in the total.\n"
    ) in text
    assert text.startswith("3,072 FLOPs")
    assert "Initializer" not in explanation(flops(message))


def test_many_op_types_become_one_line():
    report = flops(two_layers(8))
    assert type_lines(report, 1) == [
        "FLOPs by op type:", "  MatMul         288  87.8 %", "  2 other types   40  12.2 %",
    ]  # fmt: skip
    assert type_lines(report, 2)[-1] == "  1 other type   16   4.9 %"


def test_what_was_not_counted_is_grouped_by_its_reason():
    message = graph(
        placeholder("x", 8), node("y", "Placeholder", dtype=Type(FLOAT)),
        odd("a"), odd("b"), odd("c", "StrangeOp"), node("d", "MatMul", "y", "y", T=Type(FLOAT)),
    )  # fmt: skip
    lines = headline(flops(message)).splitlines()
    start = lines.index(
        "Coverage: 33.33 % of 6 ops: 0 counted, 2 without float operations, 4 NOT COUNTED:"
    )
    assert lines[start + 1].startswith("  3 ops: there is no formula")
    assert lines[start + 2] == "    NoSuchOp × 2, StrangeOp × 1"
    assert lines[start + 3].startswith("  1 op: the shape")
    assert lines[start + 4] == "    MatMul × 1"
    assert "No op has FLOPs." in lines


def test_nearly_everything_is_not_everything():
    relus = [node(f"r{i}", "Relu", "x", T=Type(FLOAT)) for i in range(20_000)]
    text = headline(flops(graph(placeholder("x", 8), odd("a"), *relus)))
    assert "Coverage: >99.99 % of 20,002 ops" in text


def test_formulas_are_explained_once_with_the_numbers_of_each_size():
    message = graph(
        placeholder("x", 8, 8), placeholder("z", 4, 4), matmul("a/mm", "x", "x"),
        matmul("b/mm", "x", "x"), matmul("c/mm", "z", "z"),
    )  # fmt: skip
    lines = explanation(flops(message)).splitlines()
    start = lines.index("MatMul: 3 ops, 2,176 FLOPs, 100.0 %")
    assert lines[start + 1] == "  2·n·k"
    assert lines[start + 2].startswith("  Each of n elements")
    assert lines[-2:] == [
        "    2 × 1,024  with n = 64, k = 8  a/mm and 1 more",
        "    1 ×   128  with n = 16, k = 4  c/mm",
    ]


def test_the_most_expensive_sizes():
    message = graph(
        placeholder("x", 8, 8), placeholder("z", 4, 4), matmul("a/mm", "x", "x"),
        matmul("c/mm", "z", "z"), node("r", "Relu", "x", T=Type(FLOAT)),
    )  # fmt: skip
    text = explanation(flops(message), top=1)
    assert text.endswith(
        "    1 × 1,024  with n = 64, k = 8  a/mm\n    … and 1 cheaper size\n\n"
        "… and 1 cheaper op type"
    )
    assert "\nRelu:" in explanation(flops(message), top=3)
    assert "no op has float operations" in explanation(flops(graph(placeholder("x", 8))))


def test_runs_and_functions_are_named():
    body = function("f", {"a": FLOAT}, {"b": ("mm:product:0", FLOAT)}, matmul("mm", "a", "a"))
    call = {"f": Ref("f"), "Tin": [FLOAT], "Tout": [FLOAT]}
    message = graph(
        placeholder("x", 8, 8), node("one", "PartitionedCall", "x", **call),
        node("two", "PartitionedCall", "one", **call), body,
    )  # fmt: skip
    assert "    1 × 1,024 × 2 runs  with n = 64, k = 8  mm in f" in explanation(flops(message))


def test_lines_are_wrapped_and_end_without_blanks():
    name = "very/" + "deep/" * 30 + "mm"
    message = graph(placeholder("x", None, 8), matmul(name, "x", "x"), matmul("m", "x", "x"))
    lines = explanation(flops(two_layers()), width=60).splitlines()
    assert max(map(len, lines)) <= 60
    for line in explanation(flops(message)).splitlines():
        assert line == line.rstrip()
        assert len(line) <= 100 or name in line


def test_names_can_not_steer_a_terminal():
    message = graph(placeholder("x", 8, 8), matmul("a\x1b[31m", "x", "x"), odd("b", "Odd\x1b"))
    text = explanation(flops(message))
    assert "\x1b" not in text
    assert re.search(r"a\\x1b\[31m", text)
    size = Symbolic.named("x\x1b")
    for shown in (number_text(size), short_number(size), shape_text((size,))):
        assert "x\\x1b" in shown


@pytest.mark.parametrize(
    ("number", "short"),
    [
        (0, "0"),
        (999, "999"),
        (4_089_184_256, "4.09 G"),
        (20_000 * BATCH + 400, "20.0 k·B + 400"),
        (7_764_221_808 * BATCH + 159_360, "7.76 G·B + 159 k"),
        (BATCH * BATCH - 12_345 * BATCH, "B^2 - 12.3 k·B"),
        (5 * BATCH + sum(Symbolic.named(f"size_{i}") for i in range(9)), "5·B + …"),
        (3 * maximum(BATCH, Symbolic.named("a_long_name_of_a_size")), "3·max(B, a_long_name_…"),
    ],
)
def test_numbers_for_tables(number, short):
    assert short_number(number) == short


def test_numbers_and_shapes():
    assert number_text(9_999) == "9,999"
    assert number_text(4_089_184_256) == "4,089,184,256 (4.09 G)"
    assert number_text(20_000 * BATCH) == "20,000·B"
    assert shape_text((BATCH, None, 3)) == "[B, ?, 3]"
    assert shape_text(()) == "[]"
    assert shape_text(None) == "?"
