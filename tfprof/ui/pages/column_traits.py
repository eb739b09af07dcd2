"""What a page may do with the numbers of a column: add them up, and show how good they are.

A wrong sum is worse than none: only columns that are listed here are added. Times with what ran
inside them, averages, rates and parts of different wholes are not.
"""

from __future__ import annotations

import re
from typing import Any, Final

from tfprof.captures.run.shared_columns import STEP_TIME_US

_COUNTS: Final = (
    "occurrences", "count", "calls", "num_calls", "num_slow_calls", "traced_calls", "events",
    "allocations", "deallocations",
)  # fmt: skip
_TIMES: Final = (
    "total_self_time", "selfTimeInMs", "self_us", "total_duration_us",
    "input_us", "copies_us", "host_code_us", "runtime_us", "unexplained_us",
    # Of a step, or of a core in it.
    r"\w+TimeMs", "betweenMs", r"\w+_compute_us", "device_to_device_us", "device_collectives_us",
    "kernel_launch_us", "infeed_us", "outfeed_us", "compile_us", "other_us", "idle_us", "send_us",
    "receive_us", "all_reduce_sync_us", r"sparse_\w+_us",
)  # fmt: skip
_BYTES: Final = ("size_bytes", "unpadded_bytes")
_SHARES: Final = (
    "total_self_time_percent", "device_total_self_time_percent", "host_total_self_time_percent",
    "selfTimePercent", "selfTimeInPercent", "total_duration_share",
)  # fmt: skip
_ADDS: Final = re.compile("|".join((*_COUNTS, *_TIMES, *_BYTES, *_SHARES)))

_NEVER: Final = re.compile(r"\b(mean|average|slowest)\b")
"""Words in the meaning of numbers that have the name of sums elsewhere."""

_PARTS: Final = (*_SHARES, "share", "timeInPercent", "total_time_in_percentage", "time_share")
_BETTER: Final = (
    "roofline_efficiency", "compute_efficiency", "max_mem_bw_utilization", "occupancy_pct",
    "gpu_tensorcore_utilization", "flops_utilization", "hbm_utilization",
)  # fmt: skip
_WORSE: Final = (
    "dma_stall_percent", "fragmentation", "wasted_share", "infeedPercentAverage", "expensive_share",
)  # fmt: skip
_SHADES: Final = (
    dict.fromkeys(_PARTS, "part")
    | dict.fromkeys(_BETTER, "better")
    | dict.fromkeys(_WORSE, "worse")
)


def column_traits(name: str, type_: str, meaning: str = "") -> dict[str, Any]:
    """Keys of a column's description that say what may be done with its numbers.

    Args:
        name: The column's id.
        type_: Type of its cells.
        meaning: What it holds.

    Returns:
        ``adds``, true where the sum of rows has the meaning of the column; and ``shade``, for parts
        of one: ``part`` for parts of a whole, ``better`` or ``worse`` if more is better or worse.
        What does not apply is left out.
    """
    if type_ != "number":
        return {}
    traits: dict[str, Any] = {}
    is_step_time = name == STEP_TIME_US.id and meaning == STEP_TIME_US.meaning
    if is_step_time or (_ADDS.fullmatch(name) and not _NEVER.search(meaning)):
        traits["adds"] = True
    if name in _SHADES:
        traits["shade"] = _SHADES[name]
    return traits
