"""Kernels of GPUs, in the forms of profilers of all years."""

import pytest

from tests.captures.events.made import NOW
from tfprof.captures.events.ops.gpu_kernels import (
    gpu_kernels,
    is_eligible,
    merged_kernels,
    tensor_core_share,
    uses_tensor_cores,
)
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import event, gpu, host, line, timeline_of, xspace

BEFORE = "registers_per_thread:32 block_x:256"
SHM = "regs:32 shm:112 grid:8,4,2 block:256,2,1"
AMD = "regs:0 group_mem:512 grid:4,1,1 block:64,1,1"


def kernels(*events, classic=False, other=()):
    space = xspace(host(line(*other)), gpu(line(*events, id=14)))
    return gpu_kernels(timeline_of(space), rules=REFERENCE if classic else OURS)


def test_runs_of_a_kernel_add_up():
    found = kernels(
        event("k", 0, 5, kernel_details=NOW, tf_op="a/MatMul:MatMul"),
        event("k", 10, 9, kernel_details=NOW, tf_op="a/MatMul:MatMul"),
    )
    assert len(found) == 1
    kernel = found[0].kernel
    assert (kernel.name, kernel.grid, kernel.block) == ("k", (8, 4, 2), (256, 2, 1))
    assert (kernel.registers, kernel.static_shared_bytes, kernel.dynamic_shared_bytes) == (
        32, 48, 64,
    )  # fmt: skip
    assert (kernel.op_name, kernel.is_eligible, kernel.uses_tensor_cores) == (
        "a/MatMul", True, False,
    )  # fmt: skip
    assert found[0][1:] == (37.5, 2, 14, 5, 9)


def test_other_launches_and_other_ops_are_other_rows():
    found = kernels(
        event("k", 0, 5, kernel_details=NOW, tf_op="a:X"),
        event("k", 10, 4, kernel_details=SHM, tf_op="a:X"),
        event("k", 20, 3, kernel_details=NOW, tf_op="b:X"),
        event("k", 30, 2, kernel_details=NOW),
    )
    assert [(one.kernel.op_name, one.total_ns) for one in found] == [
        ("a", 5), ("a", 4), ("b", 3), ("", 2),
    ]  # fmt: skip


def test_the_most_time_comes_first_and_of_equal_ones_the_smaller_key():
    found = kernels(
        event("b", 0, 5, kernel_details=NOW), event("a", 10, 5, kernel_details=NOW),
        event("c", 20, 9, kernel_details=NOW),
    )  # fmt: skip
    assert [one.kernel.name for one in found] == ["c", "a", "b"]


@pytest.mark.parametrize(
    "details, shape",
    [
        (SHM, ((8, 4, 2), (256, 2, 1), 112)),
        (AMD, ((4, 1, 1), (64, 1, 1), 512)),
        ("grid:7", ((7, 1, 1), (1, 1, 1), 0)),
        ("grid:,, block:-3,x,2 regs:many shm:", ((1, 1, 1), (0, 0, 2), 0)),
        ("grid:" + "9" * 5000, ((0, 1, 1), (1, 1, 1), 0)),
        (BEFORE, ((1, 1, 1), (1, 1, 1), 0)),
        ("occ_pct:nan grid:1,2,3,4", ((1, 2, 3), (1, 1, 1), 0)),
    ],
)
def test_details(details, shape):
    [found] = kernels(event("k", 0, 5, kernel_details=details))
    assert (found.kernel.grid, found.kernel.block, found.kernel.static_shared_bytes) == shape
    assert found.occupancy_percent == 0


def test_the_reference_does_not_read_the_shared_memory_of_amd():
    [found] = kernels(event("k", 0, 5, kernel_details=AMD), classic=True)
    assert found.kernel.static_shared_bytes == 0


def test_what_is_not_a_kernel():
    found = kernels(
        event("short", 0, 0.999, kernel_details=NOW), event("empty", 10, 5, kernel_details=""),
        event("number", 20, 5, kernel_details=7), event("MemcpyH2D", 30, 5),
        event("one", 40, 1, kernel_details=NOW),
        other=[event("host", 0, 5, kernel_details=NOW)],
    )  # fmt: skip
    assert [one.kernel.name for one in found] == ["one"]


def test_kernels_of_several_hosts_are_merged():
    one = kernels(event("k", 0, 5, kernel_details=NOW), event("j", 9, 6, kernel_details=NOW))
    other = kernels(event("k", 0, 2, kernel_details=NOW))
    found = merged_kernels([one, other])
    assert [(t.kernel.name, t.occurrences, t.total_ns, t.min_ns, t.max_ns) for t in found] == [
        ("k", 2, 7, 2, 5), ("j", 1, 6, 6, 6),
    ]  # fmt: skip
    assert merged_kernels([other, one]) == found


