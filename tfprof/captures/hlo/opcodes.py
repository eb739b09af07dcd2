"""Kinds of HLO opcodes, and the category of an instruction in tools."""

from __future__ import annotations

from typing import Final

from tfprof.captures.model.hlo import BITS, Instruction

TRANSCENDENTAL: Final = frozenset(
    ("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "power", "sqrt",
     "cbrt", "rsqrt", "tanh", "sine", "cosine", "tan", "atan2", "erf")
)  # fmt: skip
"""Functions of the math library."""

_ARITHMETIC: Final = frozenset(
    ("abs", "add", "and", "ceil", "clamp", "compare", "complex", "count-leading-zeros", "divide",
     "floor", "imag", "is-finite", "maximum", "minimum", "multiply", "negate", "not", "or",
     "popcnt", "real", "reduce-precision", "remainder", "round-nearest-afz", "round-nearest-even",
     "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign",
     "stochastic-convert", "subtract", "xor", "convert", "bitcast-convert")
)  # fmt: skip

COMPUTES_ELEMENTS: Final = TRANSCENDENTAL | _ARITHMETIC
"""Opcodes that compute each element of the result from the operands' elements at its place."""

ELEMENTWISE: Final = COMPUTES_ELEMENTS | {"constant", "copy", "map", "rng"}
"""Opcodes for which elements stay in their places, according to XLA."""

FLOATS: Final = frozenset(kind for kind in BITS if kind.startswith(("f", "bf", "c")))
"""Types whose arithmetic counts as float operations."""

_NO_ARITHMETIC: Final = frozenset(
    ("and", "bitcast-convert", "complex", "convert", "count-leading-zeros", "imag", "not", "or",
     "popcnt", "real", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical",
     "stochastic-convert", "xor")
)  # fmt: skip
_TWO_STEPS: Final = frozenset(("clamp", "sign"))
_COMPLEX: Final = {"multiply": 6, "divide": 11}


def flops_per_element(instruction: Instruction) -> int:
    """Float operations for each element, by the convention of ``tfprof.graphs.flops``.

    A complex addition counts as 2, a product as 6, a quotient as 11, a complex function as 2.
    """
    opcode, shape = instruction.opcode, instruction.shape
    if opcode == "compare" and instruction.operands:
        shape = instruction.operands[0].shape
    if opcode in _NO_ARITHMETIC or shape.element_type not in FLOATS:
        return 0
    if shape.element_type.startswith("c"):
        return _COMPLEX.get(opcode, 2)
    return 2 if opcode in _TWO_STEPS else 1


TOUCHES_NOTHING: Final = frozenset(
    ("parameter", "constant", "get-tuple-element", "bitcast", "after-all", "add-dependency",
     "domain", "opt-barrier", "partition-id", "replica-id")
)  # fmt: skip
"""Opcodes that read and write no memory when the program runs."""

_DATA_FORMATTING: Final = frozenset(("transpose", "copy", "reshape", "dynamic-reshape"))

_FUSIONS: Final = {
    "kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion",
    "kCustom": "custom fusion",
}  # fmt: skip


def is_bitcast(instruction: Instruction) -> bool:
    """Whether a transpose leaves memory unchanged, because the layout changes with it."""
    order = instruction.attributes.dimensions
    if instruction.opcode != "transpose" or not instruction.operands:
        return False
    before, after = instruction.operands[0].shape.layout, instruction.shape.layout
    if before is None or after is None or before.tiles or after.tiles:
        return False
    if any(not 0 <= place < len(order) for place in after.minor_to_major):
        return False
    return before.minor_to_major == tuple(order[place] for place in after.minor_to_major)


def category_of(instruction: Instruction) -> str:
    """The category of an instruction, as in ``HloInstruction::ToCategory``.

    Compilers for TPUs write finer ones (``convolution fusion``) into their captures, as stats of
    events.
    """
    opcode = instruction.opcode
    if opcode == "fusion":
        return _FUSIONS.get(instruction.attributes.fusion_kind, "fusion")
    if opcode == "convolution":
        window = instruction.attributes.window
        base = any(dimension.base_dilation != 1 for dimension in window)
        dilated = any(dimension.window_dilation != 1 for dimension in window)
        return opcode + (" base-dilated" if base else "") + (" window-dilated" if dilated else "")
    if opcode in _DATA_FORMATTING:
        return "data formatting"
    return "non-fusion elementwise" if opcode in ELEMENTWISE else opcode
