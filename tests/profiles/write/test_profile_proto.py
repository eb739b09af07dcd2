"""Saved profiles, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.profiles.write import profile_proto
from tfprof.testing.builders import (
    CPU,
    GPU,
    GPU_STREAMS,
    graph,
    op,
    op_log,
    run,
    run_on,
    stat,
    traced,
)


def saved(profiler: tfprof.Profiler, **arguments: Any) -> pb.ProfileProto:
    """The message for TensorFlow: without tfprof's own fields."""
    message = pb.ProfileProto.FromString(profiler.serialize_to_string(**arguments))
    message.DiscardUnknownFields()
    return message


def text_proto(text: str) -> pb.ProfileProto:
    return text_format.Parse(text, pb.ProfileProto(), descriptor_pool=pb.private_pool())


def constant(name: str, value: int) -> pb.NodeDef:
    node = op(name, "Const", outputs=[[]], dtype=3)
    node.attr["value"].tensor.int_val.append(value)
    return node


def test_a_profile_is_saved_field_by_field() -> None:
    log = op_log(traced("mm", "train.py:3:main", "net.py:7:dense", float_ops=48, types=["mine"]))
    profiler = tfprof.Profiler(
        graph(
            op("w", "VariableV2", shape=[2, 3], outputs=[[]]),
            op("mm", "MatMul", "w", "w", outputs=[[4, -1], "?"]),
        ),
        log,
    )
    made = stat(7, start=100, memory=(64, 32, 16), temporary=5, persistent=3, outputs=(9,))
    made.output[0].tensor_description.allocation_description.ptr = (1 << 64) - 1
    made.memory.add(allocator_name="GPU_0_bfc", allocator_bytes_in_use=77)
    made.memory[1].allocation_records.add(alloc_micros=101, alloc_bytes=-8)
    profiler.add_step(
        2, run_on({GPU: {"mm": made}, GPU_STREAMS: [("mm", stat(20, start=90)), ("mm", stat(0))]})
    )
    device = GPU.lower()
    assert saved(profiler) == text_proto(f"""
      nodes {{ key: 0 value {{
        name: "w" op: "VariableV2" op_types: "VariableV2" shape: [2, 3]
        attrs {{ key: "shape" value {{ shape {{ dim {{ size: 2 }} dim {{ size: 3 }} }} }} }}
        attrs {{ key: "_output_shapes" value {{ list {{ shape {{}} }} }} }}
        output_shapes {{ key: 0 value {{ int64_values: 1 }} }}
      }} }}
      nodes {{ key: 1 value {{
        id: 1 name: "mm" op: "MatMul" float_ops: 48
        op_types: ["{device}", "MatMul", "mine"]
        canonical_device: "{device}"
        host_device: "/job:localhost/replica:0/task:0/device:cpu:0"
        inputs {{ key: 0 value: 0 }} inputs {{ key: 1 value: 0 }}
        src_output_index {{ key: 0 value: 0 }}
        output_shapes {{ key: 0 value {{ int64_values: [4, -1] }} }}
        output_shapes {{ key: 1 value {{}} }}
        attrs {{ key: "_output_shapes" value {{ list {{
          shape {{ dim {{ size: 4 }} dim {{ size: -1 }} }} shape {{ unknown_rank: true }}
        }} }} }}
        trace {{
          traces {{ lineno: 3 file_id: 1 function_id: 2 }}
          traces {{ lineno: 7 file_id: 3 function_id: 4 }}
        }}
        execs {{ key: 2 value {{
          run_count: 1 all_start_micros: 90 latest_end_micros: 1001
          accelerator_execs {{ key: "{GPU_STREAMS.lower()}" value {{
            times {{ int64_values: [90, 20] }} times {{ int64_values: [1000, 1] }}
          }} }}
          cpu_execs {{ key: "{device}" value {{ times {{ int64_values: [100, 7] }} }} }}
          devices: ["{GPU_STREAMS.lower()}", "{device}"]
          memory_execs {{
            memory_micros: 107 requested_bytes: 72 peak_bytes: 40 residual_bytes: 19
            accelerator_temp_bytes: 5 accelerator_persistent_bytes: 3 output_bytes: 9
            allocator_bytes_in_use: 77
            output_memory {{ key: 0 value {{ bytes: 9 ptr: 18446744073709551615 }} }}
          }}
          allocations {{ alloc_micros: 101 alloc_bytes: -8 }}
        }} }}
      }} }}
      has_trace: true steps: 2
      id_to_string {{ key: 0 value: "none" }}
      id_to_string {{ key: 1 value: "train.py" }} id_to_string {{ key: 2 value: "main" }}
      id_to_string {{ key: 3 value: "net.py" }} id_to_string {{ key: 4 value: "dense" }}
    """)


def test_negative_steps_and_steps_without_stats_are_saved() -> None:
    profiler = tfprof.Profiler(graph(op("a")))
    profiler.add_step(5, run())
    profiler.add_step(-3, run({"a": 1}))
    message = saved(profiler)
    assert message.steps == [-3, 5]
    assert list(message.nodes[0].execs) == [-3]


def test_a_gpu_without_stream_stats_is_remembered() -> None:
    profiler = tfprof.Profiler(graph(op("a")))
    profiler.add_step(0, run({"a": 1}, GPU))
    assert saved(profiler).miss_accelerator_stream


