"""Saved profiles of classic mode against TensorFlow's, in both directions."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, op, options, run, stat

from . import models
from .cases import AddStep, Query, Session, random_session
from .compare import canonical, proto_difference, result_class
from .engine import Answer, Engine, Item
from .real_sessions import brief_session

BATCHES = 6
SESSIONS_PER_BATCH = 30
METHODS = {
    "scope": "profile_name_scope",
    "graph": "profile_graph",
    "op": "profile_operations",
    "code": "profile_python",
}


def feeding(session: Session) -> Session:
    """The session without queries, its graph without inputs from nowhere.

    The original refuses to save a node with such an input.
    """
    graph = pb.GraphDef.FromString(session.graph)
    names = {node.name for node in graph.node}
    for node in graph.node:
        known = [text for text in node.input if text.partition(":")[0].removeprefix("^") in names]
        node.ClearField("input")
        node.input.extend(known)
    steps = tuple(action for action in session.actions if isinstance(action, AddStep))
    return Session(session.name, graph.SerializeToString(), session.op_log, steps)


def with_memory(session: Session, seed: int) -> Session:
    """The session with allocators, their allocations, and output buffers in its runs."""
    chooser = random.Random(seed)
    steps = []
    for action in session.actions:
        assert isinstance(action, AddStep)
        run = pb.RunMetadata.FromString(action.run_meta)
        for block in run.step_stats.dev_stats:
            for node_stats in block.node_stats:
                add_memory(node_stats, chooser)
        steps.append(AddStep(action.step, run.SerializeToString()))
    return Session(session.name, session.graph, session.op_log, tuple(steps))


def add_memory(made: pb.NodeExecStats, chooser: random.Random) -> None:
    for _ in range(chooser.choice((0, 0, 1, 2))):
        used = made.memory.add(
            allocator_name=chooser.choice(("GPU_0_bfc", "cpu", "gpu_0_bfc", "xGPUx", "")),
            total_bytes=chooser.randrange(1 << 33),
            peak_bytes=chooser.randrange(1 << 20),
            live_bytes=chooser.randrange(-9, 9),
            allocator_bytes_in_use=chooser.choice((0, 5, chooser.randrange(1 << 40))),
        )
        for _ in range(chooser.choice((0, 1, 3))):
            used.allocation_records.add(
                alloc_micros=chooser.randrange(1 << 50), alloc_bytes=chooser.randrange(-99, 99)
            )
    for slot in range(chooser.choice((0, 0, 1, 3))):
        described = made.output.add(slot=chooser.choice((slot, 0, -1))).tensor_description
        described.allocation_description.allocated_bytes = chooser.randrange(1 << 35)
        described.allocation_description.requested_bytes = chooser.randrange(1 << 35)
        described.allocation_description.ptr = chooser.randrange(1 << 64)
    if chooser.random() < 0.3:
        made.memory_stats.temp_memory_size = chooser.randrange(1 << 20)
        made.memory_stats.persistent_memory_size = chooser.randrange(1 << 20)


def ours(session: Session) -> tfprof.Profiler:
    profiler = tfprof.Profiler(session.graph, session.op_log or None, classic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tfprof.TfprofWarning)
        for action in session.actions:
            assert isinstance(action, AddStep)
            profiler.add_step(action.step, action.run_meta)
    return profiler


def with_texts(saved: bytes) -> pb.ProfileProto:
    """A saved profile whose string ids are 1, 2, … in order of first use; unused ones are gone."""
    profile = pb.ProfileProto.FromString(saved)
    ids: dict[str, int] = {}
    for _, node in sorted(profile.nodes.items()):
        for trace in node.trace.traces:
            for name in ("file_id", "function_id", "line_id"):
                old = getattr(trace, name)
                text = profile.id_to_string[old] if old or name != "line_id" else ""
                no_line = name == "line_id" and not text
                setattr(trace, name, 0 if no_line else ids.setdefault(text, len(ids) + 1))
    profile.ClearField("id_to_string")
    for text, string_id in ids.items():
        profile.id_to_string[string_id] = text
    return profile


def profile_difference(ours: pb.ProfileProto, theirs: pb.ProfileProto) -> str:
    """The first field in which two saved profiles differ, or an empty text."""
    if sorted(ours.nodes) != sorted(theirs.nodes):
        return f"nodes {sorted(ours.nodes)}, TF {sorted(theirs.nodes)}"
    for node_id, node in sorted(theirs.nodes.items()):
        for field in node.DESCRIPTOR.fields:
            our, their = getattr(ours.nodes[node_id], field.name), getattr(node, field.name)
            if our != their:
                return f"node {node_id} ({node.name!r}), {field.name}: {our}, TF {their}"
    return "" if ours == theirs else "the profiles differ outside of the nodes"


def plain(text: str) -> str:
    """A report; the original forgets the notice of missing streams when it loads."""
    return canonical(text).replace("<notice>", "")


def our_answers(profiler: tfprof.Profiler, queries: Sequence[Query]) -> list[tuple[Any, str]]:
    answers = []
    for query in queries:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
            warnings.simplefilter("ignore", tfprof.TfprofWarning)
            proto = getattr(profiler, METHODS[query.view])(query.options)
        answers.append((proto, plain(out.getvalue())))
    return answers


def their_answers(
    engine: Engine, script: Sequence[Item], queries: Sequence[Query]
) -> list[tuple[Any, str]]:
    asked: list[Item] = [("profile", query.view, query.options_bytes()) for query in queries]
    answers = engine.run([*script, *asked])
    assert not any(answer.crashed for answer in answers)
    return [
        (result_class(query.view).FromString(answer.value), plain(answer.stdout.decode()))
        for query, answer in zip(queries, answers[len(script) :], strict=True)
    ]


def differences(
    ours: Sequence[tuple[Any, str]], theirs: Sequence[tuple[Any, str]], queries: Sequence[Query]
) -> list[str]:
    return [
        f"{query.view}: {proto_difference(our[0], their[0], '') or (our[1], their[1])}"
        for query, our, their in zip(queries, ours, theirs, strict=True)
        if our != their
    ]


def to_stdout(session: Session) -> list[Query]:
    return [
        Query(query.view, {**query.options, "output": "stdout", "dump_to_file": ""})
        for query in session.queries
    ]


def serialized(answer: Answer) -> bytes:
    assert not answer.crashed
    assert not answer.error
    assert isinstance(answer.value, bytes)
    return answer.value


def check_both_directions(
    engine: Engine, session: Session, queries: Sequence[Query], tmp_path: Path
) -> pb.ProfileProto:
    """Ours equals theirs, each reads the other's, and views are what they were."""
    script = session.script()
    profiler = ours(session)
    our_bytes = profiler.serialize_to_string()
    their_bytes = serialized(engine.run([*script, ("serialize",)])[-1])
    their_proto = with_texts(their_bytes)
    assert not profile_difference(with_texts(our_bytes), their_proto), session.name

    file = tmp_path / "profile"
    file.write_bytes(our_bytes)
    before = their_answers(engine, script, queries)
    loaded = their_answers(engine, [("from_file", str(file))], queries)
    assert not differences(loaded, before, queries), session.name

    again = tfprof.Profiler.load(their_bytes, classic=True)
    found = differences(our_answers(again, queries), our_answers(profiler, queries), queries)
    assert not found, session.name

    file.write_bytes(their_bytes)
    resaved = serialized(engine.run([("from_file", str(file)), ("serialize",)])[-1])
    our_resaved = with_texts(again.serialize_to_string())
    assert not profile_difference(our_resaved, with_texts(resaved)), session.name
    return their_proto


