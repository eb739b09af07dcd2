"""Recorded steps: run metadata, op logs, saved profiles, event files, and folders of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from google.protobuf.message import DecodeError

import tfprof
from fuzz.formats.changed_messages import changed_message
from fuzz.formats.folders import packed, unpacked
from fuzz.formats.graphs import changed_graph
from fuzz.formats.messages import odd_text, with_hostile_value
from tests.files.event_files import event_file, graph_event, meta_graph_event, run_event
from tests.oracle.cases import AddStep, random_session
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, op, op_log, run_on, stat, traced

_MICROS = (0, 1, -1, -(10**6), 2**31, 2**40, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 10**15)
_DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0", "/device:GPU:0/stream:all", "/gpu:0", "",
    "/device:GPU:0/stream:7", "/job:a/replica:9999999999/task:x/device:GPU:-1", "stream:all",
    "/device:CPU:٣", "/host:CPU", "/device:TPU:0", "/device:GPU:0/memcpy", "a\x1b[31mb",
)  # fmt: skip


def small_graph() -> pb.GraphDef:
    """The graph of the steps that are made here."""
    return graph(
        op("x", "Placeholder", shape=[4, 4]), op("w", "VariableV2", shape=[4, 4]),
        op("dense/MatMul", "MatMul", "x", "w", outputs=[[4, 4]]),
        op("dense/Relu", "Relu", "dense/MatMul", outputs=[[4, 4]]),
        op("gradients/dense/MatMul_grad/MatMul", "MatMul", "dense/Relu", "w"),
    )  # fmt: skip


@cache
def _sessions() -> tuple[Any, ...]:
    """Random sessions with a step, small ones first."""
    made = [random_session(seed) for seed in range(12)]
    usable = [one for one in made if any(isinstance(each, AddStep) for each in one.actions)]
    return tuple(sorted(usable, key=lambda one: len(one.graph))[:3])


def _small_run() -> pb.RunMetadata:
    made = run_on({
        _DEVICES[0]: {
            "x": 3, "dense/MatMul": stat(70, memory=(64, 32, 16), outputs=[64]),
            "dense/Relu": stat(5, start=2000, label="dense/Relu = Relu(dense/MatMul)"),
        },
        "/device:GPU:0/stream:all": {"dense/MatMul:MatMul": stat(60, start=1010, temporary=4)},
    })  # fmt: skip
    first = made.step_stats.dev_stats[0].node_stats[0]
    first.memory.add(allocator_name="gpu").allocation_records.add(alloc_micros=5, alloc_bytes=64)
    first.output.add(slot=1).tensor_description.shape.dim.add(size=4)
    return made


@cache
def run_seeds() -> Sequence[bytes]:
    """Run metadata of small steps."""
    steps = [each.run_meta for one in _sessions() for each in one.actions
             if isinstance(each, AddStep)]  # fmt: skip
    return [_small_run().SerializeToString(deterministic=True), *steps[:3]]


def changed_run(chance: random.Random, data: bytes) -> bytes:
    """A run with other times, devices, names, memory and order."""
    try:
        made = pb.RunMetadata.FromString(data)
    except (DecodeError, RuntimeWarning):
        return data
    for _ in range(chance.choice((1, 1, 2, 6))):
        blocks = made.step_stats.dev_stats
        if not blocks:
            return with_hostile_value(chance, made)
        block = chance.choice(blocks)
        chance.choice(_CHANGES)(chance, made, block)
    return bytes(made.SerializePartialToString())


def _odd_time(chance: random.Random, made: Any, block: Any) -> None:
    for one in chance.sample(list(block.node_stats), min(2, len(block.node_stats))):
        name = chance.choice(
            ("all_start_micros", "op_start_rel_micros", "op_end_rel_micros", "all_end_rel_micros",
             "scheduled_micros", "all_start_nanos", "op_end_rel_nanos", "all_end_rel_nanos")
        )  # fmt: skip
        setattr(one, name, chance.choice(_MICROS))


def _odd_memory(chance: random.Random, made: Any, block: Any) -> None:
    if not block.node_stats:
        return
    one, size = chance.choice(block.node_stats), chance.choice(_MICROS)
    kind = chance.randrange(4)
    if kind == 0:
        one.memory.add(allocator_name=chance.choice(("cpu", "GPU_0_bfc", odd_text(chance))),
                       total_bytes=size, peak_bytes=-size // 2, live_bytes=size // 3)  # fmt: skip
    elif kind == 1:
        described = one.output.add(slot=chance.choice((0, 1, -1, 2**31 - 1))).tensor_description
        described.allocation_description.requested_bytes = size
        described.shape.dim.add(size=size)
    elif kind == 2:
        one.memory_stats.temp_memory_size = size
        one.memory_stats.persistent_memory_size = -(size // 2)
    else:
        records = one.memory.add(allocator_name="cpu").allocation_records
        records.add(alloc_micros=size, alloc_bytes=chance.choice(_MICROS))


def _odd_name(chance: random.Random, made: Any, block: Any) -> None:
    if chance.random() < 0.3 or not block.node_stats:
        block.device = chance.choice((*_DEVICES, odd_text(chance)))
        return
    one = chance.choice(block.node_stats)
    one.node_name = chance.choice(
        ("dense/MatMul", "x:Kernel", ":", "a:b:c", "_SOURCE", "RecvTensor", "memcpy", "/",
         odd_text(chance))
    )  # fmt: skip
    one.timeline_label = chance.choice(
        ("", "a = B(", "a = B(c, d)", "[H2D] 7 bytes", "= (", odd_text(chance))
    )


def _another_order(chance: random.Random, made: Any, block: Any) -> None:
    kind = chance.randrange(3)
    if kind == 0:
        made.step_stats.dev_stats.add().CopyFrom(block)
    elif block.node_stats:
        stats = list(block.node_stats)
        if kind == 1:
            chance.shuffle(stats)
        else:
            stats += [chance.choice(stats)] * chance.choice((1, 5, 300))
        del block.node_stats[:]
        block.node_stats.extend(stats)


_CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    _odd_time, _odd_time, _odd_memory, _odd_name, _another_order,
)  # fmt: skip


@cache
def log_seeds() -> Sequence[bytes]:
    """Op logs with call stacks."""
    small = op_log(
        traced("dense/MatMul", "train.py:3:main", "net.py:7:dense", float_ops=48, types=["mine"]),
        traced("x", "train.py:3:main"),
        traced("gradients/dense/MatMul_grad/MatMul", "train.py:9:main"),
    )
    return [
        small.SerializeToString(deterministic=True),
        *(one.op_log for one in _sessions()),
    ]  # fmt: skip


@cache
def profile_seeds() -> Sequence[bytes]:
    """Saved profiles, with one step and with several."""
    made = []
    sessions = [(small_graph(), log_seeds()[0], run_seeds()[:1]),
                *((one.graph, one.op_log, [each.run_meta for each in one.actions
                                           if isinstance(each, AddStep)])
                  for one in _sessions())]  # fmt: skip
    for given, log, runs in sessions:
        profiler = tfprof.Profiler(given, log, classic=False)
        for step, one in enumerate(runs):
            try:
                profiler.add_step(step, one)
            except tfprof.TfprofError:
                continue
        made.append(profiler.serialize_to_string())
    return made


def changed_profile(chance: random.Random, data: bytes) -> bytes:
    """Nodes that refer to others, to themselves or to none, and odd executions."""
    try:
        profile = pb.ProfileProto.FromString(data)
    except (DecodeError, RuntimeWarning):
        return data
    if not profile.nodes:
        return with_hostile_value(chance, profile)
    for _ in range(chance.choice((1, 2, 6))):
        ids = sorted(profile.nodes)
        node = profile.nodes[chance.choice(ids)]
        other = chance.choice((*ids, -1, 2**62, 0))
        kind = chance.randrange(7)
        if kind == 0:
            node.inputs[chance.choice((0, 1, -1, 2**31 - 1, len(node.inputs)))] = other
            node.src_output_index[other] = chance.choice((0, -1, 7, 2**31 - 1))
        elif kind == 1:
            node.name = chance.choice(
                (profile.nodes[chance.choice(ids)].name, odd_text(chance), "")
            )
        elif kind == 2:
            step = chance.choice((0, 1, -1, 2**63 - 1))
            profile.steps.append(step)
            for name in ("accelerator_execs", "cpu_execs"):
                times = getattr(node.execs[step], name)[chance.choice(_DEVICES)].times
                values = chance.choices(_MICROS, k=chance.choice((2, 2, 0, 1, 3)))
                times.add().int64_values.extend(values)
            node.execs[step].run_count = chance.choice(_MICROS)
        elif kind == 3:
            node.shape.extend(chance.choices(_MICROS, k=chance.choice((1, 3, 400))))
        elif kind == 4:
            frame = node.trace.traces.add(lineno=chance.choice((0, -1, 2**31 - 1)))
            frame.file_id = frame.function_id = chance.choice((0, 1, 2**62, -1))
        elif kind == 5:
            node.float_ops = chance.choice(_MICROS)
        else:
            node.op = chance.choice(("Const", "VariableV2", "MatMul", odd_text(chance)))
    return bytes(profile.SerializePartialToString())


@cache
def event_files() -> Sequence[bytes]:
    """Event files with graphs and runs."""
    given, one, two = small_graph().SerializeToString(), run_seeds()[0], run_seeds()[1]
    meta = pb.MetaGraphDef(graph_def=small_graph()).SerializeToString()
    return [
        event_file(graph_event(given), run_event("step1", one, step=1), run_event("b", two, 2)),
        event_file(meta_graph_event(meta), run_event("step1", one), graph_event(given)),
    ]


def changed_events(chance: random.Random, data: bytes) -> bytes:
    """Events with right checksums: other graphs and runs, other order, again, cut off."""
    made = []
    for _ in range(chance.choice((1, 2, 3, 9))):
        kind, step = chance.randrange(5), chance.choice((None, 0, 5, 2**63 - 1, 2**64 - 1))
        if kind == 0:
            made.append(graph_event(changed_graph(chance, small_graph().SerializeToString())))
        elif kind < 3:
            content = changed_run(chance, chance.choice(run_seeds()))
            made.append(run_event(odd_text(chance)[:2000], content, step))
        elif kind == 3:
            made.append(chance.randbytes(chance.choice((0, 1, 9, 80))))
        else:
            made.append(b"\x42" + bytes([chance.randrange(128)]) + chance.randbytes(20))
    changed = event_file(*made)
    return changed[: chance.randrange(len(changed))] if chance.random() < 0.1 else changed


@cache
def run_folders() -> Sequence[bytes]:
    """What a program leaves: a graph, run metadata by step, an op log; or profiles."""
    given, log = small_graph().SerializeToString(deterministic=True), log_seeds()[0]
    return [
        packed({"graph.pb": given, "run_meta_1.pb": run_seeds()[0], "run_meta_2.pb": run_seeds()[0],
                "tfprof_log": log}),
        packed({"profile_100": profile_seeds()[0], "profile_200": profile_seeds()[1],
                "graph.pbtxt": given, "events.out.tfevents.1": event_files()[0]}),
        packed({"events.out.tfevents.1.a": event_files()[0],
                "events.out.tfevents.2.b": event_files()[1], "notes.txt": b"a note\n"}),
    ]  # fmt: skip


def changed_folder(chance: random.Random, data: bytes) -> bytes:
    """Files that are changed, gone, more, or deeper in the folder."""
    files = unpacked(data)
    for _ in range(chance.choice((1, 2, 3))):
        if not files:
            break
        name = chance.choice(sorted(files))
        kind, change = chance.randrange(6), _change_of(name)
        if kind == 0:
            files[f"run_meta_{chance.choice((1, 3, 2**70, '٣'))}.pb"] = changed_run(
                chance, run_seeds()[0]
            )
        elif kind == 1 and len(files) > 1:
            del files[name]
        elif kind == 2:
            files[f"inner/{name}"] = files.pop(name)
        else:
            files[name] = change(chance, files[name])
    return packed(files)


def _change_of(name: str) -> Callable[[random.Random, bytes], bytes]:
    start = {"graph": changed_graph, "run": changed_run, "events": changed_events,
             "profile": changed_profile}  # fmt: skip
    found = next((start[key] for key in start if name.rpartition("/")[2].startswith(key)), None)
    return found or changed_message("OpLogProto")