def test_constants_can_be_left_out() -> None:
    tensors = op("tensors")
    tensors.attr["defaults"].list.tensor.add(dtype=1)
    tensors.attr["rate"].f = 0.5
    profiler = tfprof.Profiler(graph(constant("c", 7), tensors, op("e")))
    with_all, without = saved(profiler), saved(profiler, constants=False)
    assert with_all.nodes[0].attrs["value"].tensor.int_val == [7]
    assert sorted(with_all.nodes[1].attrs) == ["defaults", "rate"]
    assert sorted(without.nodes[0].attrs) == ["_output_shapes", "dtype"]
    assert list(without.nodes[1].attrs) == ["rate"]
    del with_all.nodes[0].attrs["value"], with_all.nodes[1].attrs["defaults"]
    assert without == with_all


def test_attributes_are_found_however_the_node_was_written() -> None:
    node = op("n", "X", outputs=[[2]], strides=[1, 2])
    constant_attr = constant("c", 1).attr["value"]
    node.attr["value"].CopyFrom(constant_attr)
    pieces = [pb.NodeDef(name="n"), pb.NodeDef(op="X")]
    attrs = [pb.NodeDef(attr={name: value}) for name, value in node.attr.items()]
    mixed = b"".join(
        part.SerializeToString() for part in (attrs[0], pieces[0], *attrs[1:], pieces[1])
    )
    padded = b"\x0a" + bytes([len(mixed) + 2]) + mixed + b"\x78\x01"  # and an unknown field
    fixed = b"\x0a" + bytes([len(mixed) + 5]) + mixed + b"\x7d\x01\x02\x03\x04"
    for data in (padded, fixed):
        profiler = tfprof.Profiler(data)
        assert saved(profiler).nodes[0].attrs == node.attr
        assert sorted(saved(profiler, constants=False).nodes[0].attrs) == [
            "_output_shapes",
            "strides",
        ]


def test_the_first_definition_of_a_name_gives_the_attributes() -> None:
    profiler = tfprof.Profiler(graph(op("a", "X", n=1), op("b"), op("a", "Y", n=2)))
    message = saved(profiler)
    assert [node.name for _, node in sorted(message.nodes.items())] == ["a", "b"]
    assert message.nodes[0].attrs["n"].i == 1


def test_the_output_that_is_read_is_saved_by_source() -> None:
    nodes = graph(op("s", "Split"), op("t"), op("u", "Add", "s:2", "^t", "^s"))
    sources = saved(tfprof.Profiler(nodes)).nodes[2].src_output_index
    assert dict(sources) == {0: 2, 1: -1}
    classic = saved(tfprof.Profiler(nodes, classic=True)).nodes[2].src_output_index
    assert dict(classic) == {0: 0, 1: 0}


def test_inputs_that_are_in_no_graph_are_left_out() -> None:
    message = saved(tfprof.Profiler(graph(op("b", "Add", "missing", "a", "^gone"), op("a"))))
    assert dict(message.nodes[0].inputs) == {1: 1}


def test_an_op_seen_only_at_run_time_has_its_name_as_op_and_the_type_of_its_label() -> None:
    labelled = run({"_arg_x": stat(3, label="_arg_x = _Arg()")})
    types = {}
    for classic in (False, True):
        profiler = tfprof.Profiler(graph(op("a")), classic=classic)
        profiler.add_step(0, labelled)
        node = saved(profiler).nodes[1]
        assert (node.name, node.op) == ("_arg_x", "_arg_x")
        types[classic] = list(node.op_types)
    assert types == {False: [CPU.lower(), "_Arg"], True: [CPU.lower(), "_arg_x"]}


def test_equal_profiles_give_equal_bytes() -> None:
    def made(*attrs: str) -> bytes:
        node = op("a", **dict.fromkeys(attrs, 1))
        profiler = tfprof.Profiler(graph(node))
        profiler.add_step(0, run({"a": 1}))
        return profiler.serialize_to_string()

    assert made("x", "y", "z") == made("z", "y", "x")


def test_save_writes_the_file_and_overwrites_one(tmp_path: Path) -> None:
    profiler = tfprof.Profiler(graph(constant("c", 7)))
    path = tmp_path / "profile"
    profiler.save(path)
    assert path.read_bytes() == profiler.serialize_to_string()
    profiler.save(str(path), constants=False)
    assert path.read_bytes() == profiler.serialize_to_string(constants=False)
    profiler._write_profile(str(path))
    assert path.read_bytes() == profiler.serialize_to_string()


def test_a_file_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    profiler = tfprof.Profiler(graph(op("a")))
    path = str(tmp_path / "missing" / "profile")
    with pytest.raises(tfprof.InputError, match=r"missing.profile: cannot be written"):
        profiler.save(path)
    with pytest.raises(tfprof.InputError, match="cannot be written"):
        profiler._write_profile(path)
    classic = tfprof.Profiler(graph(op("a")), classic=True)
    with pytest.warns(tfprof.TfprofWarning, match="cannot be written"):
        classic._write_profile(path)


def test_a_profile_beyond_2_gib_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profiler = tfprof.Profiler(graph(op("a"), op("b")))
    monkeypatch.setattr(profile_proto, "_LARGEST", 30)
    with pytest.raises(tfprof.UsageError, match="constants=False"):
        profiler.save(tmp_path / "profile")
    assert list(tmp_path.iterdir()) == []


def test_nodes_are_written_in_groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    profiler = tfprof.Profiler(graph(*(op(f"n{i}") for i in range(9))))
    whole = profiler.serialize_to_string()
    monkeypatch.setattr(profile_proto, "_PIECES_PER_GROUP", 20)
    profiler.save(tmp_path / "profile")
    assert (tmp_path / "profile").read_bytes() == whole
