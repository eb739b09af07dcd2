"""Costs of custom calls that users state, where neither the program nor a kernel's author does.

Costs are a value that is handed to a question, and no state of the process: results of a capture
are computed once and kept, so a cost that is registered later would leave old answers beside new
ones (``docs/adr/0042-utilization.md``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from tfprof.errors import UsageError

_FORM: Final = '{"my_kernel": {"flops": 1.2e12, "bytes": 3.4e9}}'


@dataclass(frozen=True, slots=True)
class CallCost:
    """The cost of one run of a custom call.

    Attributes:
        flops: Float operations of its products.
        bytes: Bytes that it reads and writes; None if unknown.
    """

    flops: int
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CallCosts:
    """Costs of calls, by a pattern for the call's target, its instruction or its kernel.

    Attributes:
        by_pattern: The costs; ``*`` stands for anything. The first that matches counts.
    """

    by_pattern: Mapping[str, CallCost] = field(default_factory=dict)

    def of(self, *names: str) -> CallCost | None:
        """The cost of a call with these names; None if it has none."""
        for pattern, cost in self.by_pattern.items():
            if any(name and fnmatchcase(name, pattern) for name in names):
                return cost
        return None

    def to_json(self) -> str:
        """The costs as the file that ``--costs`` reads."""
        data = {
            pattern: {"flops": cost.flops} | ({} if cost.bytes is None else {"bytes": cost.bytes})
            for pattern, cost in self.by_pattern.items()
        }
        return json.dumps(data, indent=1)


def register_cost(
    call: str, *, flops: float, bytes: float | None = None, costs: CallCosts | None = None
) -> CallCosts:
    """Add the cost of a custom call to others, for ``tfprof.tools.utilization(run, costs=…)``.

    Nothing is kept in the process: the result is a new value.

    Args:
        call: The call's target (``tpu_custom_call``), the name of its instruction or of its kernel;
            ``*`` stands for anything.
        flops: Float operations of its products in one run on one device.
        bytes: Bytes that one run reads and writes in the main memory; None if unknown.
        costs: Costs of other calls.

    Raises:
        UsageError: There is no name, or a number is negative or not finite.

    Example:
        >>> import tfprof
        >>> costs = tfprof.register_cost("flash_attention*", flops=4.3e9, bytes=2.1e7)
        >>> costs.of("flash_attention_fwd").flops
        4300000000
    """
    if not isinstance(call, str) or not call:
        raise UsageError(f"register_cost takes the name of a call as text; got {call!r}")
    cost = CallCost(
        _whole(call, "flops", flops), None if bytes is None else _whole(call, "bytes", bytes)
    )
    known = {} if costs is None else {k: v for k, v in costs.by_pattern.items() if k != call}
    return CallCosts({call: cost, **known})


def costs_of_text(text: str, name: str = "costs") -> CallCosts:
    """Costs from JSON, such as ``{"my_kernel": {"flops": 1.2e12, "bytes": 3.4e9}}``.

    Args:
        text: The JSON.
        name: What it is called in messages.

    Raises:
        UsageError: It is something else; the message shows the form.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: is not JSON ({error}); write {_FORM}") from None
    if not isinstance(data, dict) or not all(isinstance(one, dict) for one in data.values()):
        raise UsageError(f"{name}: has no costs by name of the call; write {_FORM}")
    costs = CallCosts()
    for call, given in reversed(data.items()):
        others = given.keys() - {"flops", "bytes"}
        if others or "flops" not in given:
            wrong = f"{min(others)!r} is unknown" if others else "flops are missing"
            raise UsageError(f"{name}: {call}: {wrong}; write {_FORM}")
        costs = register_cost(call, flops=given["flops"], bytes=given.get("bytes"), costs=costs)
    return costs


def _whole(call: str, name: str, number: Any) -> int:
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not is_number or not math.isfinite(number) or not 0 <= number < 1e30:
        raise UsageError(f"{call}: {name} = {number!r} is not a number from 0 on")
    whole: int = round(number)
    return whole
