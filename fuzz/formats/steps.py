"""Recorded steps: run metadata, op logs, saved profiles, event files, and folders of all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from google.protobuf.message import DecodeError

import tfprof
from fuzz.case import Format
from fuzz.formats.folders import packed, unpacked
from fuzz.formats.graphs import changed_graph
from fuzz.formats.changed_messages import changed_message
from fuzz.formats.messages import odd_text, with_hostile_value
from tests.files.event_files import event_file, graph_event, meta_graph_event, record, run_event
from tests.oracle.cases import AddStep, random_session
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, op, op_log, run, run_on, stat, traced

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


def _changed_profile(chance: random.Random, data: bytes) -> bytes:
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
def _event_files() -> Sequence[bytes]:
    given, one, two = small_graph().SerializeToString(), run_seeds()[0], run_seeds()[1]
    meta = pb.MetaGraphDef(graph_def=small_graph()).SerializeToString()
    return [
        event_file(graph_event(given), run_event("step1", one, step=1), run_event("b", two, 2)),
        event_file(meta_graph_event(meta), run_event("step1", one), graph_event(given)),
    ]


def _changed_events(chance: random.Random, data: bytes) -> bytes:
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
def _run_folders() -> Sequence[bytes]:
    """What a program leaves: a graph, run metadata by step, an op log; or profiles."""
    given, log = small_graph().SerializeToString(deterministic=True), log_seeds()[0]
    return [
        packed({"graph.pb": given, "run_meta_1.pb": run_seeds()[0], "run_meta_2.pb": run_seeds()[0],
                "tfprof_log": log}),
        packed({"profile_100": profile_seeds()[0], "profile_200": profile_seeds()[1],
                "graph.pbtxt": given, "events.out.tfevents.1": _event_files()[0]}),
        packed({"events.out.tfevents.1.a": _event_files()[0],
                "events.out.tfevents.2.b": _event_files()[1], "notes.txt": b"a note\n"}),
    ]  # fmt: skip


def _changed_folder(chance: random.Random, data: bytes) -> bytes:
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
    start = {"graph": changed_graph, "run": changed_run, "events": _changed_events,
             "profile": _changed_profile}  # fmt: skip
    found = next((start[key] for key in start if name.rpartition("/")[2].startswith(key)), None)
    return found or changed_message("OpLogProto")


# What grows


def _each(make: Callable[[int], pb.NodeExecStats]) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        count = max(n_bytes // (make(1000).ByteSize() + 12), 1)
        return bytes(run([(f"o{at}", make(at)) for at in range(count)]).SerializeToString())

    return grow


def _named(name: Callable[[int], str]) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        count = max(n_bytes // (len(name(1000)) + 18), 1)
        return bytes(run([(name(at), stat(5, start=at + 1)) for at in range(count)])
                     .SerializeToString())  # fmt: skip

    return grow


def _one(change: Callable[[Any, int], object]) -> Callable[[int], bytes]:
    """A run of one op, of which one thing grows."""

    def grow(n_bytes: int) -> bytes:
        made = run({"dense/MatMul": 5})
        change(made.step_stats.dev_stats[0].node_stats[0], n_bytes)
        return bytes(made.SerializeToString())

    return grow


def _many(add: Callable[[Any, int], object], unit: int) -> Callable[[Any, int], None]:
    def change(stat_: Any, n_bytes: int) -> None:
        for at in range(max(n_bytes // unit, 1)):
            add(stat_, at)

    return change


RUNS_GROWING: Mapping[str, Callable[[int], bytes]] = {
    "executions": _each(lambda at: stat(5, start=at + 1)),
    "executions at once": _each(lambda at: stat(10**6, start=1000)),
    "executions in executions": _each(lambda at: stat(10**7 - 2 * at, start=1000 + at)),
    "executions, the last first": _each(lambda at: stat(5, start=10**9 - 10 * at)),
    "executions of one op": _named(lambda at: "dense/MatMul"),
    "ops with many parts of names": _named(lambda at: f"a{at}/b/c/d/e/f:Kernel"),
    "devices": lambda n: bytes(
        run_on({f"/device:GPU:{at}": {"dense/MatMul": 5} for at in range(n // 50)})
        .SerializeToString()
    ),
    "streams": lambda n: bytes(
        run_on({f"/device:GPU:0/stream:{at}": {"x": 5} for at in range(n // 48)})
        .SerializeToString()
    ),
    "one device name": lambda n: bytes(run({"x": 5}, "/device:GPU:" + "1" * n).SerializeToString()),
    "empty executions": lambda n: bytes(
        pb.RunMetadata(step_stats=pb.StepStats(dev_stats=[
            pb.DeviceStepStats(device="/gpu:0", node_stats=[pb.NodeExecStats()] * (n // 2))
        ])).SerializeToString()
    ),
    "one name": _one(lambda one, n: setattr(one, "node_name", "x" * n)),
    "one name of colons": _one(lambda one, n: setattr(one, "node_name", ":" * n)),
    "one label": _one(lambda one, n: setattr(one, "timeline_label", "a = B(" + "c, " * (n // 3))),
    "allocators": _one(_many(
        lambda one, at: one.memory.add(allocator_name=f"a{at}", total_bytes=7, peak_bytes=5), 15
    )),
    "allocations": _one(_many(
        lambda one, at: (one.memory or [one.memory.add(allocator_name="cpu")])[0]
        .allocation_records.add(alloc_micros=at, alloc_bytes=7 if at % 2 else -7), 12
    )),
    "outputs": _one(_many(
        lambda one, at: one.output.add(slot=at).tensor_description.allocation_description
        .__setattr__("requested_bytes", 7), 10
    )),
    "dimensions of an output": _one(_many(
        lambda one, at: (one.output or [one.output.add()])[0].tensor_description.shape.dim
        .add(size=3), 4
    )),
    "referenced tensors": _one(_many(
        lambda one, at: one.referenced_tensor.add(requested_bytes=at), 6
    )),
    "graphs of the run": lambda n: bytes(
        pb.RunMetadata(partition_graphs=[small_graph()] * (n // 300)).SerializeToString()
    ),
}  # fmt: skip
"""Of run metadata."""


def _log(entries: Sequence[Any]) -> bytes:
    return bytes(op_log(*entries).SerializeToString())


LOGS_GROWING: Mapping[str, Callable[[int], bytes]] = {
    "entries": lambda n: _log([traced(f"op{at}", "a.py:3:main") for at in range(n // 24)]),
    "frames of one stack": lambda n: _log([traced("x", *["a.py:3:f"] * (n // 8))]),
    "different frames of one stack": lambda n: _log(
        [traced("x", *(f"a{at}.py:{at}:f{at}" for at in range(n // 50)))]
    ),
    "frames of each stack": lambda n: _log(
        [traced(f"o{at}", *(f"a.py:{at + line}:f" for line in range(int((n / 8) ** 0.5))))
         for at in range(int((n / 8) ** 0.5))]
    ),
    "stacks that end differently": lambda n: _log(
        [traced(f"o{at}", *["a.py:3:f"] * 1000, f"b.py:{at}:g") for at in range(n // 9000)]
    ),
    "entries of one op": lambda n: _log([traced("x", f"a.py:{at}:f") for at in range(n // 20)]),
    "types of one op": lambda n: bytes(
        op_log(("x", None, 7, tuple(f"type{at}" for at in range(n // 10)))).SerializeToString()
    ),
    "texts": lambda n: bytes(pb.OpLogProto(
        id_to_string={at: f"text {at}" for at in range(n // 19)}
    ).SerializeToString()),
    "one text": lambda n: _log([traced("x", "a" * n + ".py:3:f")]),
}  # fmt: skip
"""Of op logs."""


def _profile(log: bytes = b"", runs: Sequence[bytes] = (), given: Any = None) -> bytes:
    profiler = tfprof.Profiler(given or small_graph(), log or None, classic=False)
    for step, one in enumerate(runs):
        profiler.add_step(step, one)
    return profiler.serialize_to_string()


def _step_of(executions: int) -> bytes:
    return bytes(run([("x", 5)] * executions).SerializeToString())


def _profile_of_nodes(change: Callable[[Any, int], object], unit: int) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        profile = pb.ProfileProto()
        for at in range(max(n_bytes // unit, 1)):
            node = profile.nodes[at]
            node.name, node.op, node.id = f"scope/op{at}", "MatMul", at
            change(node, at)
        profile.steps.append(0)
        return bytes(profile.SerializeToString())

    return grow


def _profile_of_one(change: Callable[[Any, int], object], unit: int) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        profile = pb.ProfileProto.FromString(profile_seeds()[0])
        for at in range(max(n_bytes // unit, 1)):
            change(profile.nodes[0], at)
        return bytes(profile.SerializeToString())

    return grow


PROFILES_GROWING: Mapping[str, Callable[[int], bytes]] = {
    "nodes": _profile_of_nodes(lambda node, at: None, 40),
    "nodes in a row": _profile_of_nodes(lambda node, at: node.inputs.__setitem__(0, at - 1), 50),
    "nodes that ran": _profile_of_nodes(
        lambda node, at: node.execs[0].cpu_execs["/cpu:0"].times.add().int64_values
        .extend([at, 5]), 70,
    ),
    "inputs of one node": _profile_of_one(lambda one, at: one.inputs.__setitem__(at, at % 5), 9),
    "outputs of one node": _profile_of_one(lambda one, at: one.outputs.__setitem__(at, at % 5), 9),
    "steps of one node": _profile_of_one(
        lambda one, at: one.execs[at].cpu_execs["/cpu:0"].times.add().int64_values.extend([at, 5]),
        30,
    ),
    "times of one step": _profile_of_one(
        lambda one, at: one.execs[0].cpu_execs["/cpu:0"].times.add().int64_values.extend([at, 5]),
        9,
    ),
    "devices of one step": _profile_of_one(
        lambda one, at: one.execs[0].cpu_execs[f"/cpu:{at}"].times.add().int64_values
        .extend([at, 5]), 27,
    ),
    "frames of one node": _profile_of_one(
        lambda one, at: one.trace.traces.add(file_id=at, lineno=at, function_id=at), 14
    ),
    "dimensions of one node": _profile_of_one(lambda one, at: one.shape.append(3), 1),
    "shapes of one node": _profile_of_one(
        lambda one, at: one.output_shapes[at].int64_values.extend([3, 4]), 12
    ),
    "attributes of one node": _profile_of_one(
        lambda one, at: one.attrs[f"attribute{at}"].__setattr__("i", at), 26
    ),
    "memory of one step": _profile_of_one(
        lambda one, at: one.execs[0].memory_execs.add(memory_micros=at, requested_bytes=7), 9
    ),
    "allocations of one step": _profile_of_one(
        lambda one, at: one.execs[0].allocations.add(alloc_micros=at, alloc_bytes=7), 8
    ),
    "steps": lambda n: _profile(runs=[_step_of(400)] * (n // 16_000)),
    "executions": lambda n: _profile(runs=[RUNS_GROWING["executions of one op"](n)]),
    "stacks": lambda n: _profile(
        _log([traced(f"op{at}", f"a.py:{at}:f", "b.py:1:g") for at in range(n // 60)]),
        given=graph(*(op(f"op{at}", "MatMul") for at in range(n // 60))),
    ),
}  # fmt: skip
"""Of saved profiles."""

FORMATS = (
    Format("run_metadata", ".run.pb", run_seeds, changed_run, RUNS_GROWING, "RunMetadata"),
    Format("op_log", ".log.pb", log_seeds, changed_message("OpLogProto"), LOGS_GROWING, "OpLogProto"),
    Format("profile", ".profile", profile_seeds, _changed_profile, PROFILES_GROWING, "ProfileProto"),
    Format("events", ".tfevents", _event_files, _changed_events, {
        "events": lambda n: event_file(*[b"\x10\x05"] * (n // 18)),
        "runs": lambda n: event_file(*(
            run_event(f"step{at}", run({"x": 5}).SerializeToString(), step=at)
            for at in range(n // 140)
        )),
        "graphs": lambda n: event_file(*[graph_event(small_graph().SerializeToString())] * (n // 330)),
        "one event": lambda n: event_file(b"\x1a" + bytes(n)),
        "fields of one event": lambda n: event_file(b"\x10\x05" * (n // 2)),
        "one tag": lambda n: event_file(run_event("t" * n, b"")),
        "records that are none": lambda n: event_file() + bytes(n),
        "empty records": lambda n: event_file() + record(b"") * (n // 16),
    }),
    Format("run_folder", ".folder", _run_folders, _changed_folder, {
        "steps": lambda n: packed({
            "graph.pb": small_graph().SerializeToString(),
            **{f"run_meta_{at}.pb": run_seeds()[0] for at in range(min(n // 280, 1900))},
        }),
        "other files": lambda n: packed({
            "graph.pb": small_graph().SerializeToString(),
            **{f"notes_{at}.txt": b"word " * (n // 10_000) for at in range(1900)},
        }),
        "event files": lambda n: packed({
            f"events.out.tfevents.{at}": event_file(*[b"\x10\x05"] * (n // 36_000))
            for at in range(1900)
        }),
    }),
)  # fmt: skip
