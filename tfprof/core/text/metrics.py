"""The metrics of views: name, number format and colour of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tfprof.core.text.units import human_count, human_memory, human_time

# Okabe and Ito's palette: distinct with any colour vision, legible on black and on white.
BLUE, ORANGE, GREEN, PINK = "#56b4e9", "#e69f00", "#009e73", "#cc79a7"
RED = "#d55e00"

NOT_AVAILABLE = "n/a"
"""A metric that the profile does not hold."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How a selected attribute is shown.

    Attributes:
        select: The attribute's name among the options.
        metric: Row in a view's matrices.
        title: Column header.
        form: Number to text.
        colour: Of its bars.
        needs_run: Without run metadata it is not 0 but unknown.
    """

    select: str
    metric: str
    title: str
    form: Callable[[int], str]
    colour: str
    needs_run: bool = True


METRIC_FORMS = (
    Metric("micros", "exec_micros", "time", human_time, BLUE),
    Metric("accelerator_micros", "accelerator_exec_micros", "accelerator", human_time, BLUE),
    Metric("cpu_micros", "cpu_exec_micros", "cpu", human_time, BLUE),
    Metric("bytes", "requested_bytes", "memory", human_memory, ORANGE),
    Metric("peak_bytes", "peak_bytes", "peak mem", human_memory, ORANGE),
    Metric("residual_bytes", "residual_bytes", "resid. mem", human_memory, ORANGE),
    Metric("output_bytes", "output_bytes", "output mem", human_memory, ORANGE),
    Metric("params", "parameters", "params", human_count, GREEN, needs_run=False),
    Metric("float_ops", "float_ops", "float ops", human_count, PINK, needs_run=False),
    Metric("occurrence", "run_count", "runs", human_count, GREEN),
)
"""Every metric that can be selected, in the order of the columns."""
