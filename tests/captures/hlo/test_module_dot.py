"""Compiled programs in the language of Graphviz."""

from tests.captures.hlo.small_programs import INSIDE
from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.module_dot import dot_lines


def test_instructions_are_boxes_and_operands_lead_to_them():
    main = [
        op("p", "parameter", "f32[4]"),
        op("a", "add", "f32[4]", "p", "p"),
        op("n", 'say "no"', "f32[4]", "a"),
    ]
    assert list(dot_lines(read(program(main=main)))) == [
        'digraph "test" {',
        "node [shape=box];",
        "subgraph cluster_0 {",
        'label="main";',
        r'"p" [label="p\nparameter f32[4]"];',
        r'"a" [label="a\nadd f32[4]"];',
        r'"n" [label="n\nsay \"no\" f32[4]"];',
        "}",
        '"p" -> "a";',
        '"p" -> "a";',
        '"a" -> "n";',
        "}",
    ]


def test_each_computation_has_a_frame():
    main = [op("a", "parameter", "f32[4]"), op("f", "fusion", "f32[4]", "a", calls=["inside"])]
    lines = list(dot_lines(read(program(main=main, inside=INSIDE))))
    frames = [lines[at + 1] for at, line in enumerate(lines) if line.startswith("subgraph")]
    assert frames == ['label="inside";', 'label="main";']
    assert lines.count("}") == 3
