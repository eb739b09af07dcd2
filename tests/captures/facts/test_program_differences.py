"""In what two programs of a function differ, by hand."""

import pytest

from tests import hlo_programs as hlo
from tfprof.captures.facts.program_differences import difference, source_of
from tfprof.captures.read.hlo import module_of
from tfprof.core.wire import messages as pb

PARTS = pb.OpSharding(
    type=3, tile_assignment_dimensions=[4, 1], iota_reshape_dims=[4], iota_transpose_perm=[0]
)
IN_TWO = pb.OpSharding(
    type=3, tile_assignment_dimensions=[2, 1, 2], iota_reshape_dims=[4],
    replicate_on_last_tile_dim=True,
)  # fmt: skip
COPIES = pb.OpSharding(type=0)
NAMED = pb.OpSharding(
    named_sharding={
        "mesh": {"axes": [{"name": "a", "size": 2}, {"name": "b", "size": 2}]},
        "dim_shardings": [{"axes": [{}, {"mesh_axis_index": 1}]}, {"is_closed": True}],
    }
)
NAMED_COPIES = pb.OpSharding(named_sharding={"mesh": {}})


def module(*instructions, sharding=None):
    made = hlo.program(main=list(instructions))
    if sharding is not None:
        made.hlo_module.spmd_parameters_shardings.add().CopyFrom(sharding)
    return module_of(made)


def takes(shape, literal=None, label="x", opcode="negate"):
    parameter = hlo.op("p", "parameter", shape, metadata={"op_name": label})
    constants = [] if literal is None else [hlo.op("c", "constant", "f32[]", literal=literal)]
    return [parameter, *constants, hlo.op("r", opcode, shape, "p")]


def constant(value):
    return {"shape": hlo.shape("f32[]"), "f32s": [value]}


ANOTHER = hlo.op("q", "parameter", "f32[]", parameter_number=1, metadata={"op_name": "y"})


@pytest.mark.parametrize(
    ("before", "now", "kind", "text"),
    [
        (takes("f32[2,3]"), takes("f32[4,3]"), "shape", "shape of x: f32[4,3], before f32[2,3]"),
        (takes("f32[2]"), takes("bf16[2]"), "element type",
         "element type of x: bf16[2], before f32[2]"),
        (takes("f32[2]"), [*takes("f32[2]"), ANOTHER], "number of arguments",
         "number of arrays: 2, before 1 (new: y)"),
        ([*takes("f32[2]"), ANOTHER], takes("f32[2]"), "number of arguments",
         "number of arrays: 1, before 2"),
        (takes("f32[2]", label="x['a']"), takes("f32[2]", label="x['b']"), "arguments",
         "arguments: x['b'], before x['a']"),
        (takes("f32[2]", constant(1.0)), takes("f32[2]", constant(2.5)), "constant",
         "a constant: 2.5, before 1; "),
        (takes("f32[2]"), takes("f32[2]", opcode="abs"), "instructions", "other instructions"),
        (takes("f32[2]"), takes("f32[2]"), "nothing in the program", "nothing in the program"),
    ],
)  # fmt: skip
def test_what_two_programs_differ_in(before, now, kind, text):
    found = difference(module(*before), module(*now))
    assert found.kind == kind
    assert found.text.startswith(text)


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        (("f32[1,8]", PARTS), ("f32[4,8]", COPIES),
         "{replicated} (f32[4,8] on each device), before {devices=[4,1]<=[4]} (f32[1,8] on each "
         "device)"),
        (("f32[4,8]", None), ("f32[2,8]", IN_TWO),
         "{devices=[2,1,2]<=[4] last_tile_dim_replicate} (f32[2,8] on each device), before none "
         "(f32[4,8] on each device)"),
        (("f32[1,8]", NAMED), ("f32[4,8]", NAMED_COPIES),
         "{replicated} (f32[4,8] on each device), before {mesh[a=2, b=2], [{a, b}, {}]} (f32[1,8] "
         "on each device)"),
    ],
)  # fmt: skip
def test_a_sharding_explains_the_shapes_on_each_device(before, now, text):
    programs = [module(*takes(shape), sharding=sharding) for shape, sharding in (before, now)]
    assert difference(*programs) == ("sharding", f"sharding of x: {text}")


def test_constants_that_the_model_does_not_hold_are_not_called_alike():
    large = {"shape": hlo.shape("f32[2]"), "f32s": [1.0, 2.0]}
    before, now = (
        module(*takes("f32[2]"), hlo.op("c", "constant", "f32[2]", literal=large)) for _ in "ab"
    )
    assert "more than one number are not compared" in difference(before, now).text
    assert "not compared" not in difference(module(*takes("f32[2]")), module(*takes("f32[2]"))).text


def test_a_few_of_many_arrays_are_named():
    def many(size):
        return [
            hlo.op(f"p{n}", "parameter", f"f32[{size}]", parameter_number=n,
                   metadata={"op_name": f"x{n}"})
            for n in range(5)
        ]  # fmt: skip

    found = difference(module(*many(2)), module(*many(3))).text
    assert found.startswith("shape of x0: f32[3], before f32[2]; x1: ")
    assert found.endswith("; and 2 more")


def test_a_program_without_stacks_has_no_line():
    assert source_of(module(*takes("f32[2]")), "f") == ("", "")
