"""Files of recorded steps, and what can grow in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tfprof
from fuzz.case import Format
from fuzz.formats.changed_messages import changed_message
from fuzz.formats.folders import packed
from fuzz.formats.steps import (
    changed_events,
    changed_folder,
    changed_profile,
    changed_run,
    event_files,
    log_seeds,
    profile_seeds,
    run_folders,
    run_seeds,
    small_graph,
)
from tests.files.event_files import event_file, graph_event, record, run_event
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, op, op_log, run, run_on, stat, traced


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
    Format("op_log", ".log.pb", log_seeds, changed_message("OpLogProto"), LOGS_GROWING,
        "OpLogProto"),
    Format("profile", ".profile", profile_seeds, changed_profile, PROFILES_GROWING,
        "ProfileProto"),
    Format("events", ".tfevents", event_files, changed_events, {
        "events": lambda n: event_file(*[b"\x10\x05"] * (n // 18)),
        "runs": lambda n: event_file(*(
            run_event(f"step{at}", run({"x": 5}).SerializeToString(), step=at)
            for at in range(n // 140)
        )),
        "graphs": lambda n: event_file(
            *[graph_event(small_graph().SerializeToString())] * (n // 330)
        ),
        "one event": lambda n: event_file(b"\x1a" + bytes(n)),
        "fields of one event": lambda n: event_file(b"\x10\x05" * (n // 2)),
        "one tag": lambda n: event_file(run_event("t" * n, b"")),
        "records that are none": lambda n: event_file() + bytes(n),
        "empty records": lambda n: event_file() + record(b"") * (n // 16),
    }),
    Format("run_folder", ".folder", run_folders, changed_folder, {
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
