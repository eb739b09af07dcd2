"""Steps with a product of known size on GPUs, for MFU worked out by hand."""

import json

from tests.captures.tools.small_captures import AMPERE, DETAILS
from tests.hlo_programs import capture as programs
from tests.hlo_programs import op, program
from tfprof.captures.run.run import open_run
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace

M, N, K = 64, 128, 256
PRODUCT = 2 * M * N * K
N_STEPS, PERIOD_NS = 3, 10_000
A100 = AMPERE | {"core_count": 108, "clock_rate": 1_410_000, "memory_bandwidth": 1_555_000_000_000}
BF16 = 2048 * 108 * 1.41e9


def compiled(element_type="bf16", *more):
    """A product by cuBLAS, with a fusion behind it."""
    dimensions = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"]}
    config = {"gemm_backend_config": {"dot_dimension_numbers": dimensions}}
    return program(
        main=[
            op("a", "parameter", f"{element_type}[{M},{K}]"),
            op("b", "parameter", f"{element_type}[{K},{N}]", parameter_number=1),
            op("gemm", "custom-call", f"{element_type}[{M},{N}]", "a", "b",
               custom_call_target="__cublas$gemm", backend_config=json.dumps(config).encode(),
               metadata=pb.OpMetadata(op_name="jit(f)/jvp(mlp)/dot_general")),
            op("tanh", "tanh", f"{element_type}[{M},{N}]", "gemm",
               metadata=pb.OpMetadata(op_name="jit(f)/jvp(mlp)/tanh")),
            *more,
        ]
    )  # fmt: skip


def compiled_twice():
    """The product, and a copy of it that the compiler made."""
    made = compiled()
    instructions = made.hlo_module.computations[0].instructions
    copy = instructions.add()
    copy.CopyFrom(next(one for one in instructions if one.name == "gemm"))
    copy.name, copy.id = "gemm.remat", 99
    return on_gpus(made, ("gemm", "gemm", "gemm.remat"))


def on_gpus(proto, kernels=("gemm", "gemm", "tanh"), n_gpus=2, stats=A100):
    """Steps on some GPUs; a product is two different kernels, of 1 and 2 µs."""

    def stream(number):
        made = []
        for step in range(N_STEPS):
            for place, name in enumerate(kernels):
                start = step * PERIOD_NS + 1000 + place * 2000
                made.append(event(
                    f"kernel_{place}", start, 1000 * (1 + place % 2), hlo_op=name,
                    hlo_module="test", program_id=1, kernel_details=DETAILS,
                    correlation_id=1 + step,
                ))  # fmt: skip
        return gpu(line(*made, id=14, name="Stream #14(Compute)"), ordinal=number, stats=stats)

    marks = [
        one
        for step in range(N_STEPS)
        for one in (
            event("train", step * PERIOD_NS, 9000, step_num=step, _r=1),
            event("cuLaunchKernel", step * PERIOD_NS + 10, 20, correlation_id=1 + step),
        )
    ]
    space = xspace(host(line(*marks)), *map(stream, range(n_gpus)), hostname="gpus")
    space.planes.extend(programs(proto).planes)
    return open_run(space)
