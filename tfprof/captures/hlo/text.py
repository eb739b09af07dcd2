"""Instructions as XLA writes them, without attributes that only compilers need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tfprof.captures.model.hlo import ConvolutionDimensions, Instruction, WindowDimension, numbered

_LONGEST_CHAIN: Final = 100
"""Most updates between the start and the end of an asynchronous instruction; usually none."""

_LONGEST: Final = 1_000_000
"""Characters after which the reference cuts off an expression."""


def expression(instruction: Instruction, *, with_operand_shapes: bool = True) -> str:
    """``%name = shape opcode(operands), attributes``, as in the reference's HLO stats.

    Shardings, precisions and other attributes that do not change the computation are left out.
    """
    shape = instruction.shape.text(with_layout=True)
    operands = _operands(instruction, with_operand_shapes)
    head = f"%{instruction.name} = {shape} {shown_opcode(instruction)}({operands})"
    return ", ".join([head, *_attributes(instruction)])[:_LONGEST]


def shown_opcode(instruction: Instruction) -> str:
    """The opcode; for an asynchronous one also what it starts or ends: ``custom-call-start``."""
    opcode, _, phase = instruction.opcode.rpartition("-")
    if opcode != "async":
        return instruction.opcode
    inner = _started(instruction)
    return f"{inner.opcode}-{phase}" if inner is not None else instruction.opcode


def _started(instruction: Instruction) -> Instruction | None:
    """The instruction that an asynchronous one runs."""
    seen = 0
    while instruction.opcode != "async-start" and instruction.operands and seen < _LONGEST_CHAIN:
        instruction, seen = instruction.operands[0], seen + 1
    return instruction.calls[0].root if instruction.calls else None


def _operands(instruction: Instruction, with_shapes: bool) -> str:
    if instruction.opcode == "constant":
        return instruction.attributes.literal
    if instruction.opcode == "parameter":
        return str(instruction.number)
    names = [f"%{operand.name}" for operand in instruction.operands]
    if with_shapes:
        shapes = [operand.shape.text(with_layout=True) for operand in instruction.operands]
        names = [f"{shape} {name}" for shape, name in zip(shapes, names, strict=True)]
    return numbered(names)


def _attributes(instruction: Instruction) -> Iterator[str]:
    inner = _started(instruction) if instruction.opcode == "async-start" else None
    if inner is not None:
        yield from _attributes(inner)
        return
    if instruction.opcode in _TEXTS:
        yield _TEXTS[instruction.opcode](instruction)
    elif instruction.opcode in _WRITERS:
        yield from _WRITERS[instruction.opcode](instruction)
    yield from _called(instruction)
    if instruction.waits_for:
        names = ", ".join(f"%{each.name}" for each in instruction.waits_for)
        yield f"control-predecessors={{{names}}}"
    frontend = instruction.attributes.frontend
    if frontend:
        pairs = ",".join(f'{key}="{value}"' for key, value in frontend)
        yield f"frontend_attributes={{{pairs}}}"


def _called(instruction: Instruction) -> Iterator[str]:
    names = [f"%{computation.name}" for computation in instruction.calls]
    opcode = instruction.opcode
    if not names:
        return
    if opcode == "while" and len(names) == 2:
        yield f"condition={names[1]}"
        yield f"body={names[0]}"
    elif opcode == "conditional":
        selectors = [operand.shape.element_type for operand in instruction.operands[:1]]
        if len(names) == 2 and selectors == ["pred"]:
            yield f"true_computation={names[0]}"
            yield f"false_computation={names[1]}"
        else:
            yield f"branch_computations={{{', '.join(names)}}}"
    elif opcode == "select-and-scatter" and len(names) == 2:
        yield f"select={names[0]}"
        yield f"scatter={names[1]}"
    elif opcode in ("fusion", "async-start"):
        yield f"calls={names[0]}"
    elif opcode == "custom-call":
        yield f"called_computations={{{', '.join(names)}}}"
    else:
        yield f"to_apply={names[0]}"


def _listed(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _slice(instruction: Instruction) -> str:
    bounds = ", ".join(
        f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"
        for start, limit, stride in instruction.attributes.slices
    )
    return f"slice={{{bounds}}}"


def _pad(instruction: Instruction) -> str:
    sides = "x".join(
        f"{low}_{high}_{inner}" if inner else f"{low}_{high}"
        for low, high, inner in instruction.attributes.padding
    )
    return f"padding={sides}"


def _dot(instruction: Instruction) -> Iterator[str]:
    numbers = instruction.attributes.dot
    if numbers is not None:
        if numbers.lhs_batch:
            yield f"lhs_batch_dims={_listed(numbers.lhs_batch)}"
        yield f"lhs_contracting_dims={_listed(numbers.lhs_contracting)}"
        if numbers.rhs_batch:
            yield f"rhs_batch_dims={_listed(numbers.rhs_batch)}"
        yield f"rhs_contracting_dims={_listed(numbers.rhs_contracting)}"


def _window(window: Sequence[WindowDimension]) -> Iterator[str]:
    def joined(name: str, values: Sequence[object], unless: object) -> Iterator[str]:
        if any(value != unless for value in values):
            yield f"{name}=" + "x".join(map(str, values))

    if not window:
        return
    parts = ["size=" + "x".join(str(one.size) for one in window)]
    parts += joined("stride", [one.stride for one in window], 1)
    parts += joined("pad", [f"{one.padding_low}_{one.padding_high}" for one in window], "0_0")
    parts += joined("lhs_dilate", [one.base_dilation for one in window], 1)
    parts += joined("rhs_dilate", [one.window_dilation for one in window], 1)
    parts += joined("rhs_reversal", [int(one.reversal) for one in window], 0)
    yield f"window={{{' '.join(parts)}}}"


def dimension_labels(numbers: ConvolutionDimensions) -> str:
    """The role of each dimension: ``b01f_01io->b01f``."""
    inputs = {numbers.input_batch: "b", numbers.input_feature: "f"}
    kernel = {numbers.kernel_input_feature: "i", numbers.kernel_output_feature: "o"}
    outputs = {numbers.output_batch: "b", numbers.output_feature: "f"}
    for labels, spatial in (
        (inputs, numbers.input_spatial),
        (kernel, numbers.kernel_spatial),
        (outputs, numbers.output_spatial),
    ):
        labels.update({place: str(number) for number, place in enumerate(spatial)})
    sides = [
        "".join(label for _, label in sorted(each.items())) for each in (inputs, kernel, outputs)
    ]
    return f"{sides[0]}_{sides[1]}->{sides[2]}"


def _convolution(instruction: Instruction) -> Iterator[str]:
    attributes = instruction.attributes
    yield from _window(attributes.window)
    if attributes.convolution is not None:
        yield f"dim_labels={dimension_labels(attributes.convolution)}"
    if attributes.feature_groups != 1:
        yield f"feature_group_count={attributes.feature_groups}"
    if attributes.batch_groups != 1:
        yield f"batch_group_count={attributes.batch_groups}"
    if instruction.opcode == "custom-call":
        yield f'custom_call_target="{attributes.custom_call_target}"'


def _fft(instruction: Instruction) -> Iterator[str]:
    kind, lengths = instruction.attributes.fft
    yield f"fft_type={kind}"
    yield f"fft_length={_listed(lengths)}"


def _places(instruction: Instruction) -> Iterator[str]:
    for name, value in instruction.attributes.places:
        yield f"{name}={_listed(value) if isinstance(value, tuple) else value}"


def _collective(instruction: Instruction) -> Iterator[str]:
    attributes = instruction.attributes
    if attributes.channel:
        yield f"channel_id={attributes.channel}"
    if attributes.replica_groups:
        yield f"replica_groups={attributes.replica_groups}"
    if attributes.pairs:
        yield f"source_target_pairs={{{','.join(map(_listed, attributes.pairs))}}}"
    if attributes.dimensions:
        yield f"dimensions={_listed(attributes.dimensions)}"
    if attributes.global_devices:
        yield "use_global_device_ids=true"


_TEXTS: Final[dict[str, Callable[[Instruction], str]]] = {
    "fusion": lambda one: f"kind={one.attributes.fusion_kind}",
    "get-tuple-element": lambda one: f"index={one.number}",
    "iota": lambda one: "iota_dimension=" + ",".join(map(str, one.attributes.dimensions)),
    "compare": lambda one: f"direction={one.attributes.direction}",
    "slice": _slice,
    "dynamic-slice": lambda one: f"dynamic_slice_sizes={_listed(one.shape.dimensions)}",
    "pad": _pad,
    **dict.fromkeys(
        ("broadcast", "concatenate", "map", "reduce", "reverse", "sort", "transpose"),
        lambda one: f"dimensions={_listed(one.attributes.dimensions)}",
    ),
}
"""Text of the single attribute of an instruction, by opcode."""

_WRITERS: Final[dict[str, Callable[[Instruction], Iterator[str]]]] = {
    "dot": _dot,
    "fft": _fft,
    "convolution": _convolution,
    "custom-call": _convolution,
    "reduce-window": lambda one: _window(one.attributes.window),
    "select-and-scatter": lambda one: _window(one.attributes.window),
    "gather": _places,
    "scatter": _places,
    **dict.fromkeys(
        ("all-reduce", "all-reduce-start", "all-gather", "all-gather-start", "reduce-scatter",
         "all-to-all", "collective-permute", "collective-permute-start", "collective-broadcast",
         "send", "send-done", "recv", "recv-done"),
        _collective,
    ),
}  # fmt: skip
"""Texts of several attributes of an instruction, by opcode."""
