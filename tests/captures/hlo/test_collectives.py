"""What collectives of programs exchange, and what could run meanwhile."""

import pytest

from tests.hlo_programs import ADD, op, program, read
from tfprof.captures.hlo.collectives import (
    bus_factor,
    exchange_of,
    needs_of,
    ready_times,
)
from tfprof.captures.hlo.instruction_text import collective_of_text
from tfprof.core.wire import messages as pb


def list_of(*groups):
    made = pb.CollectiveDeviceListProto()
    for one in groups:
        made.replica_groups.add(replica_ids=one)
    return made


ROWS = {"collective_device_list": list_of([0, 1], [2, 3])}


def exchange(*main, name, **computations):
    module = read(program(add=ADD, **computations, main=main))
    instruction = module.find(name)
    return exchange_of(instruction, module.home[instruction])


GIVEN = op("a", "parameter", "f32[100]")


@pytest.mark.parametrize(
    "instruction, opcode, n_bytes",
    [
        (op("c", "all-reduce", "f32[100]", "a", **ROWS), "all-reduce", 400),
        (op("c", "all-gather", "f32[200]", "a", **ROWS), "all-gather", 800),
        (op("c", "all-gather-start", "(f32[100], f32[200])", "a", **ROWS), "all-gather", 800),
        (op("c", "reduce-scatter", "f32[50]", "a", **ROWS), "reduce-scatter", 400),
        (op("c", "all-to-all", "f32[100]", "a", **ROWS), "all-to-all", 400),
        (op("c", "collective-broadcast", "f32[100]", "a", **ROWS), "collective-broadcast", 400),
        (op("c", "ragged-all-to-all", "f32[100]", "a", **ROWS), "ragged-all-to-all", 400),
    ],
)
def test_bytes_by_which_bandwidth_is_measured(instruction, opcode, n_bytes):
    found = exchange(GIVEN, instruction, name="c")
    assert (found.opcode, found.n_bytes, found.size, found.n_groups) == (opcode, n_bytes, 2, 2)
    assert (found.element_type, found.axis) == ("f32", "2 devices in a row")
    assert found.is_async == instruction[1].endswith("-start")


def test_several_arrays_of_several_types_in_one():
    other = op("b", "parameter", "bf16[10]", parameter_number=1)
    one = op("c", "all-reduce", "(f32[100], bf16[10])", "a", "b", **ROWS)
    found = exchange(GIVEN, other, one, name="c")
    assert (found.n_bytes, found.element_type) == (420, "bf16, f32")


@pytest.mark.parametrize(
    "opcode, shape, size",
    [
        ("all-gather", "f32[800]", 8),
        ("reduce-scatter", "f32[25]", 4),
        ("all-reduce", "f32[100]", 0),
    ],
)
def test_without_groups_the_arrays_may_show_how_many_devices_there_are(opcode, shape, size):
    found = exchange(GIVEN, op("c", opcode, shape, "a"), name="c")
    assert (found.size, found.n_groups, found.axis) == (size, 1, "")
    assert found.is_joint


def test_a_permute_sends_in_pairs():
    pairs = [pb.SourceTarget(source=one, target=one ^ 4) for one in range(8)]
    start = op("c", "collective-permute-start", "(f32[100], f32[100])", "a",
               source_target_pairs=pairs)  # fmt: skip
    found = exchange(GIVEN, start, name="c")
    assert (found.n_bytes, found.size, found.n_groups) == (400, 2, 4)
    assert found.members.startswith("0→4, 1→5")
    assert found.axis == "2 devices 4 apart"
    assert not found.is_joint


def test_a_collective_that_another_instruction_starts():
    wrapped = [op("p", "parameter", "f32[100]"), op("r", "reduce-scatter", "f32[50]", "p", **ROWS)]
    main = [
        GIVEN,
        op("s", "async-start", "((f32[100]), f32[50])", "a", calls=["wrapped"]),
        op("t", "tanh", "f32[100]", "a"),
        op("d", "async-done", "f32[50]", "s"),
    ]
    found = exchange(*main, name="s", wrapped=wrapped)
    assert (found.opcode, found.n_bytes, found.is_async, found.hidden_by) == (
        "reduce-scatter", 400, True, 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name, shown, is_named", [("model", "model", True), ("axis_1", "2 devices in a row", False)]
)
def test_axes_that_the_program_names_and_those_of_the_compiler(name, shown, is_named):
    by_axes = pb.MeshAxesReplicaGroupListProto()
    by_axes.mesh.axes.add(name="data", size=2)
    by_axes.mesh.axes.add(name=name, size=2)
    by_axes.axes.add(mesh_axis_index=1)
    one = op("c", "all-reduce", "f32[100]", "a", mesh_axes_replica_group_list=by_axes)
    found = exchange(GIVEN, one, name="c")
    assert (found.axis, found.is_axis_named, found.size) == (shown, is_named, 2)


