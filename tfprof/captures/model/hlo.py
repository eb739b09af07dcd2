"""Programs that XLA compiled: shapes, instructions, computations and modules, as light objects.

>>> f32 = Shape("f32", (2, 3), Layout((1, 0)))
>>> f32.text(), f32.text(with_layout=True), f32.n_bytes
('f32[2,3]', 'f32[2,3]{1,0}', 24)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Final

from tfprof.captures.model.hlo_buffers import BufferAssignment
from tfprof.core.columns.remarks import Notice

BITS: Final[Mapping[str, int]] = {
    "pred": 8, "s1": 1, "s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128,
    "f8e5m2": 8, "f8e4m3": 8, "f8e4m3fn": 8, "f8e4m3b11fnuz": 8, "f8e3m4": 8,
    "f8e5m2fnuz": 8, "f8e4m3fnuz": 8, "f4e2m1fn": 4, "f8e8m0fnu": 8,
}  # fmt: skip
"""Bits of an element of each array type."""

POINTER_BYTES: Final = 8
"""Bytes of an entry of a tuple, without the array that it points to."""


def numbered(texts: Sequence[str]) -> str:
    """A list as XLA writes it, with an index at every fifth part."""
    return ", ".join(
        f"/*index={number}*/{text}" if number and number % 5 == 0 else text
        for number, text in enumerate(texts)
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory.

    Attributes:
        minor_to_major: Dimensions, the fastest one first.
        tiles: Sizes of each level of tiles, which determine the padding.
        element_bits: Bits of packed elements; 0 if elements have the size of their type.
        memory_space: 0 is the main memory of the device.
    """

    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    element_bits: int = 0
    memory_space: int = 0

    def text(self) -> str:
        """As XLA writes it: ``{1,0:T(8,128)S(5)}``."""
        more = "T" + "".join(f"({','.join(map(str, t))})" for t in self.tiles) if self.tiles else ""
        more += f"E({self.element_bits})" if self.element_bits else ""
        more += f"S({self.memory_space})" if self.memory_space else ""
        order = ",".join(map(str, self.minor_to_major))
        return f"{{{order}:{more}}}" if more else f"{{{order}}}"


