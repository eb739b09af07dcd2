"""Costs of instructions; the expected numbers are counted by hand."""

import json

import pytest

from tests.hlo_programs import ADD, op, program, read
from tfprof.captures.hlo.cost import Cost, costs_of
from tfprof.core.wire import messages as pb

A = op("a", "parameter", "f32[4,8]")
B = op("b", "parameter", "f32[4,8]", parameter_number=1)
ZERO = op("zero", "constant", "f32[]")
DOT = pb.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[1])


def cost(*main, name=None, **computations):
    """The cost of an instruction; by default of the last one."""
    module = read(program(main=list(main), **computations))
    return costs_of(module)[module.find(name or main[-1][0])]


@pytest.mark.parametrize(
    ("opcode", "kind", "flops"),
    [
        ("add", "f32", 32), ("tanh", "bf16", 32), ("clamp", "f32", 64), ("sign", "f32", 64),
        ("convert", "f32", 0), ("select", "f32", 0), ("and", "pred", 0), ("multiply", "s32", 0),
        ("multiply", "c64", 192), ("divide", "c64", 352), ("add", "c128", 64), ("copy", "f32", 0),
    ],
)  # fmt: skip
def test_elements_follow_the_convention_of_the_package(opcode, kind, flops):
    a = op("a", "parameter", f"{kind}[4,8]")
    assert cost(a, op("x", opcode, f"{kind}[4,8]", "a")).flops == flops


def test_comparisons_count_by_what_they_compare():
    assert cost(A, B, op("x", "compare", "pred[4,8]", "a", "b")).flops == 32
    ints = op("i", "parameter", "s32[4,8]")
    assert cost(ints, op("x", "compare", "pred[4,8]", "i", "i")).flops == 0


def test_bytes_are_operands_and_result():
    found = cost(A, B, op("x", "add", "f32[4,8]", "a", "b"))
    assert found == Cost(32, 32, 0, 384, 256, 128)


def test_functions_of_the_math_library_are_distinguished():
    assert cost(A, op("x", "exponential", "f32[4,8]", "a")).transcendentals == 32


def test_other_memories_are_distinguished():
    far = op("a", "parameter", "f32[4,8]{1,0:S(5)}")
    found = cost(far, op("x", "copy", "f32[4,8]", "a"))
    assert (found.bytes_accessed, found.main_read_bytes, found.main_write_bytes) == (256, 0, 128)


@pytest.mark.parametrize(
    "opcode", ["bitcast", "get-tuple-element", "after-all", "opt-barrier", "copy-done", "tuple"]
)
def test_some_touch_nothing(opcode):
    assert cost(A, op("x", opcode, "f32[4,8]", "a")) == Cost()


def test_a_transpose_into_another_layout_moves_nothing():
    flipped = op("x", "transpose", "f32[8,4]{0,1}", "a", dimensions=[1, 0])
    assert cost(A, flipped).bytes_accessed == 0
    assert cost(A, op("x", "transpose", "f32[8,4]", "a", dimensions=[1, 0])).bytes_accessed == 256


@pytest.mark.parametrize(
    ("kind", "flops", "device_flops"),
    [("f32", 256, 256), ("s8", 256, 128), ("s4", 256, 64), ("c64", 1024, 1024)],
)
def test_products(kind, flops, device_flops):
    a, b = op("a", "parameter", f"{kind}[4,8]"), op("b", "parameter", f"{kind}[4,8]")
    found = cost(a, b, op("x", "dot", "f32[4,4]", "a", "b", dot_dimension_numbers=DOT))
    assert (found.flops, found.device_flops) == (flops, device_flops)


def gemm(config):
    call = {"custom_call_target": "__cublas$gemm", "backend_config": config}
    return cost(A, B, op("x", "custom-call", "(f32[4,4], s8[1000])", "a", "b", **call))


