"""Make the synthetic GPU capture of ``tfprof/demo``: a data-parallel step on two GPUs.

    python benchmarks/make_gpu_capture.py tfprof/demo/gpu.xplane.pb.xz

Nothing was measured. Names of kernels, streams and statistics are as TensorFlow 2 records them on
NVIDIA GPUs; the times are made up, and the capture says so itself. The same bytes come out each
time.
"""

import argparse
import lzma
from dataclasses import dataclass
from pathlib import Path

from tfprof.testing.xspace_builders import (
    Reference,
    Unsigned,
    event,
    gpu,
    host,
    line,
    plane,
    xspace,
)

GPUS, STEPS, LAYERS = 2, 6, 4
MS, US = 1_000_000, 1_000
COMPUTE_NS, FIRST_NS = 10.7 * MS, 2 * MS
WARNING = "synthetic: benchmarks/make_gpu_capture.py has made up this capture; no GPU was measured"


@dataclass(frozen=True)
class Kernel:
    """A kernel of each layer: its name, op, shapes, microseconds, registers and occupancy."""

    name: str
    op: str
    shape: str
    micros: float
    regs: int
    occupancy: float
    grid: str = "256,1,1"
    block: str = "128,1,1"


FORWARD = (
    Kernel("ampere_h16816gemm_128x128_ldg8_stages_32x5_tn", "attention/query/MatMul:MatMul",
           "(half[4096,768];half[768,2304])", 96, 128, 50),
    Kernel("ampere_h16816gemm_64x64_ldg8_stages_64x5_tn", "attention/scores/einsum/Einsum:Einsum",
           "(half[32,12,128,64];half[32,12,128,64])", 41, 90, 50),
    Kernel("void cunn_SoftMaxForward<4, float, float>(float*, float const*, int)",
           "attention/Softmax:Softmax", "(float[32,12,128,128])", 33, 40, 75),
    Kernel("void tensorflow::functor::LayerNormKernel<float>(float const*, float*, int)",
           "norm/LayerNorm:FusedBatchNormV3", "(float[4096,768])", 27, 32, 87.5),
    Kernel("ampere_h16816gemm_256x128_ldg8_stages_32x3_tn", "feed_forward/up/MatMul:MatMul",
           "(half[4096,768];half[768,3072])", 121, 168, 25),
    Kernel("Gelu_GPU_DT_HALF_DT_HALF_kernel", "feed_forward/Gelu:Gelu", "(half[4096,3072])",
           24, 22, 100),
    Kernel("ampere_sgemm_128x64_nn", "feed_forward/down/MatMul:MatMul",
           "(float[4096,3072];float[3072,768])", 298, 122, 25),
)  # fmt: skip
"""The last one computes in float32, without tensor cores: what is there to be found."""

OPTIMIZER = Kernel(
    "void tensorflow::functor::ApplyAdamKernel<float>(float*, float*, float*, float const*, int)",
    "Adam/ResourceApplyAdam:ResourceApplyAdam", "(float[28311552])", 402, 38, 87.5,
)  # fmt: skip


def of_step():
    """The kernels of a step with their ops, in order."""
    for layer in range(LAYERS):
        for kernel in FORWARD:
            yield kernel, f"encoder/layer_{layer}/{kernel.op}", 1.0
    for layer in reversed(range(LAYERS)):
        for kernel in reversed(FORWARD):
            name, _, kind = kernel.op.partition(":")
            yield kernel, f"gradients/encoder/layer_{layer}/{name}_grad:{kind}", 1.9
    yield OPTIMIZER, OPTIMIZER.op, 1.0


def jitter(number):
    """A factor around 1, different for each number and always the same for one."""
    return 0.97 + 0.06 * (number * 7919 % 101) / 101


