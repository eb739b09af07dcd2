"""Products of instructions; the expected numbers are counted by hand."""

import json

import pytest

from tests.hlo_programs import op, program, read
from tfprof.captures.hlo.cost import costs_of
from tfprof.captures.hlo.products import base_name, plain_path, products_of, stated_cost
from tfprof.core.wire import messages as pb

A = op("a", "parameter", "bf16[4,8]")
B = op("b", "parameter", "bf16[16,8]", parameter_number=1)
DIMENSIONS = pb.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[1])
DOT = 2 * 4 * 16 * 8


def dot(name="dot", op_name=""):
    metadata = pb.OpMetadata(op_name=op_name)
    return op(
        name, "dot", "f32[4,16]", "a", "b", dot_dimension_numbers=DIMENSIONS, metadata=metadata
    )


def products(*main, name=None, **computations):
    module = read(program(main=list(main), **computations))
    return products_of(module.find(name or main[-1][0]), costs_of(module))


def test_a_product_has_its_operations_its_type_and_its_path():
    [one], unknown = products(A, B, dot(op_name="jit(f)/transpose(jvp(mlp))/dot_general"))
    assert (one.flops, one.element_type, one.path) == (DOT, "bf16", "jit(f)/mlp/dot_general")
    assert (one.depth, one.is_backward, unknown) == (0, True, "")


def test_only_products_count_in_a_fusion():
    body = [A, B, dot(), op("add", "add", "f32[4,16]", "dot", "dot")]
    fused = op("f", "fusion", "f32[4,16]", "a", "b", calls=["body"], fusion_kind="kOutput")
    [one], _ = products(A, B, fused, body=body)
    assert one.flops == DOT


@pytest.mark.parametrize(("config", "times"), [({"known_trip_count": {"n": "5"}}, 5), ({}, 1)])
def test_a_loop_multiplies_by_its_known_rounds_only(config, times):
    loop = op(
        "loop", "while", "f32[4,16]", "a", calls=["body"],
        backend_config=json.dumps(config).encode(),
    )  # fmt: skip
    found, unknown = products(A, loop, body=[A, B, dot()])
    assert sum(one.flops for one in found) == times * DOT
    assert bool(unknown) == (not config)


def test_which_branch_runs_is_unknown():
    branch = op("c", "conditional", "f32[4,16]", "a", calls=["body"])
    assert products(A, branch, body=[A, B, dot()]).unknown
    assert not products(A, branch, body=[A, op("neg", "negate", "bf16[4,8]", "a")]).unknown


def call(target, config=b""):
    return op(
        "call", "custom-call", "f32[4,16]", "a", custom_call_target=target, backend_config=config
    )


def test_calls_of_other_code_are_unknown_unless_they_only_move_or_sort():
    assert products(A, call("my_kernel")).unknown
    assert products(A, call("TopK")) == ((), "")


def test_the_author_of_a_pallas_kernel_may_state_its_cost():
    estimate = {"flops": 1000, "transcendentals": 3, "bytes_accessed": 64}
    config = json.dumps({"custom_call_config": {"cost_estimate": estimate}}).encode()
    module = read(program(main=[A, call("tpu_custom_call", config)]))
    assert stated_cost(module.find("call")) == (1000, 64)
    wrong = json.dumps({"custom_call_config": {"cost_estimate": {"flops": -1}}}).encode()
    assert stated_cost(read(program(main=[A, call("t", wrong)])).find("call")) is None
    assert stated_cost(read(program(main=[A, call("t", b"[]")])).find("call")) is None


@pytest.mark.parametrize(
    ("name", "path", "depth"),
    [
        ("jit(f)/jvp(mlp)/dot_general", "jit(f)/mlp/dot_general", 0),
        ("jit(f)/transpose(jvp(jvp()))/checkpoint/rematted_computation/mlp/dot_general",
         "mlp/dot_general", 1),
        ("x/rematted_computation/y/rematted_computation/z/dot_general", "z/dot_general", 2),
    ],
)  # fmt: skip
def test_a_checkpoint_marks_what_it_computes_again(name, path, depth):
    [one], _ = products(A, B, dot(op_name=name))
    assert (one.path, one.depth, one.is_backward) == (path, depth, False)


def test_names():
    assert plain_path("jit(f)/vmap(transpose(jvp(a)))/b/dot") == "jit(f)/a/b/dot"
    assert base_name("fusion.3.remat2.1") == "fusion.3"
    assert base_name("fusion.3") == ""
