"""XLA's programs from their messages and from captures."""

import random

import pytest

from tests.captures.tools.oracle import folder
from tests.hlo_programs import ADD, capture, op, program, read
from tfprof.captures.events.timeline.programs import HloKey, KnownPrograms
from tfprof.captures.read.hlo import hlo_programs, read_hlo, split_title
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError

A, B = op("a", "parameter", "f32[4]"), op("b", "parameter", "f32[4]", parameter_number=1)


def codes(module):
    return [notice.code for notice in module.notices]


def test_operands_are_instructions():
    module = read(program(main=[A, B, op("c", "add", "f32[4]", "a", "b", after=["a"])]))
    c = module.find("%c")
    assert [operand.name for operand in c.operands] == ["a", "b"]
    assert [before.name for before in c.waits_for] == ["a"]
    assert module.entry.root is c
    assert module.home[c] is module.entry
    assert [one.name for one in module.entry.parameters] == ["a", "b"]
    assert module.entry.users()[c.operands[0]] == [c]
    assert module.find("nothing") is None
    assert not module.notices


def test_called_computations_come_first():
    main = [
        A,
        op("zero", "constant", "f32[]"),
        op("r", "reduce", "f32[]", "a", "zero", calls=["add"]),
    ]
    module = read(program(main=main, add=ADD))
    assert [computation.name for computation in module.computations] == ["add", "main"]
    assert module.find("r").calls == (module.computations[0],)


def test_where_an_instruction_comes_from():
    proto = program(main=[A])
    one = proto.hlo_module.computations[0].instructions[0]
    one.metadata.op_name, one.metadata.op_type = "scope/mul", "Mul"
    one.metadata.source_file, one.metadata.source_line = "old.py", 3
    module = read(proto)
    assert module.find("a").tf_op == "scope/mul:Mul"
    assert module.source(module.find("a")) == ("old.py", 3)
    index = proto.hlo_module.stack_frame_index
    index.file_names.extend(["main.py", "layer.py"])
    index.function_names.append("call")
    index.file_locations.add(file_name_id=2, function_name_id=1, line=7, column=2)
    index.file_locations.add(file_name_id=1, line=20)
    index.stack_frames.add(file_location_id=2)
    index.stack_frames.add(file_location_id=1, parent_frame_id=1)
    one.metadata.stack_frame_id = 2
    module = read(proto)
    stack = module.stack(module.find("a"))
    assert [(f.file, f.function, f.line) for f in stack] == [
        ("layer.py", "call", 7),
        ("main.py", "", 20),
    ]
    assert module.source(module.find("a")) == ("layer.py", 7)


def test_frames_that_call_themselves_end():
    proto = program(main=[A])
    proto.hlo_module.stack_frame_index.stack_frames.add(file_location_id=9, parent_frame_id=1)
    proto.hlo_module.computations[0].instructions[0].metadata.stack_frame_id = 1
    module = read(proto)
    assert [frame.line for frame in module.stack(module.find("a"))] == [-1]


def test_instructions_in_a_circle_are_left_out():
    proto = program(main=[A, op("b", "negate", "f32[4]", "a"), op("c", "negate", "f32[4]", "b")])
    b, c = proto.hlo_module.computations[0].instructions[1:]
    b.operand_ids[0] = c.id
    module = read(proto)
    assert [one.name for one in module.instructions] == ["a"]
    assert codes(module) == ["hlo-circle"]


def test_operands_may_stand_behind_their_users():
    proto = program(main=[A, op("b", "negate", "f32[4]", "a")])
    proto.hlo_module.computations[0].instructions.reverse()
    module = read(proto)
    assert [one.name for one in module.instructions] == ["a", "b"]
    assert module.entry.root.name == "b"
    assert not module.notices


def test_what_is_not_there_is_left_out():
    proto = program(main=[A, op("b", "negate", "f32[4]", "a")])
    one = proto.hlo_module.computations[0].instructions[1]
    one.operand_ids.append(77)
    one.called_computation_ids.append(99)
    module = read(proto)
    assert [operand.name for operand in module.find("b").operands] == ["a"]
    assert set(codes(module)) == {"hlo-unknown-operand", "hlo-unknown-computation"}


def test_computations_that_call_each_other_are_cut():
    f = op("f", "call", "f32[4]", "a", calls=["other"])
    g = op("g", "call", "f32[4]", "a", calls=["main"])
    module = read(program(main=[A, f], other=[A, g]))
    assert codes(module) == ["hlo-circle-of-calls"]
    assert all(not one.calls for one in module.instructions)


def test_unknown_types_and_negative_sizes():
    proto = program(main=[A])
    proto.hlo_module.computations[0].instructions[0].shape.element_type = 99
    proto.hlo_module.computations[0].instructions[0].shape.dimensions[0] = -5
    found = read(proto).find("a").shape
    assert (found.element_type, found.dimensions, found.n_bytes) == ("invalid", (0,), 0)


def test_programs_of_a_capture():
    negative = pb.XSpace()
    plane = negative.planes.add(name="/host:metadata")
    plane.stat_metadata[5].name = "Hlo Proto"
    plane.stat_metadata[6].name = "other"
    for key, name in ((-1, "jit_f(18446744073709551615)"), (7, "jit_g"), (8, "no program")):
        plane.event_metadata[key].name = name
    data = program(main=[A]).SerializeToString()
    plane.event_metadata[-1].stats.add(metadata_id=5, bytes_value=data)
    plane.event_metadata[7].stats.add(metadata_id=6, str_value="x")
    plane.event_metadata[7].stats.add(metadata_id=5, bytes_value=b"\x0a\xff")
    programs = hlo_programs(read_xspace(negative))
    assert [(p.id, p.name) for p in programs] == [(7, "jit_g"), (2**64 - 1, "jit_f")]
    assert programs[1].n_bytes == len(data)
    assert programs[1].module() is programs[1].module()
    assert programs[1].module().find("a").opcode == "parameter"
    broken = programs[0].module()
    assert [notice.code for notice in broken.notices] == ["damaged-hlo"]
    assert broken.entry is None


