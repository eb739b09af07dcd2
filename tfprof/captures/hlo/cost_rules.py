"""Float operations and bytes of single HLO opcodes: a rule for each that is not elementwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final

from tfprof.captures.hlo.convolutions import (
    convolution_multiply_adds,
    convolution_shapes,
    dot_multiply_adds,
)
from tfprof.captures.hlo.library_calls import is_convolution_call, product_dimensions
from tfprof.captures.hlo.opcodes import FLOATS
from tfprof.captures.model.hlo import Instruction, Shape


@dataclass(slots=True)
class Work:
    """A cost in the making: each operand and each leaf of the result separately.

    Attributes:
        flops: Float operations, without functions of the math library.
        transcendentals: Calls of functions of the math library.
        read: Bytes read of each operand.
        written: Bytes written of each leaf of the result.
        inner: Bytes that called computations move.
        is_known: Whether these numbers are complete.
    """

    flops: int = 0
    transcendentals: int = 0
    read: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    inner: tuple[int, int, int] = (0, 0, 0)
    is_known: bool = True


def size_of(shape: Shape) -> int:
    """Bytes of an array, or of all arrays of a tuple."""
    return sum(leaf.n_bytes for leaf in shape.leaves)


def elements_of(instruction: Instruction, place: int) -> int:
    """Elements of an operand; 0 if it does not exist."""
    operands = instruction.operands
    return operands[place].shape.n_elements if 0 <= place < len(operands) else 0


def window_size(instruction: Instruction) -> int:
    """Elements of an instruction's window."""
    return prod(dimension.size for dimension in instruction.attributes.window)


def _dot(instruction: Instruction, work: Work) -> None:
    numbers = instruction.attributes.dot
    if numbers is None or not instruction.operands:
        work.is_known = False
    else:
        lhs = instruction.operands[0].shape
        terms = 4 if lhs.element_type in ("c64", "c128") else 1
        work.flops = 2 * terms * dot_multiply_adds(lhs, instruction.shape, numbers)


def _convolution(instruction: Instruction, work: Work) -> None:
    shapes = convolution_shapes(instruction)
    work.flops = 2 * convolution_multiply_adds(instruction, shapes)


def _custom_call(instruction: Instruction, work: Work) -> None:
    leaves = instruction.shape.leaves
    result = leaves[0] if leaves else instruction.shape
    numbers = product_dimensions(instruction)
    if numbers is not None:
        work.flops = 2 * dot_multiply_adds(instruction.operands[0].shape, result, numbers)
    elif is_convolution_call(instruction):
        _convolution(instruction, work)
    else:
        work.is_known = False
        return
    # If the last result has type u8 or s8, it is the library's scratch memory.
    if len(leaves) > 1 and leaves[-1].element_type in ("u8", "s8"):
        work.written[-1] = 0


def _slice(instruction: Instruction, work: Work) -> None:
    """It reads only as much of its first operand as it returns."""
    if work.read:
        work.read[0] = size_of(instruction.shape)


def _dynamic_update_slice(instruction: Instruction, work: Work) -> None:
    """It writes the update into the operand's memory."""
    if len(work.read) > 1 and len(work.written) == 1:
        work.read[0], work.written = 0, [work.read[1]]


def scatter(instruction: Instruction, work: Work) -> None:
    """It reads and writes only the updated parts of its operands."""
    n_arrays = len(instruction.operands) // 2
    updates = work.read[n_arrays + 1 :]
    if len(updates) == n_arrays == len(work.written):
        work.read[:n_arrays], work.written = updates, list(updates)


def _forwards(instruction: Instruction, work: Work) -> None:
    """It passes on results that another instruction has moved."""
    work.read, work.written = [0] * len(work.read), [0] * len(work.written)


def _copy_start(instruction: Instruction, work: Work) -> None:
    """Its results are the copy and the source of the copy."""
    work.written[1:] = [0] * len(work.written[1:])


def _gather_start(instruction: Instruction, work: Work) -> None:
    """Its results are the sent and the received data."""
    work.written[:1] = [0] * len(work.written[:1])


def _send(instruction: Instruction, work: Work) -> None:
    work.written = [0] * len(work.written)


def _fft(instruction: Instruction, work: Work) -> None:
    """Each halving needs one complex product per element, each of eight float operations."""
    halvings = prod(max(length, 1).bit_length() - 1 for length in instruction.attributes.fft[1])
    work.flops = 8 * halvings * elements_of(instruction, 0)


def _triangular_solve(instruction: Instruction, work: Work) -> None:
    if len(work.read) > 1 and instruction.operands[0].shape.dimensions:
        work.read[0] //= 2
        work.flops = 2 * instruction.operands[0].shape.dimensions[-1] * elements_of(instruction, 1)


def _cholesky(instruction: Instruction, work: Work) -> None:
    if work.read and instruction.operands[0].shape.dimensions:
        work.read[0] //= 2
        work.written = [size // 2 for size in work.written]
        n_rows = instruction.operands[0].shape.dimensions[-1]
        work.flops = n_rows * elements_of(instruction, 0) // 3


def _sort(instruction: Instruction, work: Work) -> None:
    if instruction.operands and instruction.operands[0].shape.element_type in FLOATS:
        elements = elements_of(instruction, 0)
        work.flops = elements * max(elements - 1, 0).bit_length()


def _random(instruction: Instruction, work: Work) -> None:
    if instruction.shape.element_type in FLOATS:
        work.transcendentals = instruction.shape.n_elements


RULES: Final[Mapping[str, Callable[[Instruction, Work], None]]] = {
    "dot": _dot,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "slice": _slice,
    "dynamic-slice": _slice,
    "gather": _slice,
    "dynamic-update-slice": _dynamic_update_slice,
    **dict.fromkeys(
        ("tuple", "async-update", "async-done", "copy-done", "send-done", "recv-done",
         "all-gather-done", "all-reduce-done", "collective-permute-done"),
        _forwards,
    ),
    "copy-start": _copy_start,
    "all-gather-start": _gather_start,
    "collective-permute-start": _gather_start,
    "send": _send,
    "fft": _fft,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
    "sort": _sort,
    "rng": _random,
}  # fmt: skip
"""By opcode: a function that changes the work. By default all operands are read and all results
are written."""