class Capture:
    """The lines of the capture."""

    def __init__(self):
        self.correlation = 100
        self.main, self.launches, self.input = [], [], []
        self.kernels = [[] for _ in range(GPUS)]
        self.copies = [[] for _ in range(GPUS)]
        self.collectives = [[] for _ in range(GPUS)]
        self.held = 420 << 20
        self.end = FIRST_NS

    def add_step(self, step):
        """A step: read a batch, copy it, launch all kernels, reduce gradients."""
        start, wait = self.end, (3.6 if step == 4 else 0.35) * MS
        lasts = wait + COMPUTE_NS
        self.end += lasts + 0.2 * MS
        self.main += [
            event("train", start, lasts, step_num=step, _r=1),
            event("IteratorGetNext:IteratorGetNext", start + 20 * US, wait, id=50, iter_num=step),
            event("Iterator::Prefetch", start + 22 * US, wait - 4 * US, id=7001),
            event("FunctionRun", start + wait + 60 * US, 5.2 * MS, id=50 + step, _r=1, _pt=2,
                  _p=900 + step),
        ]  # fmt: skip
        produced = start - 1.5 * MS
        self.input += [
            event("Iterator::Prefetch::Batch", produced, wait + 1.2 * MS, id=7002, parent_id=7001),
            event("Iterator::Prefetch::Batch::Map", produced + 5 * US, wait + 0.9 * MS, id=7003,
                  parent_id=7002),
            event("Iterator::Prefetch::Batch::Map::TFRecord", produced + 9 * US, 0.2 * MS, id=7004,
                  parent_id=7003),
        ]  # fmt: skip
        launch = start + wait + 80 * US
        self.launches.append(
            event("ExecutorState::Process", launch, 5 * MS, id=50 + step, _ct=2, _c=900 + step)
        )
        for device in range(GPUS):
            self.add_device(device, step, launch + (device + 1) * 30 * US)

    def add_device(self, device, step, launch):
        """What a step launches on a GPU, and what runs there."""
        at = launch + 40 * US
        copied = self.launch("cuMemcpyHtoDAsync_v2", device, launch)
        self.copies[device].append(
            event("MemcpyH2D", at, 180 * US, correlation_id=copied, memcpy_details=
                  f"kind_src:pinned kind_dst:device size:6291456 dest:{device} async:1",
                  tf_op="IteratorGetNext/_2:_Send")
        )  # fmt: skip
        at += 190 * US
        for number, (kernel, op, factor) in enumerate(of_step()):
            launch += 12 * US
            lasts = kernel.micros * US * factor * jitter(number + 31 * device + 7 * step)
            if device == 1:
                lasts *= 1.08  # the slower one, which the other waits for
            started = self.launch("cuLaunchKernel", device, launch)
            details = (
                f"regs:{kernel.regs} static_shared:2048 dynamic_shared:16384 grid:{kernel.grid} "
                f"block:{kernel.block} occ_pct:{kernel.occupancy:g}"
            )
            at = max(at, launch + 6 * US)
            self.kernels[device].append(
                event(kernel.name, at, lasts, correlation_id=started,
                      kernel_details=Reference(details), tf_op=Reference(op),
                      shape=Reference(kernel.shape))
            )  # fmt: skip
            if device == 0 and number % 4 == 0:
                self.allocate(launch, op, 4096 * 768 * 2)
            at += lasts + 2 * US
        reduced = self.launch("cuLaunchKernel", device, launch + 20 * US)
        self.collectives[device].append(
            event("ncclKernel_AllReduce_RING_LL_Sum_half", at, (900 - 420 * device) * US,
                  correlation_id=reduced, tf_op="CollectiveReduce:CollectiveReduceV2",
                  kernel_details="regs:96 static_shared:28672 dynamic_shared:0 grid:8,1,1 "
                  "block:512,1,1 occ_pct:12.5")
        )  # fmt: skip

    def launch(self, name, device, at):
        """A call of the driver; returns the number that its kernel has, too."""
        self.correlation += 1
        self.launches.append(
            event(name, at, 5 * US, correlation_id=self.correlation, device_id=device)
        )
        return self.correlation

    def allocate(self, at, op, size):
        """An allocation on the first GPU, and its end a millisecond later."""
        for name, when, sign in (("MemoryAllocation", at, 1), ("MemoryDeallocation", at + MS, -1)):
            self.held += sign * size
            self.launches.append(
                event(name, when, 0, allocator_name=Reference("GPU_0_bfc"), bytes_reserved=0,
                      bytes_allocated=self.held, bytes_available=(40 << 30) - self.held,
                      fragmentation=0.02, peak_bytes_in_use=620 << 20, requested_bytes=size - 7,
                      allocation_bytes=size, addr=139637976727552 + int(at) // 1000 * 256,
                      tf_op=Reference(op), id=50, region_type=Reference("temp"), data_type=19,
                      shape=Reference("[4096,768]"))
            )  # fmt: skip


def capture():
    """The whole capture, as bytes."""
    made = Capture()
    for step in range(STEPS):
        made.add_step(step)
    caps = {
        "device_vendor": "Nvidia", "clock_rate": 1_410_000, "core_count": 108,
        "memory_bandwidth": Unsigned(1_555_200_000_000), "memory_size": Unsigned(42_505_273_344),
        "compute_cap_major": 8, "compute_cap_minor": 0,
    }  # fmt: skip
    start = 1_700_000_000_000_000_000
    space = xspace(
        host(
            line(*made.main, id=1, name="python3"),
            line(*made.launches, id=2, name="tf_Compute/2"),
            line(*made.input, id=3, name="tf_data_iterator/3"),
        ),
        *(
            gpu(
                line(*made.kernels[device], id=14, name="Stream #14(Compute)"),
                line(*made.copies[device], id=15, name="Stream #15(MemcpyH2D)"),
                line(*made.collectives[device], id=20, name="Stream #20(Compute)"),
                ordinal=device, stats=caps,
            )
            for device in range(GPUS)
        ),
        plane("Task Environment", stats={
            "profile_start_time": Unsigned(start),
            "profile_stop_time": Unsigned(start + int(made.end)),
        }),
        hostname="synthetic-gpus", warnings=[WARNING],
    )  # fmt: skip
    return space.SerializeToString(deterministic=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_bytes(lzma.compress(capture(), preset=9 | lzma.PRESET_EXTREME))