def test_finding_the_program_of_an_event():
    one, two = program(main=[A]), program(main=[B])
    two.hlo_module.name = "other"
    known = KnownPrograms(hlo_programs(read_xspace(capture(one, two, two))))
    assert known.program(2).id == 2
    assert known.program(2**64 - 1) is None
    assert known.program(None, "test").id == 1
    assert known.program(1, "test").id == 1
    assert known.program(None, "other") is None, "there are two"
    assert KnownPrograms([]).program(1) is None


def counted(*protos, stat=True, names=True):
    """The same programs as XLA of 2026 writes them: running numbers as keys, a stat with the id."""
    space = capture(*protos)
    plane = space.planes[0]
    plane.stat_metadata[2].name = "program_id"
    moved = {key: plane.event_metadata[key] for key in plane.event_metadata}
    entries = [type(moved[1]).FromString(moved[key].SerializeToString()) for key in sorted(moved)]
    for key in list(plane.event_metadata):
        del plane.event_metadata[key]
    for place, entry in enumerate(reversed(entries), start=1):
        if stat:
            entry.stats.add(metadata_id=2, int64_value=entry.id)
        if not names:
            entry.name = split_title(entry.name)[0]
        entry.id = place
        plane.event_metadata[place].CopyFrom(entry)
    return hlo_programs(read_xspace(space))


@pytest.mark.parametrize(("stat", "names"), [(True, True), (True, False), (False, True)])
def test_the_id_is_in_the_stat_or_the_name_where_entries_only_count_up(stat, names):
    """The expected values are those of xprof 2.24."""
    one, two, three = program(main=[A]), program(main=[B]), program(main=[A, B])
    two.hlo_module.name = "other"
    found = counted(one, two, three, stat=stat, names=names)
    assert [(p.id, p.name, p.is_id_stated) for p in found] == [
        (1, "test", True), (2, "other", True), (3, "test", True),
    ]  # fmt: skip
    assert found[2].module().find("a") and found[2].module().find("b")


def test_the_number_of_an_entry_is_an_id_only_for_a_program_of_that_name():
    one, two, three = program(main=[A]), program(main=[B]), program(main=[A, B])
    two.hlo_module.name = "other"
    known = KnownPrograms(counted(one, two, three, stat=False, names=False))
    assert known.program(2, "other").name == "other"
    assert known.program(77, "other").name == "other", "there is only one of this name"
    assert known.program(2, "third") is None, "not another one's"
    assert known.instruction(HloKey(77, "test", "b")).program.id == 1, "only one has it"
    assert known.instruction(HloKey(77, "test", "a")) is None, "either may be meant"


def test_ids_in_names():
    assert split_title("jit_f(12)") == ("jit_f", 12)
    assert split_title("jit_f") == ("jit_f", None)
    assert split_title("f(x)(18446744073709551615)") == ("f(x)", 2**64 - 1)
    assert split_title("f(" + "9" * 5000 + ")")[1] is None


def test_a_capture_without_programs():
    assert hlo_programs(read_xspace(pb.XSpace(hostnames=["a"]))) == []


def test_damaged_bytes_are_named():
    with pytest.raises(MalformedProfileError, match="the file"):
        read_hlo(b"\x0a\x7f", source="the file")


@pytest.mark.parametrize(
    ("name", "n_programs", "n_instructions"),
    [("cpu-xla", 1, 55), ("gpu-rocm-jax-conv", 8, 850), ("gpu-rocm-jax-attention", 31, 1554),
     ("tpu-v6e-jax", 4, 43)],
)  # fmt: skip
def test_shared_captures(name, n_programs, n_instructions):
    (path,) = folder(name).glob("*.xplane.pb")
    programs = hlo_programs(read_xspace(path))
    assert len(programs) == n_programs
    assert sum(len(list(p.module().instructions)) for p in programs) == n_instructions
    assert all(not p.module().notices and p.module().buffers for p in programs)


@pytest.mark.parametrize("name", ["cpu-xla", "gpu-rocm-jax-conv", "gpu-rocm-jax-attention"])
def test_instructions_of_events_are_found(name):
    (path,) = folder(name).glob("*.xplane.pb")
    space = read_xspace(path)
    known = KnownPrograms(hlo_programs(space))
    n_found = 0
    for plane in space.planes:
        ops, ids, modules = map(plane.stat, ("hlo_op", "program_id", "hlo_module"))
        for event in range(len(ops)):
            if ops.present[event]:
                number = int(ids.unsigned[event]) if ids.present[event] else None
                key = HloKey(number, modules.text(event), ops.text(event).split("::")[-1])
                assert known.instruction(key) is not None
                n_found += 1
    assert n_found


def test_any_bytes_are_refused_or_read():
    """Mutations of a program always lead to an answer or to our error."""
    from tests.captures.hlo.everything import everything

    calls = [op("r", "reduce", "f32[]", "a", "z", calls=["add"])]
    main = [A, op("z", "constant", "f32[]"), *calls, op("n", "negate", "f32[]", "r")]
    data = bytearray(program(main=main, add=ADD).SerializeToString())
    chance = random.Random(7)
    n_read = 0
    for _ in range(600):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            module = read_hlo(bytes(changed), source="mutant")
        except MalformedProfileError:
            continue
        n_read += 1
        everything(module)
    assert n_read > 50
