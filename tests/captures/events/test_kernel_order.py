"""Instructions of kernels by names and order, worked out by hand."""

import random
from collections import Counter

import pytest

from tests.hlo_programs import op, program, read
from tfprof.captures.events.timeline.kernel_order import instructions_of, launching

GEMM, CONV = "__cublas$gemm", "__cudnn$convForward"


def main(*instructions):
    """A program of fusions and, after ``=``, of custom calls."""
    made = []
    for text in instructions:
        name, _, target = text.partition("=")
        opcode = "custom-call" if target else "fusion"
        made.append(op(name, opcode, "f32[4]", custom_call_target=target))
    return list(launching(read(program(main=made)).entry))


def found(kernels, candidates, known=None):
    by_name = {one.name: one for one in candidates}
    anchors = {place: by_name[name] for place, name in (known or {}).items()}
    return [
        one and f"{one.instruction.name} {one.how}"
        for one in instructions_of(kernels.split(), candidates, anchors)
    ]


def test_names_of_xla_and_what_lies_between_them():
    conv = main(
        "loop_transpose_fusion", "input_transpose_fusion.1", f"cudnn-conv.1={CONV}",
        "input_transpose_fusion",
    )  # fmt: skip
    kernels = (
        "loop_transpose_fusion.kd input_transpose_fusion_1.kd Im3d2Col.kd Cijk_Ailk.kd "
        "input_transpose_fusion.kd"
    )
    assert found(kernels, conv) == [
        "loop_transpose_fusion name", "input_transpose_fusion.1 name", "cudnn-conv.1 order",
        "cudnn-conv.1 order", "input_transpose_fusion name",
    ]  # fmt: skip


def test_as_many_kernels_as_calls_are_one_each():
    three = main(*(f"custom-call.{number}={GEMM}" for number in range(3)))
    assert found("gemm gemm gemm", three) == [f"custom-call.{n} order" for n in range(3)]


def test_where_several_fit_there_is_none():
    three = main(*(f"custom-call.{number}={GEMM}" for number in range(3)))
    assert found("gemm gemm", three) == [None, None]
    two = main(f"custom-call.0={GEMM}", f"custom-call.1={GEMM}", "loop_add_fusion")
    assert found("gemm gemm gemm loop_add_fusion", two) == [
        "custom-call.0 order", None, "custom-call.1 order", "loop_add_fusion name",
    ]  # fmt: skip


def test_a_known_instruction_decides_between_two():
    two = main(f"custom-call.0={GEMM}", f"custom-call.1={GEMM}")
    assert found("gemm", two) == [None]
    assert found("gemm gemm", two, {0: "custom-call.0"}) == [None, "custom-call.1 order"]


def test_equal_fusions_share_a_kernel():
    three = main("loop_add_fusion", "loop_add_fusion.1", "loop_add_fusion.2")
    assert found("loop_add_fusion loop_add_fusion loop_add_fusion", three) == [
        "loop_add_fusion order", "loop_add_fusion.1 order", "loop_add_fusion.2 order",
    ]  # fmt: skip


def test_a_library_kernel_is_never_a_fusion():
    assert found("sgemm", main("loop_add_fusion")) == [None]
    assert found("loop_add_fusion_9", main(f"custom-call={GEMM}", "loop_add_fusion.9")) == [
        "loop_add_fusion.9 name"
    ]


def test_a_kernel_of_another_program_has_none():
    both = main("loop_add_fusion.1", f"custom-call.2={GEMM}")
    assert found("loop_add_fusion_8", both) == [None]
    assert found("loop_add_fusion_1 loop_add_fusion_8", both) == ["loop_add_fusion.1 name", None]


def test_kinds_of_work_decide():
    both = main(f"custom-call.1={GEMM}", f"cudnn-conv.2={CONV}")
    assert found("ampere_sgemm_128x64 sm80_xmma_fprop", both) == [
        "custom-call.1 order", "cudnn-conv.2 order",
    ]  # fmt: skip
    assert found("sm80_xmma_fprop_implicit_gemm", both) == ["cudnn-conv.2 order"]