def test_what_is_not_a_collective():
    assert exchange(GIVEN, op("c", "negate", "f32[100]", "a"), name="c") is None


@pytest.mark.parametrize(
    "opcode, size, factor",
    [("all-reduce", 4, 1.5), ("all-gather", 4, 0.75), ("reduce-scatter", 2, 0.5),
     ("all-to-all", 8, 7 / 8), ("collective-permute", 0, 1.0), ("all-reduce", 0, None),
     ("ragged-all-to-all", 4, None)],
)  # fmt: skip
def test_factors_of_the_bus_bandwidth(opcode, size, factor):
    assert bus_factor(opcode, size) == factor


def test_computation_that_could_run_meanwhile():
    """What uses a result cannot, nor what ran before or while it runs, nor what moves data."""
    module = read(program(add=ADD, main=[
        GIVEN,
        op("early", "abs", "f32[100]", "a"),
        op("c1", "all-reduce-start", "f32[100]", "early", **ROWS),
        op("inside", "sine", "f32[100]", "a"),
        op("c1-done", "all-reduce-done", "f32[100]", "c1"),
        op("c2", "all-reduce", "f32[100]", "a", **ROWS),
        op("free", "tanh", "f32[100]", "a"),
        op("moved", "copy", "f32[100]", "a"),
        op("uses1", "negate", "f32[100]", "c1-done"),
        op("uses2", "cosine", "f32[100]", "c2"),
        op("after", "floor", "f32[100]", "a", after=["uses1"]),
        op("both", "add", "f32[100]", "uses1", "uses2"),
    ]))  # fmt: skip
    home = module.entry
    chosen = {name: module.find(name) for name in ("c1", "c2")}
    times = {one.name: 2.0**at for at, one in enumerate(home.instructions)}
    found = ready_times(home, chosen, times)
    of_c1 = ("free", "uses2")
    of_c2 = ("free", "uses1", "after")
    assert found == {
        "c1": sum(times[name] for name in of_c1),
        "c2": sum(times[name] for name in of_c2),
    }
    needs = needs_of(home, chosen)
    assert [needs[module.find(name)] for name in ("free", "uses1", "c2", "both")] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "text, opcode, n_bytes, size, element_type",
    [
        (
            "%all-reduce.1 = (f32[8,128]{1,0:T(8,128)}, bf16[16]{0}) all-reduce(f32[8,128]{1,0} "
            "%a, bf16[16]{0} %b), channel_id=1, replica_groups=[2,4]<=[8], to_apply=%add",
            "all-reduce", 8 * 128 * 4 + 32, 4, "bf16, f32",
        ),
        (
            "%ag-start = (f32[8]{0}, f32[16]{0}) all-gather-start(f32[8]{0} %a), "
            "replica_groups={{0,1},{2,3}}, dimensions={0}",
            "all-gather", 64, 2, "f32",
        ),
        (
            "%cp = f32[8]{0} collective-permute(f32[8]{0} %a), source_target_pairs={{0,1},{1,0}}",
            "collective-permute", 32, 2, "f32",
        ),
        ("%ar = f32[8] all-reduce(%a), replica_groups={}", "all-reduce", None, 0, ""),
    ],
)  # fmt: skip
def test_what_the_text_of_an_instruction_states(text, opcode, n_bytes, size, element_type):
    found = exchange_of(collective_of_text(text))
    assert (found.opcode, found.n_bytes, found.size, found.element_type) == (
        opcode, n_bytes, size, element_type,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all-reduce.3",
        "%f = f32[8] fusion(f32[8] %all-reduce.1)",
        "ncclKernel",
        "%a = all-reduce(",
    ],
)
def test_texts_of_other_events(text):
    found = collective_of_text(text)
    assert found is None or exchange_of(found).n_bytes is None
