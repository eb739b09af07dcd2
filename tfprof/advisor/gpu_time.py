"""How GPUs spend the steps, for several checkers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.advisor.context import CheckContext
from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.profiles.accounting.accounting import Float64Array
from tfprof.profiles.accounting.device_time import StepTimes
from tfprof.profiles.model.executions import ACCELERATOR, HOST, Processor


@dataclass(frozen=True, slots=True)
class GpuTime:
    """One GPU, per step, over the steps in which it ran kernels.

    Attributes:
        processor: The GPU.
        step_micros: From the first start to the last end of anything on any device.
        busy_micros: Time in which some kernel ran.
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
        """Part of the step in which some kernel ran, 0 to 1."""
        return self.busy_micros / self.step_micros

    @property
    def idle_micros(self) -> float:
        """Time in which no kernel ran."""
        return self.step_micros - self.busy_micros


def gpu_times(context: CheckContext) -> list[GpuTime]:
    """The GPUs whose kernels were recorded, in order of their names."""
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
    """Ids of the devices that are one part of a GPU, by GPU."""
    devices: dict[Processor, list[int]] = {}
    for device_id, role in enumerate(context.roles):
        if role is not None and role.part == part and role.processor.kind == "gpu":
            devices.setdefault(role.processor, []).append(device_id)
    return devices


def _on(times: StepTimes, devices: list[int], kind: int) -> BoolArray:
    chosen: BoolArray = np.isin(times.device_ids, devices) & (times.kinds == kind)
    return chosen