@pytest.mark.tensorflow
@pytest.mark.oracle
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_profiles_equal_tensorflows(engine: Engine, batch: int, tmp_path: Path) -> None:
    memory = allocations = traces = 0
    for seed in range(batch * SESSIONS_PER_BATCH, (batch + 1) * SESSIONS_PER_BATCH):
        session = random_session(seed)
        fed = with_memory(feeding(session), seed) if seed % 2 else feeding(session)
        proto = check_both_directions(engine, fed, to_stdout(session), tmp_path)
        for node in proto.nodes.values():
            traces += len(node.trace.traces)
            for record in node.execs.values():
                memory += len(record.memory_execs)
                allocations += len(record.allocations)
    assert min(memory, allocations, traces) > SESSIONS_PER_BATCH


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", models.NAMES)
def test_profiles_of_real_models_equal_tensorflows(
    engine: Engine, name: str, real_model: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    session = brief_session(name, real_model(name))
    check_both_directions(engine, feeding(session), to_stdout(session), tmp_path)


@pytest.mark.tensorflow
def test_tensorflow_reads_what_only_our_files_say(engine: Engine, tmp_path: Path) -> None:
    """Output indices, control inputs, inputs from nowhere, and the type of a run-time op."""
    profiler = tfprof.Profiler(
        graph(
            op("s", "Split", outputs=[[4], [5, 6]]),
            op("a", "Add", "s:1", "^s", "nowhere", "s:1", outputs=[[7]]),
            op("b", "Mul", "a", "^a"),
        )
    )
    profiler.add_step(0, run({"a": 3, "_arg": stat(2, label="_arg = _Arg()")}))
    path = tmp_path / "profile"
    profiler.save(path)
    query = Query("graph", options(output="stdout", select=["op_types", "input_shapes"]))
    ((answer, text),) = their_answers(engine, [("from_file", str(path))], [query])
    assert "_Arg" in text
    assert answer.total_definition_count == 4
    nodes = [answer]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        if node.name == "a":
            assert [dim.size for dim in node.input_shapes[0].dim] == [5, 6]
            break
    else:
        pytest.fail("a is not shown")
