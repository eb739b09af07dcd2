"""Fuzz the tools over captures: each must answer, or raise one of tfprof's own errors.

    python -m fuzz.tools_target --seconds 60                    # random faults in small captures
    python -m fuzz.tools_target --data ../shared/data/xplane    # and in parts of recorded ones
    python -m fuzz.tools_target FILE ...                        # give these inputs again

Faults are of two kinds: in the bytes; and, as most such bytes do not parse any more, in the values
of a valid capture: times, ids, names, kinds of stats.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fuzz.budget import question
from tests.core.wire.random_messages import mutated
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.buffer_memory import memory_viewer
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_graph import graph_viewer
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
from tfprof.captures.tools.memory_profile import memory
from tfprof.captures.tools.monitor_report import monitor
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.pod_viewer import pod
from tfprof.captures.tools.roofline_model import roofline
from tfprof.captures.tools.tf_data_bottleneck import tf_data
from tfprof.captures.trace.events import trace
from tfprof.core.wire import messages as pb
from tfprof.errors import TfprofError
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

TOOLS: tuple[Callable[..., Any], ...] = (
    graph_viewer, hlo_stats, input_pipeline, kernel_stats, memory, memory_viewer, monitor,
    op_profile, op_stats, overview, pod, roofline, tf_data, trace,
)  # fmt: skip

SECONDS_PER_INPUT = 20

_MOST_EVENTS = 40
"""Of a line of a recorded capture."""


def every_tool(*captures: bytes) -> None:
    """Ask every tool, in both modes, about captures of as many hosts.

    Raises:
        AssertionError: An answer is not JSON.
        Exception: Whatever a tool should not raise.
    """
    try:
        with question("open"):
            run = open_run(list(captures))
    except TfprofError:
        return
    for tool in TOOLS:
        for classic in (False, True):
            try:
                with warnings.catch_warnings(), question(tool.__name__):
                    warnings.simplefilter("error")
                    result = tool(run, classic=classic)
                    answers = [result.to_dict()]
                    if len(captures) == 1 or tool is not memory:
                        answers.append(result.to_gviz())
            except TfprofError:
                continue
            json.dumps(answers, allow_nan=False)
            if not (result.verdict or result.notes or len(result.tables)):
                raise AssertionError(f"{tool.__name__} says nothing at all")


def small_captures() -> list[pb.XSpace]:
    """Captures with a little of everything that tools look for."""
    details = "regs:32 static_shared:0 dynamic_shared:64 grid:8,1,1 block:256,1,1 occ_pct:100"
    allocator = {
        "allocator_name": "gpu_bfc", "bytes_reserved": 0, "bytes_allocated": 64,
        "bytes_available": 36, "fragmentation": 0.25, "peak_bytes_in_use": 64,
        "requested_bytes": 60, "allocation_bytes": 64, "addr": 4096, "tf_op": "a/b:MatMul",
        "data_type": 1, "shape": "[4]", "region_type": "output",
    }  # fmt: skip
    main = line(
        event("train", 0, 1000, step_num=3, _r=1),
        event("FunctionRun", 5, 700, _pt=1, _p=77),
        event("EagerExecute", 10, 20, is_func=0),
        event("a/b:MatMul", 12, 10, correlation_id=9),
        event("train_step", 12, 400, tf_function_call="traced-xla", tracing_count=2),
        event("MemoryAllocation", 20, 0, **allocator),
        event("MemoryDeallocation", 60, 0, **{**allocator, "bytes_allocated": 0}),
        event("IteratorGetNext:IteratorGetNext", 100, 300),
        event("train", 1000, 900, step_num=4, _r=1),
        event("a/b:MatMul", 1010, 100, correlation_id=10),
        event("ThreadpoolListener::StartRegion", 1200, 0, _c=5),
        event("ThreadpoolListener::StopRegion", 1300, 0),
        name="main",
    )
    pool = line(
        event("ExecutorState::Process", 20, 600, id=1, iter_num=0, _ct=1, _c=77),
        event("IteratorGetNextOp::DoCompute", 30, 500, id=1, iter_num=0),
        event("Iterator::Root", 31, 400, id=Unsigned(2**63 + 5)),
        event("Iterator::Root::Prefetch", 32, 300, id=6, parent_id=Unsigned(2**63 + 5)),
        event("PrefetchConsume", 40, 10, element_id=1),
        event("c/Read:ReadFile", 700, 30, tf_op=Reference("x:Y"), _a=1),
        id=2,
    )
    producer = line(
        event("PrefetchProduce", 10, 200, element_id=1),
        event("Iterator::Root::Prefetch::TFRecordV2[0]", 12, 150, id=7, parent_id=6),
        event("InfeedEnqueueTuple:InfeedEnqueueTuple", 300, 10),
        event("InfeedEnqueueTuple:InfeedEnqueueTuple", 400, 10),
        id=3,
    )
    stream = line(
        event("sgemm_16816", 50, 200, correlation_id=9, kernel_details=details,
              tf_op="a/b:MatMul"),
        event("MemcpyH2D", 300, 50, correlation_id=9),
        event("ncclAllReduce", 1100, 60, correlation_id=10, kernel_details=details),
        event("fusion", 1200, 60, correlation_id=10, hlo_op="fusion.1", hlo_module="jit",
              program_id=3, kernel_details=details),
        id=14, name="Stream #14(Compute)",
    )  # fmt: skip
    device = {
        "device_vendor": "Nvidia", "compute_cap_major": 8, "compute_cap_minor": 0,
        "clock_rate": 1_410_000, "core_count": 108, "memory_bandwidth": 1_555_000_000_000,
    }  # fmt: skip
    tpu = plane(
        "/device:TPU:0",
        line(event("0", 10, 500, group_id=0), event("1", 600, 300, group_id=1), name="Steps"),
        line(event("jit(3)", 10, 500, run_id=4), event("jit(3)", 600, 300, run_id=5), id=2,
             name="XLA Modules"),
        line(event("fusion.1", 10, 300, flops=100, bytes_accessed=Unsigned(64),
                   hlo_category="convolution", program_id=3), id=3, name="XLA Ops"),
        stats={"peak_teraflops_per_second": 1.5, "device_type_string": "TPU v6e"},
        began_ns=5000,
    )  # fmt: skip
    grouped = host(
        line(
            event("train", 0, 100, group_id=0, step_name="train 0", _r=1),
            event("a:B", 10, 20, group_id=0, is_eager=1),
            event("train", 100, 100, group_id=1, step_name="train 1", _r=1),
            event("a:B", 110, 20, group_id=1),
        )
    )
    return [
        xspace(host(main, pool, producer), hostname="one"),
        xspace(host(main, pool, producer), gpu(stream, stats=device), hostname="two"),
        xspace(host(main, began_ns=5000), tpu),
        xspace(grouped, plane("/device:CUSTOM:x", stream)),
    ]


def recorded_captures(data: Path) -> Iterator[pb.XSpace]:
    """The beginnings of recorded captures."""
    for path in sorted(data.rglob("*.xplane.pb")):
        space = pb.XSpace.FromString(path.read_bytes())
        for one in space.planes:
            for own in one.lines:
                del own.events[_MOST_EVENTS:]
            used = {happened.metadata_id for own in one.lines for happened in own.events}
            for key in set(one.event_metadata) - used:
                del one.event_metadata[key]
            if one.name == "/host:metadata":
                for key in sorted(one.event_metadata)[1:]:
                    del one.event_metadata[key]
        yield space


_NUMBERS = (
    0, 1, -1, 2, 63, 64, 1000, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63),
    -(2**31), 10**15,
)  # fmt: skip
_TEXTS = (
    "", ":", "a:", ":B", "Iterator::", "Iterator", "/", "::", "train", "\x00", "\ufffd", "é" * 40,
    "x" * 5000, "a,b->c", "regs:x grid:,,, block:-1 occ_pct:nan", "1e999", "IDLE", "group_id",
    "MemoryAllocation", "region", "/device:GPU:0", "/device:TPU:0", "/host:CPU", "fusion.1",
    "XLA Ops", "Steps", "hlo_op", "flops", "<b>&amp;", "__proto__",
)  # fmt: skip
_DOUBLES = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e308, -1.5, 1e-320)


def with_faults(chance: random.Random, space: pb.XSpace) -> pb.XSpace:
    """The same capture with a few odd values."""
    made = pb.XSpace()
    made.CopyFrom(space)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if made.planes:
            chance.choice(_FAULTS)(chance, chance.choice(made.planes), made)
    return made


def _odd_stat(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    owner = chance.choice([_some_event(chance, one), _some_entry(chance, one), one])
    if owner is None:
        return
    if owner.stats and chance.random() < 0.8:
        stat = chance.choice(owner.stats)
    else:
        stat = owner.stats.add()
        stat.metadata_id = chance.choice([*one.stat_metadata, 0, -1, 2**40])
    kind = chance.randrange(7)
    if kind == 0:
        stat.ClearField("int64_value")
        stat.ClearField("str_value")
    elif kind == 1:
        stat.double_value = chance.choice(_DOUBLES)
    elif kind == 2:
        stat.uint64_value = chance.choice(_NUMBERS) % 2**64
    elif kind == 3:
        stat.int64_value = chance.choice(_NUMBERS)
    elif kind == 4:
        stat.str_value = chance.choice(_TEXTS)
    elif kind == 5:
        stat.bytes_value = chance.randbytes(chance.randrange(20))
    else:
        stat.ref_value = chance.choice([*one.stat_metadata, 0, 2**64 - 1])


def _odd_event(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    happened = _some_event(chance, one)
    if happened is None:
        return
    kind = chance.randrange(4)
    if kind == 0:
        happened.duration_ps = chance.choice(_NUMBERS)
    elif kind == 1:
        happened.offset_ps = chance.choice(_NUMBERS)
    elif kind == 2:
        happened.num_occurrences = chance.choice(_NUMBERS)
    else:
        happened.metadata_id = chance.choice([*one.event_metadata, 0, -5, 2**50])


def _odd_line(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    if not one.lines:
        return
    own = chance.choice(one.lines)
    kind = chance.randrange(5)
    if kind == 0:
        own.timestamp_ns = chance.choice([*_NUMBERS, own.timestamp_ns + 3600 * 10**9])
    elif kind == 1:
        own.id = chance.choice([*_NUMBERS, 0xDEADBEEF, 0xDEADBEEF - 2**32])
    elif kind == 2:
        own.name = chance.choice(_TEXTS)
    elif kind == 3:
        del own.events[chance.randrange(len(own.events) + 1) :]
    else:
        one.lines.add().CopyFrom(own)


def _odd_name(chance: random.Random, one: pb.XPlane, made: pb.XSpace) -> None:
    kind = chance.randrange(5)
    entry = _some_entry(chance, one)
    if kind == 0:
        one.name = chance.choice(_TEXTS)
    elif kind == 1 and one.stat_metadata:
        key = chance.choice(list(one.stat_metadata))
        names = [known.name for known in one.stat_metadata.values()]
        one.stat_metadata[key].name = chance.choice([*_TEXTS, *names])
    elif kind == 2:
        made.planes.add().CopyFrom(one)
    elif entry is not None:
        names = [known.name for other in made.planes for known in other.event_metadata.values()]
        entry.name = chance.choice([*_TEXTS, *names])


_FAULTS = (_odd_stat, _odd_stat, _odd_event, _odd_event, _odd_line, _odd_name)


def _some_event(chance: random.Random, one: pb.XPlane) -> Any:
    lines = [own for own in one.lines if own.events]
    return chance.choice(chance.choice(lines).events) if lines else None


def _some_entry(chance: random.Random, one: pb.XPlane) -> Any:
    keys = list(one.event_metadata)
    return one.event_metadata[chance.choice(keys)] if keys else None


def odd_inputs(chance: random.Random, spaces: Sequence[pb.XSpace]) -> Iterator[list[bytes]]:
    """Runs of one to three hosts, at least one of them with faults."""
    whole = [space.SerializeToString() for space in spaces]
    while True:
        made = with_faults(chance, chance.choice(spaces)).SerializeToString()
        if chance.random() < 0.2:
            made = mutated(chance, made, whole)
        others = [chance.choice(whole) for _ in range(chance.choice((0, 0, 0, 1, 2)))]
        yield [made, *others]


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path, nargs="*", help="inputs to give again")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="a folder with recorded captures")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if options.inputs:
        every_tool(*[path.read_bytes() for path in options.inputs])
        return 0
    spaces = small_captures()
    if options.data is not None:
        spaces += recorded_captures(options.data)
    started, done = time.monotonic(), 0
    for captures in odd_inputs(random.Random(options.seed), spaces):
        if time.monotonic() - started > options.seconds:
            break
        begun = time.monotonic()
        try:
            every_tool(*captures)
            if time.monotonic() - begun > SECONDS_PER_INPUT:
                raise TimeoutError(f"{time.monotonic() - begun:.0f} s for one input")
        except Exception:
            options.findings.mkdir(parents=True, exist_ok=True)
            for place, data in enumerate(captures):
                kept = options.findings / f"tools-{options.seed}-{done}-{place}.xplane.pb"
                kept.write_bytes(data)
                print(f"kept in {kept}", flush=True)
            raise
        done += 1
    print(f"{done} inputs in {options.seconds:.0f} s from seed {options.seed}: nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
