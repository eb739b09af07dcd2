"""Small captures and profiles, drawn at random: few names and few times, so that much is equal."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.laws.of_captures import Spaces
from tests.laws.of_profiles import Model
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, graph, op, op_log, run_on, stat, traced
from tfprof.testing.xspace_builders import Event, EventLine, event, gpu, host, line, xspace

N_STEPS, STEP_NS = 4, 1_000_000
NAMES = ("alpha", "bravo", "delta")
"""Of ops, in this order; see ``RENAMED``."""
RENAMED = {"alpha": "amber", "bravo": "brown", "delta": "dusky"}
"""As long, and in the same order."""
_TYPES = ("MatMul", "Relu", "Conv2D")
_KERNEL = "regs:32 static_shared:0 dynamic_shared:64 grid:8,1,1 block:256,1,1 occ_pct:100"
_ALLOCATOR = {
    "bytes_reserved": 0, "bytes_available": 100, "fragmentation": 0.25, "peak_bytes_in_use": 64,
    "requested_bytes": 60, "addr": 4096, "data_type": 1, "shape": "[4]", "region_type": "output",
}  # fmt: skip


def capture(chance: random.Random, *, n_hosts: int = 2, n_steps: int = N_STEPS) -> Spaces:
    """Hosts with two GPUs each, and steps with input, ops, allocations, kernels and copies."""
    return {f"worker{at}": _host(chance, f"worker{at}", n_steps) for at in range(n_hosts)}


def unlike_hosts(chance: random.Random) -> Spaces:
    """Hosts of which the first, from which engines learn what to ask of the others, has no GPU."""
    spaces = capture(chance, n_hosts=3)
    del spaces["worker0"].planes[1:]
    return spaces


def _host(chance: random.Random, name: str, n_steps: int) -> pb.XSpace:
    main: list[Event] = []
    pool: list[Event] = []
    callers: Sequence[list[Event]] = ([], [])
    streams: Sequence[list[Event]] = ([], [], [])
    for step in range(n_steps):
        at = step * STEP_NS
        main.append(event("train", at, 900_000, step_num=step + 3, _r=1))
        main.append(event("IteratorGetNext:IteratorGetNext", at + 1000,
                          chance.choice((5, 9)) * 9999))  # fmt: skip
        main.append(event("FunctionRun", at + 100_000, 700_000, _pt=1, _p=10 * step + 7))
        pool.append(event("ExecutorState::Process", at + 110_000, 650_000, _ct=1, _c=10 * step + 7))
        begins = chance.sample((at + 300_000, at + 400_000), len(callers))
        for place, (others, begin) in enumerate(zip(callers, begins, strict=True)):
            others += [
                event(f"$train_{place}.py:{3 + step} fit", begin, 90_000),
                event(f"layer/{NAMES[0]}:{_TYPES[0]}", begin + 1000, 9000),
                event("Iterator::Prefetch", begin + 20_000, 60_000, id=6 + place),
                event("Iterator::Prefetch::Map", begin + 21_000, chance.choice((5, 9)) * 1000,
                      id=16 + place, parent_id=6 + place),
            ]  # fmt: skip
        for slot in range(6):
            begin = at + 120_000 + slot * 100_000
            called = chance.choice(NAMES)
            op_name = f"{chance.choice(('layer', 'head'))}/{called}:{_TYPES[NAMES.index(called)]}"
            number = 100 * step + slot
            pool.append(event(op_name, begin, chance.choice((40, 60)) * 1000,
                              correlation_id=number))  # fmt: skip
            pool.append(event("MemoryAllocation", begin + 10, 0, tf_op=op_name, allocation_bytes=60,
                              bytes_allocated=chance.choice((8, 64)), **_ALLOCATOR,
                              allocator_name=chance.choice(("GPU_0_bfc", "cpu"))))  # fmt: skip
            kind = chance.choice(("sgemm", "ncclAllReduce", "MemcpyD2D"))
            chance.choice(streams).append(
                event(kind, begin + 30_000, chance.choice((20, 50)) * 1000, tf_op=op_name,
                      correlation_id=number, kernel_details=_KERNEL)
            )  # fmt: skip
    threads = [line(*events, id=30 + at, name="caller") for at, events in enumerate(callers)]
    planes = [host(line(*main, name="python3"), line(*pool, id=2, name="pool/7"), *threads)]
    for ordinal, lines in enumerate((streams[:2], streams[2:])):
        made: list[EventLine] = [
            line(*events, id=14 + at, name=f"Stream #{14 + at}") for at, events in enumerate(lines)
        ]
        planes.append(gpu(*made, ordinal=ordinal))
    return xspace(*planes, hostname=name, warnings=[f"{name} was slow"])


def model(chance: random.Random) -> Model:
    """A graph of a few layers, with runs on two devices, and lines of Python."""
    names = [f"{scope}/{name}" for scope in ("layer", "head") for name in NAMES]
    nodes = [op("layer/w", "VariableV2", shape=[2, 3])]
    for place, name in enumerate(names):
        inputs = chance.sample(names[:place], min(place, 2))
        nodes.append(op(name, chance.choice(_TYPES), "layer/w", *inputs, outputs=[[4, 3]]))

    def ran(some: Sequence[str]) -> dict[str, pb.NodeExecStats]:
        starts = chance.sample(range(1000, 1000 + len(some)), len(some))
        return {name: stat(chance.choice((3, 5)), start=start, memory=(64, 32, 16))
                for name, start in zip(some, starts, strict=True)}  # fmt: skip

    log = op_log(*(traced(name, "net.py:3:main", f"net.py:{7 + at % 2}:layer", float_ops=at)
                   for at, name in enumerate(names)))  # fmt: skip
    of_gpu, of_cpu = names[::2], names[1::2]  # of two devices with an op, the first one counts
    runs = {
        step: run_on({CPU: ran(of_cpu), GPU: ran(of_gpu), GPU_STREAMS: ran(of_gpu)})
        for step in range(3)
    }
    return Model(graph(*nodes), runs, log)
