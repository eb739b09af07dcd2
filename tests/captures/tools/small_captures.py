"""Captures of a few steps, from hosts of one or several kinds."""

from pathlib import Path

from tests.captures.tools.tpus import at, op, tpu
from tfprof.demo import tutorial_files
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace


def capture(n_steps=3, *, machine="", first=0, length=1000):
    marks = [
        one
        for n in range(n_steps)
        for one in (
            event("train", n * length, length - 10, step_num=first + n, _r=1),
            event("a:MatMul", n * length + 10, length // 2),
        )
    ]
    return xspace(host(line(*marks)), hostname=machine)


DETAILS = "regs:32 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"
AMPERE = {"device_vendor": "Nvidia", "compute_cap_major": 8, "compute_cap_minor": 0}
N_STEPS = 3


def gpu_plane(stats=AMPERE):
    kernels = [
        event("sgemm", n * 1000 + 100, 700, correlation_id=n + 1, kernel_details=DETAILS,
              tf_op="model/dense/MatMul:MatMul")
        for n in range(N_STEPS)
    ]  # fmt: skip
    return gpu(line(*kernels, id=14, name="Stream #14(Compute)"), stats=stats)


def gpu_threads():
    return host(
        line(
            *(
                one
                for n in range(N_STEPS)
                for one in (
                    event("train", n * 1000, 900, step_num=n, _r=1),
                    event("cuLaunchKernel", n * 1000 + 10, 20, correlation_id=n + 1),
                )
            )
        )
    )


def with_gpu(stats=AMPERE):
    return xspace(gpu_threads(), gpu_plane(stats), hostname="gpu-machine")


def tpu_plane():
    return tpu(
        0,
        steps=[at(str(n), n * 100, 90) for n in range(N_STEPS)],
        modules=[at("jit_f(3)", n * 100, 90) for n in range(N_STEPS)],
        ops=[op("fusion.1", "convolution fusion", n * 100, 60) for n in range(N_STEPS)],
        stats={"device_type_string": "TPU v4", "peak_teraflops_per_second": 100.0},
        metadata={"fusion.1": {"program_id": 3, "symbol_id": 7, "flops": 1000}},
    )


def with_tpu():
    return xspace(host(line(event("main", 0, 10))), tpu_plane(), hostname="tpu-machine")


RECORDED = Path(__file__).parents[2] / "data" / "stragglers"


def files(name):
    if name == "input":
        return sorted((tutorial_files() / "slow-worker").iterdir())
    return sorted(RECORDED.glob(f"{name}.worker*.xplane.pb.xz"))
