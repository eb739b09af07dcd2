"""Hostile inputs of at most 1 MB: each is answered soon, or an error of ours.

Where time grew with the square, the inputs are so large that it would be many times the limit,
which itself is many times what they take.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfprof
from tests import hlo_programs
from tests.cpu_budget import soon
from tests.graphs.interpreter.programs import analyse
from tfprof.captures.events.ops.gpu_kernels import uses_tensor_cores
from tfprof.captures.events.timeline.layers import layers_of, rows_of
from tfprof.captures.hlo.cost import costs_of
from tfprof.captures.trace.lanes import Lanes
from tfprof.core.columns.frames_of_rows import column_of
from tfprof.core.columns.numerals import LARGEST, whole_number
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.sniff import Format, sniff
from tfprof.files.speedscope import stacks_of_speedscope
from tfprof.graphs.costs.scope_sums import call_scope, scope_sums
from tfprof.graphs.interpreter.sizes import Names, function_label
from tfprof.graphs.read.program import read_program
from tfprof.profiles.read.oplog import read_op_log
from tfprof.testing.builders import graph, op, op_log, options, run, run_on, stat
from tfprof.testing.xspace_builders import event, gpu, host, line, plane, xspace
from tfprof.tools import hlo_stats, kernel_stats, open_run, overview, pod, roofline
from tfprof.ui.pages.trace.details import source_of
from tfprof.views.show.drawing.files import _DOT_START

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

MANY_DIGITS = "7" * 5000


@pytest.mark.parametrize(
    "text", ["a" * 65_536, "_ab" * 20_000, "a " * 30_000, "x{" * 30_000, '"\\a' * 20_000]
)
def test_any_text_is_looked_at_once(text: str) -> None:
    with soon():
        sniff(text.encode())


def test_names_of_fields_are_found_as_before() -> None:
    text = b"junk more # node:\n \"node:\" node { name: 'a' } versions {}"
    assert sniff(text).format is Format.GRAPH_DEF


@pytest.mark.parametrize("text", ["log_entries{", "log_entries { a{", "log_entries { a<"])
def test_text_forms_that_are_nested_too_deeply(text: str) -> None:
    with pytest.raises(MalformedProfileError, match="nested too deeply"):
        read_op_log((text + text.rpartition(" ")[2] * 20_000).encode())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("entry", ['name: "\\l"', "float_ops: 9223372036854775808"])
def test_text_forms_with_values_that_are_none(entry: str) -> None:
    with pytest.raises(MalformedProfileError, match="not the text form of a OpLogProto"):
        read_op_log(f"log_entries {{ {entry} }}".encode())


def test_text_forms_with_other_values_that_are_none() -> None:
    text = b"step_stats { dev_stats { node_stats { node_name: 'x' thread_id: 795251500132053 } } }"
    with pytest.raises(MalformedProfileError, match="not the text form of a RunMetadata"):
        tfprof.Profiler(graph(op("x"))).add_step(0, text)


def kernels(details: str, name: str = "kernel") -> pb.XSpace:
    return xspace(gpu(line(event(name, 0, 10, kernel_details=details), name="Stream #1")))


@pytest.mark.parametrize("details", ["a" * 400_000, "a:" * 200_000, "é" * 200_000])
def test_details_of_kernels(details: str) -> None:
    with soon():
        kernel_stats(open_run(kernels(details)))


@pytest.mark.one_engine
@pytest.mark.parametrize("name", ["Cijk_" * 80_000, "Cijk_" + "_MI1" * 80_000 + "x"])
def test_names_of_kernels(name: str) -> None:
    with soon():
        assert not uses_tensor_cores(name)
    assert uses_tensor_cores("Cijk_Ailk_MI16x16x16x1_SN")


def on_tpu(text: str, category: str = "all-reduce") -> pb.XSpace:
    ops = line(event(text, 0, 100, hlo_category=category, program_id=3), id=3, name="XLA Ops")
    steps = line(event("1", 0, 200), id=1, name="Steps")
    tpu = plane("/device:TPU:0", steps, ops, stats={"device_type_string": "TPU v6e"})
    return xspace(host(line(event("train", 0, 200, group_id=1))), tpu)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000, "a1" * 50_000, "f32[" + "1," * 100_000, "f32[" * 50_000,
        "f32[" + "9" * 5000 + "]", f"f{MANY_DIGITS}[1]", "f32[" + "9999999999," * 20_000 + "2]",
        f"f32[8] send(), channel_id={MANY_DIGITS}", "replica_groups={" * 20_000,
        "replica_groups={" + "{0}" * 50_000,
    ],
    ids=range(10),
)  # fmt: skip
@pytest.mark.parametrize("category", ["all-reduce", "send", "recv-done"])
def test_texts_of_instructions(text: str, category: str) -> None:
    with soon():
        pod(open_run(on_tpu(f"%a.1 = {text}", category)))


def test_sizes_of_a_program_that_no_float_holds() -> None:
    sizes = ",".join(["9000000000000000000"] * 40)
    main = [
        hlo_programs.op("x", "parameter", f"f32[{sizes}]"),
        hlo_programs.op("y", "add", f"f32[{sizes}]", "x", "x"),
    ]
    module = hlo_programs.read(hlo_programs.program(main=main))
    cost = costs_of(module)[module.find("y")]
    assert (cost.flops, cost.bytes_accessed) == (LARGEST, LARGEST)
    space = hlo_programs.capture(hlo_programs.program(main=main))
    ran = event("y", 0, 10, hlo_op="y", hlo_module="test", program_id=1)
    space.planes.add().CopyFrom(gpu(line(ran, name="Stream #1")))
    json.dumps(hlo_stats(open_run(space)).to_dict(), allow_nan=False)


def test_a_shape_of_far_too_many_dimensions() -> None:
    program = hlo_programs.program(main=[hlo_programs.op("x", "parameter", "f32[7]")])
    shape = program.hlo_module.computations[0].instructions[0].shape
    shape.dimensions.extend([7] * 400_000)
    with soon():
        module = hlo_programs.read(program)
        assert costs_of(module)[module.find("x")].bytes_accessed == 0
    assert module.find("x").shape.element_type == "invalid"


def test_limits_of_a_device_that_no_float_holds() -> None:
    ran = line(event("k", 0, 9, kernel_details="regs:1"), name="Stream #1")
    limits = {"peak_teraflops_per_second": 1e308, "clock_rate": 2**63 - 1, "core_count": 2**63 - 1}
    run = open_run(xspace(gpu(ran, stats=limits)))
    json.dumps(roofline(run).to_dict(), allow_nan=False)


def test_types_of_an_op_log_entry() -> None:
    log = op_log()
    log.log_entries.add(name="a").types.extend(["t"] * 200_000)
    log.log_entries.add(name="b")
    log.log_entries.add(name="c").types.extend("xyx")
    with soon():
        types = read_op_log(log.SerializeToString()).types
    assert [len(types[0]), types[1:]] == [200_000, [(), ("x", "y", "x")]]


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "read",
    [
        function_label,
        lambda name: call_scope(name, {}),
        lambda name: _DOT_START.match(name.encode()),
    ],
)
@pytest.mark.parametrize(
    "unit", ["_", "_forward_", "PartitionedCall/", "/PartitionedCall", " ", "/**/", "/*", "#\n"]
)
def test_names_of_any_form(read: Callable[[str], object], unit: str) -> None:
    with soon():
        read(unit * (200_000 // len(unit)) + "x")


def test_names_mean_what_they_meant() -> None:
    labels = ["__inference_step_123", "a_forward_b_1_2", "inference_5", "step_3"]
    assert list(map(function_label, labels)) == ["step", "b_1", "inference_5", "step_3"]
    calls = ["a/PartitionedCall", "StatefulPartitionedCall_1/PartitionedCall", "/x", "a/my"]
    assert [call_scope(name, {}) for name in calls] == ["a", "", "/x", "a/my"]
    for start in (b"digraph", b" \n/* x **/ // y\n# z\n strict graph {", b"/***/GRAPH{"):
        assert _DOT_START.match(start)


def test_many_unknowns_of_one_name() -> None:
    names = Names()
    with soon():
        given = [str(names.of("a", number)) for number in range(50_000)]
    assert (given[:2], given[-1]) == (["a", "a#2"], "a#50000")


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("007", 7), ("", -1), ("-1", -1), ("²", -1), ("٣", -1), (MANY_DIGITS, LARGEST),
     ("0" * 5000 + "5", 5), (str(LARGEST), LARGEST), (str(LARGEST + 1), LARGEST)],
)  # fmt: skip
def test_numbers_in_texts(text: str, number: int) -> None:
    assert whole_number(text, -1) == number


@pytest.mark.parametrize("slot", [MANY_DIGITS, "9" * 18, "²"])
def test_slots_of_inputs(slot: str) -> None:
    nodes = graph(op("a", "Const"), op("b", "Identity", f"a:{slot}"))
    body = read_program(nodes).body
    assert body.nodes[1].inputs == ((-1, 0),)
    profiler = tfprof.Profiler(nodes)
    profiler.view("graph", options())
    tfprof.flops(nodes)


def test_slots_of_inputs_in_functions() -> None:
    nodes = graph(op("b", "f"))
    function = nodes.library.function.add()
    function.signature.name = "f"
    function.signature.output_arg.add(name="out")
    function.node_def.add(name="c", op="Const")
    function.node_def.add(name="d", op="Identity", input=[f"c:output:{MANY_DIGITS}"])
    function.ret["out"] = f"d:output:{MANY_DIGITS}"
    tfprof.flops(nodes)


@pytest.mark.parametrize(
    "name", [f"/device:TPU:{MANY_DIGITS}", f"/device:GPU:{MANY_DIGITS}", f"$a.py:{MANY_DIGITS} f"]
)
def test_numbers_in_names_of_captures(name: str) -> None:
    space = xspace(host(line(event(name, 0, 5)), line(event("train", 0, 9))), plane(name))
    run = open_run(space)
    overview(run)
    pod(run)


def test_numbers_in_names_of_devices() -> None:
    profiler = tfprof.Profiler(graph(op("a")))
    profiler.add_step(0, run_on({f"/job:a/task:{MANY_DIGITS}/device:GPU:{MANY_DIGITS}": {"a": 5}}))
    profiler.advise()


def test_a_damaged_shape_in_run_metadata() -> None:
    broken = run({"x": stat(5)})
    output = broken.step_stats.dev_stats[0].node_stats[0].output.add()
    output.tensor_description.shape.dim.add(size=12345)
    data = broken.SerializeToString()
    place = data.index(b"\x12\x03\x08\xb9\x60")
    profiler = tfprof.Profiler(graph(op("x", "Placeholder"), op("y", "MatMul", "x")))
    with pytest.raises(MalformedProfileError, match=r"byte \d+ in step_stats.*shape"):
        profiler.add_step(0, data[:place] + b"\x12\x03\x08\xb9\xff" + data[place + 5 :])


def saved_profile() -> bytes:
    profiler = tfprof.Profiler(graph(op("a"), op("b")))
    profiler.add_step(0, run({"a": 5, "b": 1}))
    return profiler.serialize_to_string()


def test_more_uses_of_memory_than_executions() -> None:
    message = pb.ProfileProto.FromString(saved_profile())
    message.DiscardUnknownFields()
    for node in message.nodes.values():
        for record in node.execs.values():
            for _ in range(3):
                record.memory_execs.add(memory_micros=5, host_temp_bytes=8)
    for without_times in (False, True):
        for node in message.nodes.values():
            for record in node.execs.values():
                if without_times:
                    record.ClearField("cpu_execs")
                    record.ClearField("devices")
        profiler = tfprof.load(message.SerializeToString())
        asked = options(output="timeline:outfile=/nowhere/t.json")
        (file,) = profiler.output_files("graph", asked)
        assert b"".join(file.chunks)


@pytest.mark.parametrize("kind", ["steps", "execs"])
def test_far_more_steps_than_bytes(kind: str) -> None:
    message = pb.ProfileProto()
    message.nodes[1].name, message.nodes[1].op = "a", "X"

    def with_steps(numbers: range) -> bytes:
        for step in numbers:
            if kind == "steps":
                message.steps.append(step)
            else:
                message.nodes[1].execs[step].run_count = 1
        return message.SerializeToString()

    with soon(20):
        profiler = tfprof.load(with_steps(range(10_000)))
        assert len(tfprof.load(profiler.serialize_to_string()).steps) == 10_000
        profiler.view("graph", options(step=7))
    with pytest.raises(MalformedProfileError, match=r"10001 steps in \d+ bytes"):
        tfprof.load(with_steps(range(10_000, 10_001)))


def test_many_steps_in_which_ops_ran_are_read() -> None:
    message = pb.ProfileProto()
    message.nodes[1].name, message.nodes[1].op = "a", "X"
    for step in range(10_001):
        message.nodes[1].execs[step].devices.append("/device:CPU:0" + "x" * 100)
    assert len(tfprof.load(message.SerializeToString()).steps) == 10_001


def test_a_name_of_20_000_scopes() -> None:
    profiler = tfprof.Profiler(graph(op("scope/" * 20_000 + "a")))
    with pytest.raises(MalformedProfileError, match=r"lies in 20000"):
        profiler.view("scope", options())
    with soon():
        profiler.view("graph", options())
        deep = op("scope/" * 20_000 + "a", "Relu", "x", T=1)
        x = op("x", "Placeholder", shape=(4, 4), dtype=1)
        x.attr["dtype"].type = deep.attr["T"].type = 1
        report = tfprof.flops(graph(x, deep))
        assert report.flops == 16
        with pytest.raises(MalformedProfileError, match=r"lies in 19999"):
            _ = report.by_scope


@pytest.mark.one_engine
def test_steps_are_added_while_other_threads_drop_views() -> None:
    profiler = tfprof.Profiler(graph(op("a"), op("b", "B", "a")))
    profiler.add_step(0, run({"a": 1}))
    errors: list[BaseException] = []
    over = threading.Event()

    def work(task: Callable[[], Any]) -> None:
        try:
            while not over.is_set():
                task()
        except BaseException as error:
            errors.append(error)

    tasks = [
        *[lambda: profiler.view("scope", options())] * 3,
        lambda: profiler.add_step(1, run({"a": 1})),
    ]
    threads = [threading.Thread(target=work, args=(task,)) for task in tasks]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        time.sleep(1.5)
    finally:
        over.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert errors == []


def inlined_calls(n_lines: int, n_calls: int) -> bytes:
    """A sample of so many calls, each at a place of so many inlined ones: a few bytes each."""
    profile = pb.Profile(string_table=["", "time", "nanoseconds", "f"])
    profile.sample_type.add(type=1, unit=2)
    profile.function.add(id=1, name=3)
    place = profile.location.add(id=1)
    for _ in range(n_lines):
        place.line.add(function_id=1)
    profile.sample.add(value=[1], location_id=[1] * n_calls)
    return profile.SerializeToString()


def test_a_few_bytes_that_stand_for_millions_of_calls() -> None:
    data = inlined_calls(5000, 25_000)
    assert len(data) < 57_000
    with soon(), pytest.raises(MalformedProfileError, match=r"p\.pb: the stacks have more than"):
        stacks_of_pprof(data, "p.pb")
    assert len(stacks_of_pprof(inlined_calls(20, 30), "p.pb").parents) == 600


def test_stacks_of_speedscope_that_are_thousands_deep() -> None:
    count = 6000
    events = [
        *({"type": "O", "frame": 0, "at": at} for at in range(count)),
        *({"type": "C", "frame": 0, "at": count + at} for at in range(count)),
    ]
    profile = {"type": "evented", "name": "p", "startValue": 0, "endValue": 9, "events": events}
    content = {"shared": {"frames": [{"name": "f"}]}, "profiles": [profile]}
    with soon(1):
        stacks = stacks_of_speedscope(json.dumps(content).encode(), "s.json")
    assert len(stacks.parents) == count


@pytest.mark.parametrize("size", [2**31, 2**63 - 1])
def test_shapes_that_no_float_holds(size: int) -> None:
    nodes = graph(op("x", "Placeholder"), op("y", "Relu", "x"), op("v", "VariableV2"))
    for node in nodes.node:
        node.attr["dtype"].type = node.attr["T"].type = 1
        for _ in range(40):
            node.attr["shape"].shape.dim.add(size=size)
    report = tfprof.flops(nodes)
    assert report.flops == size**40
    assert "e+" in str(report)
    _, column = column_of("flops", [size**40, 1])
    assert column.values.tolist() == [float("inf"), 1.0]  # type: ignore[union-attr]


def test_shapes_of_more_dimensions_than_any_tensor_has() -> None:
    nodes = graph(op("x", "Placeholder"), op("y", "Relu", "x"), op("v", "VariableV2"))
    for node in nodes.node:
        node.attr["dtype"].type = node.attr["T"].type = 1
        node.attr["shape"].shape.dim.extend([pb.TensorShapeProto.Dim(size=2**63 - 1)] * 28_000)
    with soon(2):
        report = tfprof.flops(nodes)
        assert "not counted" in str(report).lower()
        assert str(tfprof.summary(nodes))


@pytest.mark.one_engine
@pytest.mark.parametrize(("n_functions", "n_calls"), [(30, 10), (100, 100)])
def test_functions_that_call_the_one_before(n_functions: int, n_calls: int) -> None:
    nodes = graph(op("x", "Placeholder"), op("top", f"f{n_functions - 1}", "x"))
    for depth in range(n_functions):
        function = nodes.library.function.add()
        function.signature.name = f"f{depth}"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="out", type=1)
        before = "a"
        for number in range(n_calls):
            kind = f"f{depth - 1}" if depth else "Relu"
            node = function.node_def.add(name=f"n{number}", op=kind, input=[before])
            before = f"n{number}:{'out' if depth else 'activations'}:0"
            if not depth:
                node.attr["T"].type = 1
        function.ret["out"] = before
    with soon():
        scopes = scope_sums(analyse(nodes)[0]).own
    assert len(scopes) < 250_000


@pytest.mark.one_engine
def test_slices_that_all_overlap() -> None:
    """80,000 of them are 1.2 MB; rows and lanes are a thousand, and no slice is lost."""
    starts = np.arange(80_000, dtype=np.int64)
    lengths = np.full(len(starts), 10_000_000, np.int64)
    with soon():
        layer = layers_of(starts, starts + lengths)
        lanes = Lanes.of(starts, lengths)
        nested = Lanes.of(starts, lengths - 2 * starts)
    assert layer is not None and len(set(layer.tolist())) == 1000
    assert sum(map(len, rows_of(layer, len(starts)))) == len(starts)
    for found in (lanes, nested):
        assert len(found) == 1001 and found.first[-1] == len(starts)


def test_a_name_without_an_end_has_no_line() -> None:
    with soon():
        assert source_of("x" * 900_000, {}) == ""
        assert source_of("a:" * 400_000 + "train.py:12", {}) == "train.py:12"
