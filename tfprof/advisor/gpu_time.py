"""AcceleratorUtilizationChecker and KernelLaunchChecker: how GPUs spend the steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.findings import Finding, Gain, Severity
from tfprof.core.text.wording import share_text, time_text
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.profiles.accounting.device_time import StepTimes
from tfprof.profiles.model.executions import ACCELERATOR, HOST, Processor

LOW_UTILIZATION = 0.5
"""The original's limit: a GPU that idles for more than half of the step needs attention."""

SHORT_KERNEL_MICROS = 10
"""Approximate time that the host needs to schedule an op and launch its kernel."""

MIN_KERNELS = 50
"""Per step; fewer launches cost little."""

WARNING_SHARE, CRITICAL_SHARE = 0.2, 0.5
"""Part of the step in which the GPU idles while the host prepares its next kernels."""

_UTILIZATION, _LAUNCH = "AcceleratorUtilizationChecker", "KernelLaunchChecker"
_GUIDE = "https://www.tensorflow.org/guide/gpu_performance_analysis"


def check_accelerator_utilization(context: CheckContext) -> list[Finding]:
    """Share of the steps in which each GPU computes."""
    times = gpu_times(context)
    if context.uses_gpu and not times:
        return [
            Finding(
                _UTILIZATION,
                "info",
                "A GPU ran, but the run holds no kernel times, so its utilization is unknown. "
                "TensorFlow records them where it may use CUPTI: see that its library is found, "
                "and that users may read GPU performance counters.",
                {},
                link="https://www.tensorflow.org/guide/profiler",
            )
        ]
    return [_busy(time) for time in times]


def _busy(time: GpuTime) -> Finding:
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
    return Finding(
        _UTILIZATION, "warning" if low else "info", message, evidence, gain=gain, link=_GUIDE
    )


def check_kernel_launch(context: CheckContext) -> list[Finding]:
    """GPUs with short kernels that idle while the host prepares the next ones."""
    return [_launching(context, time) for time in gpu_times(context) if _is_bound(time)]


def _is_bound(time: GpuTime) -> bool:
    return (
        len(time.kernel_micros) >= MIN_KERNELS * time.n_steps
        and float(np.median(time.kernel_micros)) <= SHORT_KERNEL_MICROS
        and time.launch_micros >= WARNING_SHARE * time.step_micros
    )


def _launching(context: CheckContext, time: GpuTime) -> Finding:
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
    return Finding(_LAUNCH, severity, message, evidence, line, gain, _GUIDE)


@dataclass(frozen=True, slots=True)
class GpuTime:
    """One GPU, per step, over the steps in which it ran kernels.

    Attributes:
        processor: The GPU.
        step_micros: From the first start to the last end, over all devices.
        busy_micros: Time in which a kernel ran.
        launch_micros: Time in which no kernel ran and the host prepared ops for this GPU.
        kernel_micros: Duration of each kernel, of all steps, shape (n,).
        kernel_rows: Op of each kernel.
        n_steps: Number of those steps.
    """

    processor: Processor
    step_micros: float
    busy_micros: float
    launch_micros: float
    kernel_micros: Float64Array
    kernel_rows: Int64Array
    n_steps: int

    @property
    def busy_share(self) -> float:
        """Part of the step in which a kernel ran, 0 to 1."""
        return self.busy_micros / self.step_micros

    @property
    def idle_micros(self) -> float:
        """Time in which no kernel ran."""
        return self.step_micros - self.busy_micros


def gpu_times(context: CheckContext) -> list[GpuTime]:
    """The GPUs with recorded kernels, ordered by name."""
    streams = _devices_by_gpu(context, "stream:all")
    hosts = _devices_by_gpu(context, "")
    gpus = []
    for processor, devices in sorted(streams.items()):
        steps = [
            (times, chosen)
            for times in context.times
            if (chosen := _on(times, devices, ACCELERATOR)).any()
        ]
        if sum(times.window_nanos for times, _ in steps) > 0:
            gpus.append(_gpu_time(context, processor, steps, hosts.get(processor, [])))
    return gpus


def _gpu_time(
    context: CheckContext,
    processor: Processor,
    steps: list[tuple[StepTimes, BoolArray]],
    host_devices: list[int],
) -> GpuTime:
    busy = launch = window = 0
    for times, kernels in steps:
        scheduling = _on(times, host_devices, HOST) & context.works_in(times)
        busy += times.busy_nanos(kernels)
        launch += times.alone_nanos(scheduling, kernels)
        window += times.window_nanos
    nanos = 1000 * len(steps)
    lengths = [(times.end_nanos - times.start_nanos)[kernels] for times, kernels in steps]
    return GpuTime(
        processor,
        window / nanos,
        busy / nanos,
        launch / nanos,
        np.concatenate(lengths) / 1000,
        np.concatenate([times.rows[kernels] for times, kernels in steps]),
        len(steps),
    )


def _devices_by_gpu(context: CheckContext, part: str) -> dict[Processor, list[int]]:
    """Ids of the devices for one part of a GPU, by GPU."""
    devices: dict[Processor, list[int]] = {}
    for device_id, role in enumerate(context.roles):
        if role is not None and role.part == part and role.processor.kind == "gpu":
            devices.setdefault(role.processor, []).append(device_id)
    return devices


def _on(times: StepTimes, devices: list[int], kind: int) -> BoolArray:
    chosen: BoolArray = np.isin(times.device_ids, devices) & (times.kinds == kind)
    return chosen
