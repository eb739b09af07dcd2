"""Saved profiles, read again: nothing is lost, and nothing crashes."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.core.wire.varints import encode_varint, length_delimited
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    op,
    op_log,
    options,
    run,
    run_on,
    stat,
    traced,
)

pytestmark = pytest.mark.slow

VIEWS = ("scope", "graph", "op", "code")


def full_profiler(*, classic: bool = False) -> tfprof.Profiler:
    """A profiler with something of everything."""
    profiler = tfprof.Profiler(
        graph(
            op("w", "VariableV2", shape=[2, 3], outputs=[[]]),
            op("s", "Split", "w", outputs=[[4], "?", [1]], strides=[1, 2]),
            op("net/mm", "MatMul", "s:2", "w", "^s", outputs=[[4, -1]], transpose_a=True),
            op("net/odd", "Add", "missing", "net/mm", shape=[]),
        ),
        op_log(
            traced("net/mm", "train.py:3:main", "net.py:7:dense", float_ops=48, types=["mine"]),
            traced("w", "train.py:3:main", types=["_trainable_variables"]),
            traced("s"),
        ),
        classic=classic,
    )
    made = stat(7, start=100, memory=(64, 32, 16), temporary=5, outputs=(9, 5))
    made.memory.add(allocator_name="GPU_0_bfc", allocator_bytes_in_use=77)
    made.memory[1].allocation_records.add(alloc_micros=101, alloc_bytes=-8)
    profiler.add_step(2, run_on({GPU: {"net/mm": made, "_arg_x": stat(2, label="x = _Arg()")}}))
    profiler.add_step(
        -1,
        run_on(
            {
                GPU_STREAMS: [("net/mm", stat(20, start=90)), ("net/mm", stat(0))],
                GPU: {"net/mm": stat(3)},
                "/device:GPU:0/stream:16": {"net/mm": stat(20)},
                CPU: {"s": stat(5, start=0), "net/odd": stat(4)},
            }
        ),
    )
    profiler.add_step(7, run())
    return profiler


def load(message: pb.ProfileProto, **arguments: Any) -> tfprof.Profiler:
    return tfprof.load(message.SerializeToString(), **arguments)


def text_proto(text: str) -> pb.ProfileProto:
    return text_format.Parse(text, pb.ProfileProto(), descriptor_pool=pb.private_pool())


def answers(profiler: tfprof.Profiler, **changes: Any) -> list[str]:
    chosen = options(**{"max_depth": 20, "select": ALL, **changes})
    reports = [profiler.report(view, chosen) for view in VIEWS]
    return [report.partition("\nProfile:\n")[2] for report in reports]


ALL = ["micros", "bytes", "params", "float_ops", "occurrence", "device", "op_types"]
ALL += ["input_shapes", "accelerator_micros", "cpu_micros", "peak_bytes", "output_bytes"]


def look_at_all_views(profiler: tfprof.Profiler) -> None:
    for view in VIEWS:
        try:
            profiler.view(view)
        except tfprof.EmptyProfileError:
            assert view == "code"


@pytest.mark.parametrize("classic", [False, True])
def test_views_of_a_loaded_profile_are_those_of_the_original(classic: bool) -> None:
    profiler = full_profiler(classic=classic)
    loaded = tfprof.load(profiler.serialize_to_string(), classic=classic)
    assert loaded.steps == [-1, 2, 7]
    for step in (-1, 2, 7):
        assert answers(loaded, step=step) == answers(profiler, step=step)


@pytest.mark.parametrize("classic", [False, True])
def test_saving_again_changes_nothing(classic: bool) -> None:
    first = full_profiler(classic=classic).serialize_to_string()
    loaded = tfprof.load(first, classic=classic)
    again = pb.ProfileProto.FromString(loaded.serialize_to_string())
    expected = pb.ProfileProto.FromString(first)
    if classic:  # the original gives all nodes a call stack, and forgets a flag
        for node in expected.nodes.values():
            node.trace.SetInParent()
        expected.miss_accelerator_stream = False
    assert again == expected
    assert loaded.serialize_to_string() == tfprof.load(first, classic=classic).serialize_to_string()


def test_a_step_can_be_added_after_loading() -> None:
    more = run({"net/mm": 11, "_retval_y": 4}, GPU)
    profiler = full_profiler()
    loaded = tfprof.load(profiler.serialize_to_string())
    profiler.add_step(9, more)
    loaded.add_step(9, more)
    assert answers(loaded, step=9)[0] == answers(profiler, step=9)[0]
    assert loaded.serialize_to_string() == profiler.serialize_to_string()


def test_coverage_survives_unless_classic() -> None:
    profiler = full_profiler()
    saved = profiler.serialize_to_string()
    assert profiler.coverage == pytest.approx(3 / 5)
    assert tfprof.load(saved).coverage == profiler.coverage
    assert tfprof.load(saved, classic=True).coverage == 0


def test_ids_may_have_gaps_and_stand_in_any_order() -> None:
    message = text_proto("""
      nodes { key: 70 value { id: 70 name: "z" op: "Z" op_types: "Z"
        inputs { key: 0 value: -5 } src_output_index { key: -5 value: 1 } } }
      nodes { key: -5 value { id: -5 name: "a" op: "A" op_types: "A"
        output_shapes { key: 0 value { int64_values: 2 } }
        output_shapes { key: 1 value { int64_values: [3, 4] } } } }
    """)
    again = pb.ProfileProto.FromString(load(message).serialize_to_string())
    assert [again.nodes[row].name for row in (0, 1)] == ["a", "z"]
    assert dict(again.nodes[1].inputs) == {0: 0}
    (shapes,) = load(message).profile_graph(options(select=["input_shapes"])).children
    assert [dim.size for dim in shapes.input_shapes[0].dim] == [3, 4]


def test_an_input_port_that_is_there_twice_is_the_last() -> None:
    message = text_proto("""
      nodes { key: 0 value { name: "a" } }
      nodes { key: 1 value { name: "b" inputs { key: 0 value: 0 } } }
    """)
    once = load(message).serialize_to_string()
    ports = b"\x72\x04\x08\x00\x10\x01" + b"\x72\x04\x08\x00\x10\x02"  # 14: {0: 1}, {0: 2}
    value = message.nodes[1].SerializeToString() + ports
    twice = length_delimited(b"\x0a", b"\x08\x01" + length_delimited(b"\x12", value))
    del message.nodes[1]
    again = tfprof.load(message.SerializeToString() + twice)
    saved = pb.ProfileProto.FromString(again.serialize_to_string())
    assert saved.nodes[1].src_output_index[0] == 2
    assert once != again.serialize_to_string()


def test_numbers_need_not_be_packed() -> None:
    shape = b"\x20\x03\x20\x05"  # shape: 3, 5, each with a tag
    node = length_delimited(b"\x0a", b"a") + length_delimited(b"\x4a", b"A") + shape
    data = length_delimited(b"\x0a", b"\x08\x01" + length_delimited(b"\x12", node))
    again = pb.ProfileProto.FromString(tfprof.load(data).serialize_to_string())
    assert list(again.nodes[0].shape) == [3, 5]


def test_the_parts_of_a_message_that_is_there_twice_are_one() -> None:
    message = text_proto("""
      nodes { key: 1 value { name: "a" op: "A"
        trace { traces { lineno: 1 } } } } id_to_string { key: 0 value: "f" }
    """)
    once = message.nodes[1].SerializeToString()
    more = pb.ProfileNode(trace=message.nodes[1].trace).SerializeToString()
    del message.nodes[1]
    value = length_delimited(b"\x12", once + more)
    data = length_delimited(b"\x0a", b"\x08\x01" + value) + message.SerializeToString()
    again = pb.ProfileProto.FromString(tfprof.load(data).serialize_to_string())
    assert len(again.nodes[0].trace.traces) == 2


def test_the_first_node_of_a_name_wins_also_for_inputs() -> None:
    message = text_proto("""
      nodes { key: 1 value { name: "a" op: "A" float_ops: 1 execs { key: 0 value {} } } }
      nodes { key: 2 value { name: "a" op: "B" float_ops: 2 execs { key: 0 value { run_count: 5 } }
        attrs { key: "x" value { i: 1 } } } }
      nodes { key: 3 value { name: "c" op: "C" inputs { key: 0 value: 2 } } }
    """)
    again = pb.ProfileProto.FromString(load(message).serialize_to_string())
    assert [(node.name, node.op) for _, node in sorted(again.nodes.items())] == [
        ("a", "A"),
        ("c", "C"),
    ]
    assert dict(again.nodes[1].inputs) == {0: 0}
    assert again.nodes[0].execs[0].run_count == 0
    assert not again.nodes[0].attrs


@pytest.mark.parametrize("suffix", ["", ".gz", ".txt"])
def test_files_of_any_form_are_read(tmp_path: Path, suffix: str) -> None:
    saved = full_profiler().serialize_to_string()
    path = tmp_path / f"profile{suffix}"
    if suffix == ".txt":
        message = pb.ProfileProto.FromString(saved)
        message.DiscardUnknownFields()  # text has no place for what is not in TensorFlow's schema
        path.write_text(str(message), "utf-8")
        saved = load(message).serialize_to_string()
    else:
        path.write_bytes(gzip.compress(saved) if suffix else saved)
    assert tfprof.load(path).serialize_to_string() == saved
    assert tfprof.Profiler.load(str(path)).steps == [-1, 2, 7]


@pytest.mark.tensorflow
def test_tensorflows_message_is_read() -> None:
    ProfileProto = pytest.importorskip("tensorflow.core.profiler.tfprof_log_pb2").ProfileProto

    saved = full_profiler().serialize_to_string()
    assert tfprof.load(ProfileProto.FromString(saved)).serialize_to_string() == saved


def test_an_empty_profile_is_one() -> None:
    assert tfprof.load(b"").steps == []
    assert tfprof.load(tfprof.Profiler(graph()).serialize_to_string()).coverage == 0


def test_other_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tfprof.UsageError, match="profile must be a ProfileProto"):
        tfprof.load(3)  # type: ignore[arg-type]
    with pytest.raises(tfprof.UnknownFormatError, match="ProfileProto"):
        tfprof.load(run({"a": 1}).SerializeToString())
    with pytest.raises(tfprof.InputError, match="cannot be read"):
        tfprof.load(tmp_path / "none")


def test_an_op_that_runs_a_thousand_times_is_read() -> None:
    profiler = tfprof.Profiler(graph(op("loop"), op("b", "Add", *["loop"] * 1500)))
    profiler.add_step(0, run([("loop", stat(3, start=n + 1)) for n in range(3000)]))
    saved = profiler.serialize_to_string()
    assert tfprof.load(saved).serialize_to_string() == saved
    assert tfprof.load(saved).profile_name_scope(options()).total_exec_micros == 9000


def test_negative_durations_count_as_0_unless_classic() -> None:
    profiler = tfprof.Profiler(graph(op("a")), classic=True)
    profiler.add_step(0, run([("a", stat(-5)), ("a", stat(7))]))
    saved = profiler.serialize_to_string()
    totals = {}
    for classic in (False, True):
        loaded = tfprof.load(saved, classic=classic)
        totals[classic] = loaded.view("scope", options()).total_exec_micros
    assert totals == {False: 7, True: 2}
    assert [notice.code for notice in tfprof.load(saved).notices] == ["negative-duration"]


NODE = 'nodes { key: 12 value { name: "a/b" op: "A" %s } } id_to_string { key: 1 value: "f" }'
TRACE = 'nodes { key: 4 value { name: "c" trace { traces { file_id: 1 function_id: 1 } } } }'
DAMAGE = {
    "inputs { key: 3 value: 99 }": (
        r"node 12 \('a/b'\): inputs\[3\] names node 99, which is not there",
        "unknown-input",
    ),
    "src_output_index { key: 98 value: 1 }": (
        r"node 12 \('a/b'\): src_output_index names node 98",
        "unknown-input",
    ),
    "inputs { key: -1 value: 12 }": ("impossible input index -1", "impossible-input"),
    "inputs { key: 2000000000 value: 12 }": ("index 2000000000", "impossible-input"),
    'execs { key: 3 value { cpu_execs { key: "/cpu:0" value { times { int64_values: 7 } } } } }': (
        "node 'a/b', step 3: a time without start or duration",
        "incomplete-time",
    ),
    'execs { key: 3 value { accelerator_execs { key: "s" value { times {} } } } }': (
        "node 'a/b', step 3",
        "incomplete-time",
    ),
    "trace { traces { file_id: 1 function_id: 55 } }": (
        r"node 12 \('a/b'\): trace names string 55",
        "unknown-trace-string",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_or_recovered_with_a_notice(damage: str) -> None:
    message = text_proto(NODE % damage + TRACE)
    expected, code = DAMAGE[damage]
    with pytest.raises(tfprof.MalformedProfileError, match=expected) as caught:
        load(message)
    assert "recover=True" in str(caught.value)
    loaded = load(message, recover=True)
    assert code in [notice.code for notice in loaded.notices]
    look_at_all_views(loaded)
    tfprof.load(loaded.serialize_to_string())


def test_times_that_are_left_have_their_place_after_recovery() -> None:
    message = text_proto(
        NODE % 'execs { key: 3 value { cpu_execs { key: "/cpu:0" value {'
        "times { int64_values: 7 } times { int64_values: [5, 6, 9] } } } } }"
    )
    loaded = load(message, recover=True)
    assert loaded.view("scope", options()).total_exec_micros == 6


@pytest.mark.thorough
def test_a_profile_that_is_cut_off_anywhere_is_refused_or_recovered() -> None:
    whole = full_profiler().serialize_to_string()
    most = 0
    for size in range(1, len(whole), 3):
        classic = size % 2 == 0  # which changes what is made of that, not what is read
        try:
            tfprof.load(whole[:size], classic=classic)
        except tfprof.MalformedProfileError as error:
            assert "profile: " in str(error)
        loaded = tfprof.load(whole[:size], classic=classic, recover=True)
        nodes = len(pb.ProfileProto.FromString(loaded.serialize_to_string()).nodes)
        assert nodes >= most
        most = nodes
        if size > len(whole) // 2:
            assert loaded.steps == [-1, 2, 7]
    assert most == 4


def test_recovery_says_what_is_lost() -> None:
    whole = full_profiler().serialize_to_string()
    loaded = tfprof.load(whole[:-40], recover=True)
    assert [notice.code for notice in loaded.notices] == ["truncated-profile"]
    broken = whole.replace(b"net/odd", b"net/\xff\xff\xff")
    with pytest.raises(tfprof.MalformedProfileError, match="UTF-8"):
        tfprof.load(broken)
    loaded = tfprof.load(broken, recover=True)
    assert [notice.code for notice in loaded.notices] == ["damaged-node"]
    assert tfprof.load(whole, recover=True).notices == tfprof.load(whole).notices


WHOLE = {classic: full_profiler(classic=classic).serialize_to_string() for classic in (False, True)}
PLACES = st.integers(0, len(WHOLE[True]) - 2)
MUTATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), PLACES, st.integers(0, 255)),
        st.tuples(st.just("cut"), PLACES, st.integers(1, 30)),
        st.tuples(st.just("copy"), PLACES, st.integers(1, 60)),
    ),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, mutations: list[tuple[str, int, int]]) -> bytes:
    for kind, place, value in mutations:
        if kind == "set":
            data = data[:place] + bytes([value]) + data[place + 1 :]
        elif kind == "cut":
            data = data[:place] + data[place + value :]
        else:
            data = data[:place] + data[place : place + value] + data[place:]
    return data


@pytest.mark.thorough
@settings(deadline=None, max_examples=300)
@given(mutations=MUTATIONS, classic=st.booleans(), recover=st.booleans())
def test_broken_bytes_are_refused_or_usable(
    mutations: list[tuple[str, int, int]], classic: bool, recover: bool
) -> None:
    data = mutated(WHOLE[classic], mutations)
    try:
        loaded = tfprof.load(data, classic=classic, recover=recover)
    except tfprof.InputError:
        return
    look_at_all_views(loaded)
    try:
        again = loaded.serialize_to_string()
    except tfprof.MalformedProfileError:  # of attributes that only saving looks at
        assert not recover
        return
    twice = tfprof.load(again, classic=classic).serialize_to_string()
    assert pb.ProfileProto.FromString(twice) == pb.ProfileProto.FromString(again)
    loaded.add_step(3, run({"net/mm": 1, "w": 2}))
    loaded.view("scope")


@settings(deadline=None, max_examples=100)
@given(
    data=st.binary(max_size=60),
    frame=st.sampled_from([b"%b", b"\x0a\x08\x08\x01\x12\x04%b"]),
    recover=st.booleans(),
)
def test_any_bytes_are_refused_or_usable(data: bytes, frame: bytes, recover: bool) -> None:
    try:
        loaded = tfprof.load(frame % data, recover=recover)
    except tfprof.InputError:
        return
    tfprof.load(loaded.serialize_to_string())


@settings(deadline=None, max_examples=50)
@given(shuffled=st.randoms(use_true_random=False))
def test_the_order_of_the_bytes_does_not_matter(shuffled: random.Random) -> None:
    whole = pb.ProfileProto.FromString(WHOLE[False])
    pieces = []
    for node_id, node in whole.nodes.items():
        fields = [part.SerializeToString() for part in split(node)]
        shuffled.shuffle(fields)
        value = length_delimited(b"\x12", b"".join(fields))
        pieces.append(length_delimited(b"\x0a", b"\x08" + encode_varint(node_id) + value))
    whole.ClearField("nodes")
    pieces.append(whole.SerializeToString())
    shuffled.shuffle(pieces)
    assert tfprof.load(b"".join(pieces)).serialize_to_string() == WHOLE[False]


def split(node: pb.ProfileNode) -> Iterator[pb.ProfileNode]:
    """A node in parts: each field, and each entry of a map, by itself; our own fields together."""
    own = pb.ProfileNode()
    own.MergeFrom(node)
    for field in own.DESCRIPTOR.fields:
        own.ClearField(field.name)
    yield own
    for field, value in node.ListFields():
        if field.name in ("attrs", "inputs", "src_output_index", "output_shapes", "execs"):
            for key in value:
                part = pb.ProfileNode()
                if field.name in ("inputs", "src_output_index"):
                    getattr(part, field.name)[key] = value[key]
                else:
                    getattr(part, field.name)[key].CopyFrom(value[key])
                yield part
            continue
        part = pb.ProfileNode()
        part.MergeFrom(node)
        for other in part.DESCRIPTOR.fields:
            if other.name != field.name:
                part.ClearField(other.name)
        part.DiscardUnknownFields()
        yield part


def test_executions_of_no_op_cover_none_after_loading() -> None:
    profiler = tfprof.Profiler(graph(op("a"), op("never")))
    for step in (1, 2):
        profiler.add_step(step, run({"a": 5, "_SOURCE": 3}))
    assert profiler.coverage == pytest.approx(1 / 2)
    assert tfprof.load(profiler.serialize_to_string()).coverage == profiler.coverage


def test_executions_of_no_op_in_a_profile_without_ops() -> None:
    profiler = tfprof.Profiler(graph())
    profiler.add_step(1, run({"_SOURCE": 3}))
    assert tfprof.load(profiler.serialize_to_string()).coverage == 0