@pytest.mark.parametrize(
    "name, ours, reference",
    [
        ("volta_h884gemm_128x64_nn", True, True),
        ("ampere_fp16_s16816gemm_fp16_64x64", True, True),
        ("sm80_xmma_gemm_f16f16", True, True),
        ("sm90_xmma_gemm_f16f16", True, True),
        ("cutlass_80_tensorop_s16816gemm", True, True),
        ("cutlass_80_tensorop_f16_s168gemm", True, False),
        ("sm90_gmma_gemm", True, False),
        ("nvjet_hsh_128x64", True, False),
        ("sm100_tcgen05_gemm", True, False),
        ("Cijk_Ailk_Bljk_HHS_BH_MT64x64x32_MI16x16x16x1_SN", True, True),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SN", False, False),
        ("Cijk_gemm_mfma_f16", True, True),
        ("gemm_fusion_dot_3", True, False),
        ("ampere_sgemm_128x64_nn", False, False),
        ("EigenMetaKernel", False, False),
    ],
)
def test_names_of_kernels_that_use_tensor_cores(name, ours, reference):
    assert uses_tensor_cores(name) is ours
    vendor = "AMD" if name.startswith("Cijk") else "Nvidia"
    assert uses_tensor_cores(name, vendor=vendor) is ours
    assert uses_tensor_cores(name, vendor=vendor, rules=REFERENCE) is reference
    assert not uses_tensor_cores(name, rules=REFERENCE), "of no vendor"


@pytest.mark.parametrize(
    "name",
    ["xmfma", "k_wmma_f16", "foo_xdl", "gtcx2", "gemm_fusion_dot_general_1.kd", "moe_gemm2",
     "moe_mxgemm", "aiter::fmha", "_attn_fwd", "bwd_kernel_dk_dv", "bwd_kernel_dq", "bwd_kernel_da",
     "TileFmhaShape<", "TileFmhaBwdShape<", "_MI16x16x4_", "Cijk_MI16x16x16x1"],
)  # fmt: skip
def test_matrix_kernels_of_amd(name):
    """The expected values are those of xprof 2.24."""
    assert uses_tensor_cores(name, vendor="AMD") and uses_tensor_cores(name)
    assert uses_tensor_cores(name, vendor="AMD", rules=REFERENCE)
    assert not uses_tensor_cores(name, vendor="Nvidia", rules=REFERENCE)


@pytest.mark.parametrize(
    "name",
    ["h884", "xmma_gemm", "16816", "_MI16x16", "MI16x16x16", "TileFmhaShape", "Aiter", "gtc"],
)
def test_other_kernels_of_amd(name):
    assert not uses_tensor_cores(name, vendor="AMD")
    assert not uses_tensor_cores(name, vendor="AMD", rules=REFERENCE)


def test_the_vendor_comes_from_the_device():
    def found(**stats):
        run = event("k_xdl", 0, 5, kernel_details=NOW)
        (times,) = gpu_kernels(timeline_of(xspace(gpu(line(run), stats=stats))), rules=REFERENCE)
        return times.kernel.uses_tensor_cores

    assert found(device_vendor="AMD")
    assert not found(device_vendor="Nvidia")
    assert not found()


@pytest.mark.parametrize(
    "name, equation, ours, reference",
    [
        ("a/Conv2D", "", True, True),
        ("gradients/Conv2DBackpropFilter", "", True, True),
        ("a/MatMul", "", True, True),
        ("MatMul", "", True, False),
        ("a/MatMul_1", "", True, False),
        ("a/SparseMatMul", "", False, False),
        ("a/BatchMatMulV2_3", "", True, True),
        ("a/CudnnRNNV3", "", True, True),
        ("a/dot_general_12", "", True, True),
        ("jit(f)/ragged_dot_general", "", True, True),
        ("a/conv_general_dilatedx", "", True, True),
        ("a/einsum", "ab,bc->ac", True, True),
        ("a/einsum", "ab,bc,cd->ad", False, False),
        ("a/einsum", "ab->ba", False, False),
        ("a/Relu", "", False, False),
        ("", "", False, False),
    ],
)
def test_ops_that_could_use_tensor_cores(name, equation, ours, reference):
    assert is_eligible(name, equation) is ours
    assert is_eligible(name, equation, rules=REFERENCE) is reference


def test_an_op_whose_kernel_uses_tensor_cores_could():
    found = kernels(
        event("k_h884", 0, 5, kernel_details=NOW, tf_op="a/Odd:Odd"),
        event("k_h884", 10, 5, kernel_details=NOW),
    )
    assert [(one.kernel.op_name, one.kernel.is_eligible) for one in found] == [
        ("", False), ("a/Odd", True),
    ]  # fmt: skip
    assert tensor_core_share(found) == {"": (5, 5), "a/Odd": (5, 5)}


def test_no_gpu():
    assert gpu_kernels(timeline_of(xspace(host(line(event("a", 0)))))) == []
