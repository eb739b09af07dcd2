"""Notes of compilers on an instruction: calls of libraries, and trip counts of loops."""

from __future__ import annotations

import json
from typing import Any, Final

from tfprof.captures.model.hlo import DotDimensions, Instruction
from tfprof.core.columns.numerals import LARGEST

_PRODUCTS: Final = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8")
_CONVOLUTIONS: Final = "__cudnn$conv"


def backend_config(instruction: Instruction) -> dict[str, Any]:
    """The compiler's JSON; empty if there is none, or if it is not an object."""
    try:
        config = json.loads(instruction.attributes.backend_config or b"{}")
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def is_product_call(instruction: Instruction) -> bool:
    """Whether an instruction calls a library's matrix product (ROCm uses the same names)."""
    return instruction.attributes.custom_call_target in _PRODUCTS


def is_convolution_call(instruction: Instruction) -> bool:
    """Whether an instruction calls a library's convolution, forward or backward."""
    return instruction.attributes.custom_call_target.startswith(_CONVOLUTIONS)


def product_dimensions(instruction: Instruction) -> DotDimensions | None:
    """Dimensions of a library's product; None for other calls, or if they are not stated."""
    if not is_product_call(instruction) or not instruction.operands:
        return None
    config = backend_config(instruction)
    numbers = config.get("gemm_backend_config", config)
    numbers = numbers.get("dot_dimension_numbers") if isinstance(numbers, dict) else None
    if not isinstance(numbers, dict):
        return None
    try:
        return DotDimensions(
            *(
                tuple(int(place) for place in numbers.get(f"{side}_dimensions", ()))
                for side in ("lhs_contracting", "rhs_contracting", "lhs_batch", "rhs_batch")
            )
        )
    except (TypeError, ValueError, OverflowError):
        return None


def trip_count(loop: Instruction) -> int:
    """How often a loop runs, if the compiler states it; else 1."""
    known = _known_trip_count(loop)
    return 1 if known is None else known


def has_known_trip_count(loop: Instruction) -> bool:
    """Whether the compiler states how often a loop runs."""
    return _known_trip_count(loop) is not None


def _known_trip_count(loop: Instruction) -> int | None:
    known = backend_config(loop).get("known_trip_count")
    try:
        return min(max(int(known["n"]), 0), LARGEST) if isinstance(known, dict) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