def test_library_products_count_without_scratch_memory():
    numbers = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["1"]}
    config = {"gemm_backend_config": {"dot_dimension_numbers": numbers}, "unknown": 1}
    found = gemm(json.dumps(config).encode())
    assert (found.flops, found.bytes_accessed, found.is_known) == (256, 128 + 128 + 64, True)


NO_NUMBER = b'{"dot_dimension_numbers": {"lhs_contracting_dimensions": ["x"]}}'


@pytest.mark.parametrize(
    "config", [b"", b"{", b"[]", b'{"gemm_backend_config": 3}', b"\xff", NO_NUMBER]
)
def test_library_products_that_do_not_say_what_they_do_are_unknown(config):
    found = gemm(config)
    assert not found.is_known
    assert found.flops == 0
    assert found.bytes_accessed == 128 + 128 + 64 + 1000


def test_reductions_apply_their_function():
    found = cost(A, ZERO, op("x", "reduce", "f32[4]", "a", "zero", calls=["add"]), add=ADD)
    assert (found.flops, found.bytes_accessed) == (28, 128 + 4 + 16)


def test_windows_apply_their_function():
    window = pb.Window()
    window.dimensions.add(size=1, stride=1)
    window.dimensions.add(size=3, stride=1)
    one = op("x", "reduce-window", "f32[4,6]", "a", "zero", calls=["add"], window=window)
    assert cost(A, ZERO, one, add=ADD).flops == 24 * 2


def test_slices_read_what_they_return():
    assert cost(A, op("x", "slice", "f32[2,8]", "a")).bytes_accessed == 128
    i = op("i", "parameter", "s32[]", parameter_number=2)
    assert cost(A, i, op("x", "dynamic-slice", "f32[1,8]", "a", "i", "i")).bytes_accessed == 72
    u = op("u", "parameter", "f32[1,8]")
    updated = op("x", "dynamic-update-slice", "f32[4,8]", "a", "u", "i", "i")
    assert cost(A, u, i, updated).bytes_accessed == 72
    indices = op("i", "parameter", "s32[3]")
    assert cost(A, indices, op("x", "gather", "f32[3,8]", "a", "i")).bytes_accessed == 96 + 96 + 12
    updates = op("u", "parameter", "f32[3,8]")
    scatter = op("x", "scatter", "f32[4,8]", "a", "i", "u", calls=["add"])
    found = cost(A, indices, updates, scatter, add=ADD)
    assert (found.bytes_accessed, found.flops) == (3 * 96 + 12, 24)


INSIDE = [
    op("p", "parameter", "f32[4,8]"),
    op("s", "slice", "f32[1,8]", "p"),
    op("e", "exponential", "f32[1,8]", "s"),
    op("m", "multiply", "f32[1,8]", "e", "s"),
]


def test_fusions_move_only_what_gets_in_and_out():
    found = cost(A, op("x", "fusion", "f32[1,8]", "a", calls=["f"], fusion_kind="kLoop"), f=INSIDE)
    assert (found.flops, found.transcendentals, found.bytes_accessed) == (16, 8, 64)


def test_what_a_fusion_reads_twice_is_read_once():
    inside = [
        op("p", "parameter", "f32[4,8]"),
        op("s", "slice", "f32[3,8]", "p"),
        op("t", "slice", "f32[3,8]", "p"),
        op("m", "multiply", "f32[3,8]", "s", "t"),
    ]
    found = cost(A, op("x", "fusion", "f32[3,8]", "a", calls=["f"]), f=inside)
    assert found.main_read_bytes == 128


def test_fusions_update_in_place():
    inside = [
        op("p", "parameter", "f32[4,8]"),
        op("u", "parameter", "f32[1,8]", parameter_number=1),
        op("i", "constant", "s32[]"),
        op("d", "dynamic-update-slice", "f32[4,8]", "p", "u", "i", "i"),
    ]
    u = op("u", "parameter", "f32[1,8]")
    found = cost(A, u, op("x", "fusion", "f32[4,8]", "a", "u", calls=["f"]), f=inside)
    assert found.bytes_accessed == 64


