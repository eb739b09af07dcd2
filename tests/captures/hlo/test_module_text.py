"""Compiled programs as text."""

from tests.captures.hlo.small_programs import INSIDE
from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.module_text import module_lines


def test_a_program_is_its_computations_with_their_instructions():
    main = [
        op("p", "parameter", "f32[4]"),
        op("n", "negate", "f32[4]", "p", metadata={
            "op_name": "model/neg", "op_type": "Neg", "source_file": "train.py", "source_line": 7,
        }),
    ]  # fmt: skip
    assert list(module_lines(read(program(main=main)))) == [
        "HloModule test",
        "",
        "ENTRY %main {",
        "  %p = f32[4]{0} parameter(0)",
        "  ROOT %n = f32[4]{0} negate(f32[4]{0} %p), "
        'metadata={op_type="Neg" op_name="model/neg" source_file="train.py" source_line=7}',
        "}",
    ]


def test_computations_that_others_call_are_there_too():
    main = [
        op("a", "parameter", "f32[4]"), op("f", "fusion", "f32[4]", "a", calls=["inside"]),
    ]  # fmt: skip
    lines = list(module_lines(read(program(main=main, inside=INSIDE))))
    assert lines.index("%inside {") < lines.index("ENTRY %main {")
    assert sum(line.startswith("  ROOT ") for line in lines) == 2
