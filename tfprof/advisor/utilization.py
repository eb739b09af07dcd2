"""AcceleratorUtilizationChecker: how busy the GPUs are."""

from __future__ import annotations

from tfprof.advisor.context import CheckContext
from tfprof.advisor.gpu_time import GpuTime, gpu_times
from tfprof.core.columns.findings import Finding, Gain
from tfprof.core.text.wording import share_text, time_text

LOW_UTILIZATION = 0.5
"""The original's limit: a GPU that idles more than half of the step deserves a look."""

_RULE = "AcceleratorUtilizationChecker"
_LINK = "https://www.tensorflow.org/guide/gpu_performance_analysis"


def check_accelerator_utilization(context: CheckContext) -> list[Finding]:
    """Share of the steps in which each GPU computes."""
    times = gpu_times(context)
    if context.uses_gpu and not times:
        return [
            Finding(
                _RULE,
                "info",
                "A GPU ran, but the run holds no kernel times, so its utilization is unknown. "
                "TensorFlow records them where it may use CUPTI: see that its library is found, "
                "and that users may read GPU performance counters.",
                {},
                link="https://www.tensorflow.org/guide/profiler",
            )
        ]
    return [_utilization(time) for time in times]


def _utilization(time: GpuTime) -> Finding:
    low = time.busy_share < LOW_UTILIZATION
    verdict = "only " if low else ""
    message = (
        f"{time.processor.label} computes {verdict}{share_text(time.busy_share)} of the step: "
        f"{time_text(time.busy_micros)} of {time_text(time.step_micros)}."
    )
    gain = None
    if low:
        message += " See what it waits for: input, the host, copies or other devices."
        gain = Gain(time.idle_micros, "micros", "the time of a step in which no kernel runs")
    evidence = {
        "busy_share": time.busy_share,
        "busy_micros": time.busy_micros,
        "step_micros": time.step_micros,
        "idle_micros": time.idle_micros,
    }
    return Finding(_RULE, "warning" if low else "info", message, evidence, gain=gain, link=_LINK)