@dataclass(frozen=True)
class Shape:
    """Type and sizes of an array, or of the parts of a tuple.

    Attributes:
        element_type: ``f32``, ``bf16``, …; ``tuple``, ``token``, ``opaque``; ``invalid`` for
            an unknown type.
        dimensions: Sizes of an array; bounds for dynamic dimensions.
        layout: Layout of an array, or None.
        parts: Parts of a tuple.
        dynamic: Which dimensions may be smaller; empty if none may.
    """

    element_type: str
    dimensions: tuple[int, ...] = ()
    layout: Layout | None = None
    parts: tuple[Shape, ...] = ()
    dynamic: tuple[bool, ...] = ()

    @property
    def is_tuple(self) -> bool:
        """Whether it has parts instead of elements."""
        return self.element_type == "tuple"

    @property
    def is_array(self) -> bool:
        """Whether it has elements."""
        return self.element_type in BITS

    @cached_property
    def n_elements(self) -> int:
        """Elements of the array, or of all arrays in a tuple."""
        return sum(prod(leaf.dimensions) for leaf in self.leaves if leaf.is_array)

    @cached_property
    def n_bytes(self) -> int:
        """Bytes without padding; for a tuple only those of its pointers."""
        if self.is_tuple:
            return POINTER_BYTES * len(self.parts)
        bits = BITS.get(self.element_type, 0)
        if self.layout is not None and self.layout.element_bits:
            bits = self.layout.element_bits
        elif bits < 8:
            bits = 8 if bits else 0  # small elements share a byte only if the layout states it
        return -(-prod(self.dimensions) * bits // 8)

    @cached_property
    def leaves(self) -> tuple[Shape, ...]:
        """The shape itself, or the parts of a tuple and of its nested tuples, in order."""
        waiting, leaves = [self], []
        while waiting:
            shape = waiting.pop()
            if shape.is_tuple:
                waiting += reversed(shape.parts)
            else:
                leaves.append(shape)
        return tuple(leaves)

    def part(self, index: tuple[int, ...]) -> Shape:
        """The part of a tuple at an index; the innermost existing shape for an invalid index."""
        shape = self
        for place in index:
            if not 0 <= place < len(shape.parts):
                return shape
            shape = shape.parts[place]
        return shape

    def text(self, *, with_layout: bool = False) -> str:
        """As XLA writes it: ``f32[2,3]{1,0}``, ``(f32[2], s32[])``."""
        if self.is_tuple:
            return f"({numbered([part.text(with_layout=with_layout) for part in self.parts])})"
        if self.element_type == "token":
            return "token[]"
        dynamic = self.dynamic or (False,) * len(self.dimensions)
        sizes = ",".join(
            f"<={size}" if bounded else str(size)
            for size, bounded in zip(self.dimensions, dynamic, strict=False)
        )
        text = f"{self.element_type}[{sizes}]"
        layout = self.layout
        if with_layout and layout and (self.dimensions or layout.tiles or layout.memory_space):
            return text + layout.text()
        return text


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """How a window moves along one dimension."""

    size: int = 1
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    window_dilation: int = 1
    base_dilation: int = 1
    reversal: bool = False


@dataclass(frozen=True, slots=True)
class DotDimensions:
    """Dimensions of a product: those it sums over, and those of batches."""

    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    lhs_batch: tuple[int, ...] = ()
    rhs_batch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConvolutionDimensions:
    """Numbers of the batch, feature and spatial dimensions of input, kernel and output."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes that only some instructions have; most share one empty object.

    Attributes:
        dimensions: Dimensions of reductions, broadcasts, transposes, concatenations and the like.
        slices: Start, limit and stride of each dimension of a slice.
        padding: Low, high and interior padding of each dimension of a pad.
        window: Window of a convolution or of a reduction of windows.
        convolution: Dimension numbers of a convolution.
        feature_groups: Feature groups of a convolution, at least 1.
        batch_groups: Batch groups of a convolution, at least 1.
        dot: Dimension numbers of a product.
        fft: Kind and lengths of a Fourier transform.
        places: Dimension numbers of a gather or a scatter, by name.
        direction: Direction of a comparison.
        literal: Value of a small constant.
        custom_call_target: Function that a custom call calls.
        fusion_kind: ``kLoop``, ``kInput``, ``kOutput`` or ``kCustom``.
        backend_config: JSON of the compiler.
        channel: Channel of a collective or a transfer; 0 for none.
        replica_groups: Devices that work together: ``{{0,1},{2,3}}``, ``[2,2]<=[4]``.
        mesh_axes: Names of the axes of a mesh in which the devices of a group differ.
        global_devices: Whether the groups have global ids.
        pairs: Senders and receivers.
        frontend: Attributes that the framework added.
    """

    dimensions: tuple[int, ...] = ()
    slices: tuple[tuple[int, int, int], ...] = ()
    padding: tuple[tuple[int, int, int], ...] = ()
    window: tuple[WindowDimension, ...] = ()
    convolution: ConvolutionDimensions | None = None
    feature_groups: int = 1
    batch_groups: int = 1
    dot: DotDimensions | None = None
    fft: tuple[str, tuple[int, ...]] = ("", ())
    places: tuple[tuple[str, int | tuple[int, ...]], ...] = ()
    direction: str = ""
    literal: str = ""
    custom_call_target: str = ""
    fusion_kind: str = ""
    backend_config: bytes = b""
    channel: int = 0
    replica_groups: str = ""
    mesh_axes: tuple[str, ...] = ()
    global_devices: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    frontend: tuple[tuple[str, str], ...] = ()


NO_ATTRIBUTES: Final = Attributes()


@dataclass(eq=False, slots=True)
class Instruction:
    """One operation of a computation.

    Attributes:
        id: Unique in its computation.
        name: Unique in the module; events have this name.
        opcode: ``dot``, ``fusion``, …
        shape: Shape of the result.
        operands: Instructions whose results it uses.
        calls: Computations: the only one of a fusion, body and condition of a ``while``.
        waits_for: Instructions that must run before it, without passing a value to it.
        op_name: The framework's op, including name scopes.
        op_type: Type of this op; empty in programs of JAX.
        source_file: File of the source code, if there are no stack frames.
        source_line: Line in this file; 0 for none.
        stack_frame: Number of a frame of the module; 0 for none.
        deduplicated_name: An equal instruction that also stands for this one.
        number: Number of a parameter, or of the part that a ``get-tuple-element`` takes.
        attributes: All other attributes.
    """

    id: int
    name: str
    opcode: str
    shape: Shape
    operands: tuple[Instruction, ...] = field(default=(), repr=False)
    calls: tuple[Computation, ...] = field(default=(), repr=False)
    waits_for: tuple[Instruction, ...] = field(default=(), repr=False)
    op_name: str = ""
    op_type: str = ""
    source_file: str = ""
    source_line: int = 0
    stack_frame: int = 0
    deduplicated_name: str = ""
    number: int = 0
    attributes: Attributes = field(default=NO_ATTRIBUTES, repr=False)

    @property
    def tf_op(self) -> str:
        """The framework's op as in events: ``scope/name:Type``, empty for none."""
        return f"{self.op_name}:{self.op_type}" if self.op_name or self.op_type else ""


@dataclass(eq=False, slots=True)
class Computation:
    """Instructions in an order with operands before their users.

    Attributes:
        id: Unique in the module.
        name: Its name.
        instructions: Its instructions; in a damaged program, only those that do not depend on
            themselves.
        root: The instruction whose result it returns.
        is_fusion: Whether its instructions run as one.
    """

    id: int
    name: str
    instructions: tuple[Instruction, ...] = field(repr=False)
    root: Instruction | None = field(default=None, repr=False)
    is_fusion: bool = False

    @property
    def parameters(self) -> list[Instruction]:
        """Its parameters, by number."""
        own = (each for each in self.instructions if each.opcode == "parameter")
        return sorted(own, key=lambda each: each.number)

    def users(self) -> dict[Instruction, list[Instruction]]:
        """The users of each instruction, each user once."""
        users: dict[Instruction, list[Instruction]] = {each: [] for each in self.instructions}
        for user in self.instructions:
            for operand in dict.fromkeys(user.operands):
                users[operand].append(user)
        return users


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One line of a Python call stack.

    Attributes:
        file: Its file.
        function: Its function.
        line: -1 if unknown.
        column: -1 if unknown.
        parent: Number of the caller's frame; 0 for none.
    """

    file: str = ""
    function: str = ""
    line: int = -1
    column: int = -1
    parent: int = 0


@dataclass(eq=False)
class HloModule:
    """A compiled program.

    Attributes:
        name: The compiler's name for it.
        computations: Callees before callers, except in cycles of calls.
        entry: The computation where it starts; None for an empty program.
        frames: Call stacks; frame number 1 is the first.
        buffers: Where values lie in memory; None if the program does not state it.
        shardings: How each parameter lies on the devices, as XLA writes it:
            ``{devices=[4,1]<=[4]}``; empty for a program of one device.
        notices: Notices of missing or broken parts.
    """

    name: str
    computations: tuple[Computation, ...] = field(repr=False, default=())
    entry: Computation | None = field(repr=False, default=None)
    frames: tuple[StackFrame, ...] = field(repr=False, default=())
    buffers: BufferAssignment | None = field(repr=False, default=None)
    shardings: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        """Instructions by name."""
        return {each.name: each for each in self.instructions}

    @cached_property
    def home(self) -> Mapping[Instruction, Computation]:
        """The computation that contains each instruction."""
        return {
            instruction: computation
            for computation in self.computations
            for instruction in computation.instructions
        }

    @property
    def instructions(self) -> Iterator[Instruction]:
        """Instructions of all computations."""
        for computation in self.computations:
            yield from computation.instructions

    def find(self, name: str) -> Instruction | None:
        """An instruction by name, also written as ``%name``, or None."""
        return self.by_name.get(name.removeprefix("%"))

    def stack(self, instruction: Instruction) -> list[StackFrame]:
        """The call stack of an instruction, innermost frame first."""
        frames: list[StackFrame] = []
        number = instruction.stack_frame
        while 0 < number <= len(self.frames) and len(frames) < len(self.frames):
            frames.append(self.frames[number - 1])
            number = frames[-1].parent
        return frames

    def source(self, instruction: Instruction) -> tuple[str, int]:
        """File and line of an instruction; an empty text and 0 without any."""
        frames = self.stack(instruction)
        if frames and frames[0].file and frames[0].line > 0:
            return frames[0].file, frames[0].line
        return instruction.source_file, instruction.source_line

    def place(self, instruction: Instruction | None) -> str:
        """File and line of an instruction as ``file:line``; empty without any."""
        file, line = self.source(instruction) if instruction else ("", 0)
        return f"{file}:{line}" if file else ""