def test_fusions_in_fusions():
    outer = [op("q", "parameter", "f32[4,8]"), op("g", "fusion", "f32[1,8]", "q", calls=["f"])]
    found = cost(A, op("x", "fusion", "f32[1,8]", "a", calls=["o"]), o=outer, f=INSIDE)
    assert (found.flops, found.bytes_accessed) == (16, 64)
    through = [op("q", "parameter", "f32[4,8]")]
    assert cost(A, op("x", "fusion", "f32[4,8]", "a", calls=["t"]), t=through).bytes_accessed == 256


def loop(config):
    body = [op("p", "parameter", "f32[4,8]"), op("n", "negate", "f32[4,8]", "p")]
    until = [op("p2", "parameter", "f32[4,8]"), op("c", "constant", "pred[]")]
    one = op("x", "while", "f32[4,8]", "a", calls=["body", "until"], backend_config=config)
    return cost(A, one, body=body, until=until)


@pytest.mark.parametrize(
    ("config", "times"),
    [(b'{"known_trip_count":{"n":"5"}}', 5), (b"{}", 1), (b'{"known_trip_count":{"n":"x"}}', 1)],
)
def test_loops_run_as_often_as_is_known(config, times):
    found = loop(config)
    assert (found.flops, found.bytes_accessed) == (32 * times, 256 * times)


def test_the_dearest_branch_counts():
    cheap = [op("p", "parameter", "f32[4,8]")]
    dear = [op("q", "parameter", "f32[4,8]"), op("n", "negate", "f32[4,8]", "q")]
    which = op("w", "parameter", "pred[]")
    one = op("x", "conditional", "f32[4,8]", "w", "a", "a", calls=["cheap", "dear"])
    assert cost(A, which, one, cheap=cheap, dear=dear).flops == 32


def test_starts_and_ends_move_data_once():
    copy = "(f32[4,8], f32[4,8], u32[])"
    main = [A, op("s", "copy-start", copy, "a"), op("d", "copy-done", "f32[4,8]", "s")]
    assert cost(*main, name="s").bytes_accessed == 256
    assert cost(*main, name="d").bytes_accessed == 0


def test_sums_of_computations_are_sums():
    main = [A, B, op("x", "add", "f32[4,8]", "a", "b"), op("y", "tanh", "f32[4,8]", "x")]
    module = read(program(main=[A, op("r", "call", "f32[4,8]", "a", calls=["f"])], f=main))
    costs = costs_of(module)
    inner = [costs[one] for one in module.computations[0].instructions]
    assert costs[module.find("r")].flops == sum(each.flops for each in inner)
    assert costs[module.find("r")].bytes_accessed == sum(each.bytes_accessed for each in inner)


def test_unknown_calls_are_unknown():
    found = cost(A, op("x", "custom-call", "f32[4,8]", "a", custom_call_target="mine"))
    assert (found.flops, found.bytes_accessed, found.is_known) == (0, 256, False)


@pytest.mark.parametrize(
    "opcode",
    ["scatter", "dynamic-update-slice", "slice", "dot", "reduce", "custom-call", "fft", "sort",
     "cholesky", "triangular-solve", "select-and-scatter", "conditional", "while", "fusion"],
)  # fmt: skip
@pytest.mark.parametrize("n_operands", [0, 1, 2])
@pytest.mark.parametrize("result", ["f32[4,8]", "(f32[4], s32[])"])
def test_instructions_without_their_operands_have_some_cost(opcode, n_operands, result):
    operands = ["a", "b"][:n_operands]
    for calls in ([], ["add"]):
        found = cost(A, B, op("x", opcode, result, *operands, calls=calls), add=ADD)
        assert found.bytes_accessed >= 0
