"""KernelLaunchChecker: GPUs that finish kernels faster than the host can launch them."""

from __future__ import annotations

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.advisor.gpu_time import GpuTime, gpu_times
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import share_text, time_text

SHORT_KERNEL_MICROS = 10
"""About what the host needs to schedule an op and launch its kernel."""

MIN_KERNELS = 50
"""Per step; fewer launches cannot add up to much."""

WARNING_SHARE, CRITICAL_SHARE = 0.2, 0.5
"""Part of the step in which the GPU idles while the host prepares its next kernels."""

_RULE = "KernelLaunchChecker"
_LINK = "https://www.tensorflow.org/guide/gpu_performance_analysis"


def check_kernel_launch(context: CheckContext) -> list[Finding]:
    """GPUs with short kernels that idle while the host prepares the next ones."""
    return [_finding(context, time) for time in gpu_times(context) if _is_bound(time)]


def _is_bound(time: GpuTime) -> bool:
    return (
        len(time.kernel_micros) >= MIN_KERNELS * time.n_steps
        and float(np.median(time.kernel_micros)) <= SHORT_KERNEL_MICROS
        and time.launch_micros >= WARNING_SHARE * time.step_micros
    )


def _finding(context: CheckContext, time: GpuTime) -> Finding:
    kernels = round(len(time.kernel_micros) / time.n_steps)
    median = float(np.median(time.kernel_micros))
    share = time.launch_micros / time.step_micros
    message = (
        f"{time.processor.label} idles {share_text(share)} of the step "
        f"({time_text(time.launch_micros)} of {time_text(time.step_micros)}) while the host "
        f"prepares its next kernels: {kernels} kernels per step, of which half take "
        f"{time_text(median)} or less. Give it more work per launch: larger batches, fused ops, "
        "or a compiled step (tf.function(jit_compile=True), XLA)."
    )
    rows = time.kernel_rows[time.kernel_rows >= 0]
    evidence = {
        "launch_share": share,
        "launch_micros": time.launch_micros,
        "step_micros": time.step_micros,
        "kernel_count": kernels,
        "median_kernel_micros": median,
        "busy_micros": time.busy_micros,
    }
    severity: Severity = "critical" if share >= CRITICAL_SHARE else "warning"
    line = context.heaviest_line(rows, np.ones(len(rows)))
    how = "the time in which the GPU idles and the host prepares"
    gain = Gain(time.launch_micros, "micros", how)
    return Finding(_RULE, severity, message, evidence, line, gain, _LINK)
