"""Products of a program: the multiply-adds of matrix products and convolutions.

Model FLOPs utilization counts these only, by convention: ``2ABC`` for a product ``[A,B]×[B,C]``.
What a checkpoint of JAX or XLA's rematerialization computes a second time is marked, so that it
counts as executed, but not as work of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from tfprof.captures.hlo.cost import Cost
from tfprof.captures.hlo.library_calls import (
    backend_config,
    has_known_trip_count,
    is_convolution_call,
    is_product_call,
    trip_count,
)
from tfprof.captures.model.hlo import Computation, Instruction

_REMATTED: Final = "rematted_computation"
_XLA_REMAT: Final = ".remat"
_TRANSFORM: Final = re.compile(r"(?:jvp|vmap|transpose)\(([^()]*)\)")
_CONTAINERS: Final = frozenset(("while", "conditional", "call", "async-start", "fusion"))

_WITHOUT_PRODUCTS: Final = frozenset(
    ("AllocateBuffer", "MoveToDevice", "MoveToHost", "PadToStatic", "Sharding", "SliceToDynamic",
     "TopK", "annotate_device_placement", "cu_threefry2x32", "cu_threefry2x32_ffi")
)  # fmt: skip
"""Custom calls that move, sort or draw numbers."""


class Product(NamedTuple):
    """One product of a run of an instruction.

    Attributes:
        flops: Its float operations.
        element_type: Type of its operands, ``bf16``; empty if unknown.
        path: Its op name without transformations: ``jit(step)/mlp/dot_general``; if a checkpoint
            computes it again, only the part inside the checkpoint.
        depth: How many checkpoints around it compute it again; 0 if none does.
        is_backward: Whether it is part of the backward pass, and no second forward pass.
    """

    flops: int
    element_type: str
    path: str
    depth: int
    is_backward: bool


class Products(NamedTuple):
    """The products of one run of an instruction.

    Attributes:
        products: The known ones.
        unknown: Why there may be more; empty if all are known.
    """

    products: tuple[Product, ...] = ()
    unknown: str = ""


def products_of(instruction: Instruction, costs: Mapping[Instruction, Cost]) -> Products:
    """The products of one run of an instruction, with those of the computations it calls.

    Args:
        instruction: The instruction.
        costs: The cost of every instruction of its module.
    """
    opcode, calls = instruction.opcode, instruction.calls
    if opcode in ("dot", "convolution") or _is_library_product(instruction):
        known = costs[instruction]
        made = (_product(instruction, known.flops),) if known.flops else ()
        return Products(made, "" if known.is_known else "its dimensions are not in the program")
    if opcode == "custom-call":
        known_free = instruction.attributes.custom_call_target in _WITHOUT_PRODUCTS
        return Products((), "" if known_free else "it calls code outside of the program")
    if opcode not in _CONTAINERS:
        return Products()
    found = [one for call in calls for one in _of_computation(call, costs)]
    products = tuple(product for one in found for product in one.products)
    unknown = next((one.unknown for one in found if one.unknown), "")
    if opcode == "conditional" and products:
        return Products((), "it runs one of several branches")
    if opcode == "while" and products:
        if not has_known_trip_count(instruction):
            return Products(products, "the number of runs of its loop is not known")
        times = trip_count(instruction)
        products = tuple(one._replace(flops=one.flops * times) for one in products)
    return Products(products, unknown)


def _of_computation(
    computation: Computation, costs: Mapping[Instruction, Cost]
) -> Iterator[Products]:
    return (products_of(each, costs) for each in computation.instructions)


def _is_library_product(instruction: Instruction) -> bool:
    return instruction.opcode == "custom-call" and (
        is_product_call(instruction) or is_convolution_call(instruction)
    )


def _product(instruction: Instruction, flops: int) -> Product:
    operands = instruction.operands
    element_type = operands[0].shape.element_type if operands else ""
    name = instruction.op_name
    depth = name.count(f"/{_REMATTED}/")
    path = name.rpartition(f"/{_REMATTED}/")[2] if depth else name
    return Product(flops, element_type, plain_path(path), depth, not depth and "transpose(" in name)


def plain_path(op_name: str) -> str:
    """An op name without transformations of JAX.

    >>> plain_path("jit(step)/transpose(jvp(mlp))/dot_general"), plain_path("jvp()/while/body/dot")
    ('jit(step)/mlp/dot_general', 'while/body/dot')
    """
    before = ""
    while before != op_name:
        before, op_name = op_name, _TRANSFORM.sub(r"\1", op_name)
    return "/".join(part for part in op_name.split("/") if part)


def base_name(name: str) -> str:
    """The instruction that XLA's rematerialization copied; empty for others.

    >>> base_name("fusion.3.remat2"), base_name("fusion.3")
    ('fusion.3', '')
    """
    base, is_copy, _ = name.partition(_XLA_REMAT)
    return base if is_copy else ""


class StatedCost(NamedTuple):
    """The cost of one run of a custom call that its author states.

    Attributes:
        flops: Float operations.
        n_bytes: Bytes read and written; 0 if not stated.
    """

    flops: int
    n_bytes: int


def stated_cost(instruction: Instruction) -> StatedCost | None:
    """The cost estimate of a Pallas kernel; None if it has none."""
    config = backend_config(instruction).get("custom_call_config")
    estimate = config.get("cost_estimate") if isinstance(config, dict) else None
    if not isinstance(estimate, dict):
        return None
    numbers = [estimate.get(name, 0) for name in ("flops", "bytes_accessed")]
    if not all(isinstance(each, int) and 0 <= each < 1 << 62 for each in numbers):
        return None
    return StatedCost(*numbers)
