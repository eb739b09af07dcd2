"""Single executions survive being saved, and have to agree with the rest of the profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS, graph, op, options, run_on, stat

NODES = graph(op("a", "MatMul"), op("b", "Relu", "a"))


def fine(micros: int, start: int, nanos: int) -> pb.NodeExecStats:
    made = stat(micros, start=start)
    made.all_start_nanos, made.op_end_rel_nanos = start * 1000 + nanos, micros * 1000 + nanos
    return made


def full_profiler(*, classic: bool = False) -> tfprof.Profiler:
    """Two steps with everything that the nodes of the format have no place for."""
    on_cpu = fine(7, 100, 3)
    on_cpu.memory.add(allocator_name="cpu", allocator_bytes_in_use=500)
    on_cpu.memory[0].allocation_records.add(alloc_micros=101, alloc_bytes=30)
    profiler = tfprof.Profiler(NODES, classic=classic)
    profiler.add_step(
        4,
        run_on(
            {
                CPU: {"a": on_cpu},
                GPU: {"b": fine(2, 110, 1)},
                GPU_STREAMS: {"b": fine(9, 115, 2)},
                "/device:GPU:0/stream:7": {"b": fine(9, 115, 2)},
                "/device:GPU:0/memcpy": {"MEMCPYHtoD": fine(3, 112, 5)},
            }
        ),
    )
    profiler.add_step(-1, run_on({CPU: [("a", stat(1, start=9)), ("a", stat(0, start=5))]}))
    return profiler


def timeline(profiler: tfprof.Profiler) -> bytes:
    chosen = options(output="timeline:steps=all,outfile=x")
    (file,) = profiler.output_files("graph", chosen)
    return b"".join(file.chunks)


def test_the_timeline_of_a_loaded_profile_is_that_of_the_original() -> None:
    profiler = full_profiler()
    loaded = tfprof.load(profiler.serialize_to_string())
    assert timeline(loaded) == timeline(profiler)
    assert b"MEMCPYHtoD" in timeline(loaded)
    assert loaded.serialize_to_string() == profiler.serialize_to_string()


def test_more_steps_may_follow() -> None:
    profiler, loaded = full_profiler(), tfprof.load(full_profiler().serialize_to_string())
    for each in (profiler, loaded):
        each.add_step(4, run_on({CPU: {"a": fine(1, 200, 0)}, "/device:GPU:1": {"new": 3}}))
    assert timeline(loaded) == timeline(profiler)


def test_classic_mode_writes_and_reads_what_tensorflow_does() -> None:
    data = full_profiler().serialize_to_string()
    own = pb.ProfileProtoOwn.FromString(data)
    assert [saved.step for saved in own.step_details] == [-1, 4]
    without = full_profiler(classic=True).serialize_to_string()
    assert not pb.ProfileProtoOwn.FromString(without).step_details
    assert tfprof.load(data, classic=True).serialize_to_string() == (
        tfprof.load(without, classic=True).serialize_to_string()
    )


def damaged(change: Callable[[Any], None]) -> bytes:
    data = full_profiler().serialize_to_string()
    message = pb.ProfileProto.FromString(data)
    message.DiscardUnknownFields()
    own = pb.ProfileProtoOwn.FromString(data)
    own.DiscardUnknownFields()
    change(own)
    return bytes(own.SerializeToString() + message.SerializeToString())


def column(own: Any, place: int) -> Any:
    return own.step_details[1].executions.columns[place].values


def set_first(place: int, value: int) -> Callable[[Any], None]:
    def change(own: Any) -> None:
        column(own, place)[0] = value

    return change


def drop_last_value(own: Any) -> None:
    del column(own, 3)[-1]


def drop_last_column(own: Any) -> None:
    del own.step_details[0].allocator_levels.columns[-1]


def move_to_another_step(own: Any) -> None:
    own.step_details[1].step = 5


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_first(0, 2), "step 4: a single execution names an unknown op"),
        (set_first(0, -2), "step 4: a single execution names an unknown op"),
        (set_first(1, 99), "step 4: a single execution names an unknown name"),
        (set_first(2, 1 << 62), "step 4: a single execution names an unknown device"),
        (set_first(3, 7), "step 4: a single execution is of an unknown kind"),
        (set_first(5, 8), "step 4: its single executions do not add up to the times of its nodes"),
        (set_first(0, 1), "step 4: its single executions do not add up to the times of its nodes"),
        (drop_last_value, "step 4: the columns of its single executions have different lengths"),
        (drop_last_column, "step -1: the columns of its single executions have different lengths"),
        (move_to_another_step, "step 5: it has single executions, but no node has run in it"),
    ],
)
def test_what_contradicts_the_nodes_is_refused_or_left_out(
    change: Callable[[Any], None], problem: str
) -> None:
    data = damaged(change)
    with pytest.raises(tfprof.MalformedProfileError) as caught:
        tfprof.load(data)
    assert problem in str(caught.value)
    recovered = tfprof.load(data, recover=True)
    assert [notice.code for notice in recovered.notices] == ["damaged-executions"]
    assert recovered.steps == [-1, 4]
    assert recovered.view("op").total_exec_micros == full_profiler().view("op").total_exec_micros


def test_bytes_that_are_not_messages_are_refused_or_left_out() -> None:
    plain = full_profiler(classic=True).serialize_to_string()
    broken = b"\xca\x3e\x01\x08" + plain  # field 1001: a tag without a number
    with pytest.raises(tfprof.MalformedProfileError, match="single executions are unreadable"):
        tfprof.load(broken)
    recovered = tfprof.load(broken, recover=True)
    assert recovered.steps == [-1, 4]
    assert [notice.code for notice in recovered.notices] == ["damaged-executions"]


def test_files_put_one_behind_the_other_are_read_by_their_nodes_and_say_so() -> None:
    data = full_profiler().serialize_to_string()
    loaded = tfprof.load(data + data)  # to protobuf, one message with every field twice
    assert [notice.code for notice in loaded.notices] == ["damaged-executions"]
    assert loaded.view("op").total_exec_micros == full_profiler().view("op").total_exec_micros