def test_kernels_of_a_loop_repeat_their_names():
    body = [op("p", "parameter", "f32[4]"), op("loop_add_fusion", "fusion", "f32[4]", "p"),
            op("loop_mul_fusion", "fusion", "f32[4]", "p")]  # fmt: skip
    condition = [op("q", "parameter", "f32[4]"), op("c", "constant", "pred[]")]
    entry = [op("a", "parameter", "f32[4]"),
             op("w", "while", "f32[4]", "a", calls=("body", "condition"))]  # fmt: skip
    loop = read(program(body=body, condition=condition, main=entry))
    candidates = list(launching(loop.entry))
    assert [one.name for one in candidates] == ["loop_add_fusion", "loop_mul_fusion"]
    assert found("loop_add_fusion loop_mul_fusion " * 2, candidates) == [
        "loop_add_fusion name", "loop_mul_fusion name",
    ] * 2  # fmt: skip


def test_computations_that_are_called_often_or_deep_count_once():
    deep = {"c0": [op("loop_add_fusion", "fusion", "f32[4]")]}
    for number in range(1, 2000):
        inner = f"c{number - 1}"
        deep[f"c{number}"] = [
            op(f"call.{number}.{which}", "call", "f32[4]", calls=(inner,)) for which in range(2)
        ]
    entry = read(program("c1999", **deep)).entry
    assert [one.name for one in launching(entry)] == ["loop_add_fusion"]


@pytest.mark.parametrize("kernels", ["", "unknown_kernel", "unknown_kernel " * 3])
def test_without_candidates_there_is_none(kernels):
    assert found(kernels, []) == [None] * len(kernels.split())


LIBRARY = {
    "__cublas$gemm": ("ampere_sgemm_128x64_tn", "nvjet_hsh_128", "splitKreduce", "odd_kernel"),
    "__cudnn$convForward": ("sm80_xmma_fprop_implicit_gemm", "nchwToNhwcKernel", "Im3d2Col"),
    "__cudnn$fmhaSoftmax": ("cudnn_sdpa_flash_fprop", "flash_fwd_kernel", "odd"),
    "my_custom_op": ("my_kernel", "helper_kernel"),
}
STEMS = ("loop_add_fusion", "input_reduce_fusion", "fusion", "wrapped_transpose")


def random_program(chance, n_kernels, *, shared=0.0):
    """Instructions, the kernels that they launch, and the place of the instruction of each.

    Args:
        chance: The random numbers.
        n_kernels: How many kernels a call of a library may launch.
        shared: How often a fusion shares the kernel of an earlier one.
    """
    instructions, kernels, truth = [], [], []
    counts, first = Counter(), {}
    for place in range(chance.randint(3, 60)):
        if chance.random() < 0.3:
            target = chance.choice(list(LIBRARY))
            instructions.append(f"custom-call.{place}={target}")
            own = chance.choices(LIBRARY[target], k=chance.choice(n_kernels))
        else:
            stem = chance.choice(STEMS)
            number = counts[stem]
            counts[stem] += 1
            instructions.append(f"{stem}.{number}" if number else stem)
            kernel = f"{stem}_{number}" if number else stem
            own = [first.setdefault(stem, kernel) if chance.random() < shared else kernel]
            first.setdefault(stem, kernel)
        kernels += own
        truth += [place] * len(own)
    return main(*instructions), kernels, truth


@pytest.mark.parametrize(
    ("n_kernels", "shared", "most_wrong"),
    [((1,), 0.0, 0.0), ((1, 1, 2, 3), 0.0, 0.0), ((1, 1, 2), 0.2, 0.0), ((0, 1, 2), 0.0, 0.02)],
)
def test_random_programs(n_kernels, shared, most_wrong):
    """Of all kernels, at least 90 % have their instruction; the others hardly ever a wrong one."""
    chance, right, wrong, total = random.Random(7), 0, 0, 0
    for _ in range(40):
        candidates, kernels, truth = random_program(chance, n_kernels, shared=shared)
        for one, place in zip(instructions_of(kernels, candidates), truth, strict=True):
            is_right = one is not None and one.instruction is candidates[place]
            right += is_right
            wrong += one is not None and not is_right
            total += 1
    assert total > 1000
    assert right >= 0.9 * total and wrong <= most_wrong * total, (right, wrong, total)
