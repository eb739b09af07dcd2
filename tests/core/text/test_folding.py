"""Names in the room of a column: different ones stay different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tfprof.core.text.folding import fitted, folded
from tfprof.core.text.short_names import short_name

EIGEN = (
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
    "Eigen::TensorMap<Eigen::Tensor<{}, 1, 1, long>, 16, Eigen::MakePointer>, "
    "Eigen::GpuDevice>, long>(Eigen::TensorEvaluator<long>, long)"
)
SCOPE = "replica_{}/bert_span_labeler/bert_encoder_1/layer_{}/self_attention/dropout/RandomUniform"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (EIGEN.format("float"), "EigenMetaKernel"),
        ("void tensorflow::functor::Fill<a<b>, c>(a, b)", "Fill"),
        ("void (anonymous namespace)::reduce<float>(float*)", "reduce"),
        ("void cub::Kernel<(int)4, bool>::operator()(int)", "Kernel::operator"),
        ("std::vector<int>", "vector"),
        ("gemm<float, 4>", "gemm"),
        ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", None),
        ("jit(train)/conv1/conv_general_dilated", None),
        ("Iterator::Prefetch::Generator", None),
        ("loop_fusion.3 (f32[2]{0})", None),
        ("a/b<c>::d(e)", None),
        ("<<<", None),
        ("", None),
    ],
)
def test_functions_lose_their_types(name, short):
    assert short_name(name) == (name if short is None else short)


@pytest.mark.parametrize("text", ["<" * 70_000, "a" * 65_000 + "-::(", "void " + "(" * 70_000])
def test_long_names_take_no_time(text):
    assert short_name(text) is text or len(short_name(text)) <= len(text)


def test_what_fits_stays():
    names = ["void f<int>(int)", "Iterator::Prefetch", "a/b"]
    assert fitted(names, [40] * 3) == names


def test_templates_go_first():
    assert fitted([EIGEN.format("float"), "volta_gemm"], [40, 40]) == [
        "EigenMetaKernel",
        "volta_gemm",
    ]


def test_templates_that_differ_are_distinguished():
    names = [EIGEN.format(kind) for kind in ("float", "half", "bool const")]
    shown = fitted(names, [40] * 3)
    assert len(set(shown)) == 3
    for text, kind in zip(shown, ("float", "half", "bool const"), strict=True):
        assert text.startswith("EigenMetaKernel…")
        assert kind in text
        assert cell_len(text) <= 40


@pytest.mark.parametrize("room", [32, 38, 60])
def test_scopes_show_where_they_differ(room):
    names = [SCOPE.format(replica, layer) for replica in (4, 6) for layer in (1, 2, 11, 17)]
    shown = fitted(names, [room] * len(names))
    assert len(set(shown)) == len(names)
    assert all(cell_len(text) <= room for text in shown)
    assert all(text.endswith("niform") for text in shown)


def test_equal_names_look_equal():
    names = [SCOPE.format(4, 1)] * 3
    assert len(set(fitted(names, [30] * 3))) == 1


@given(
    st.lists(st.tuples(st.text(max_size=60), st.integers(0, 50)), max_size=8),
    st.sampled_from(["…", "..."]),
)
def test_nothing_is_wider_than_its_room(pairs, ellipsis):
    names, rooms = [name for name, _ in pairs], [room for _, room in pairs]
    shown = fitted(names, rooms, ellipsis)
    assert len(shown) == len(names)
    for name, room, text in zip(names, rooms, shown, strict=True):
        assert cell_len(text) <= max(room, 0)
        assert text == name or cell_len(name) > room


def test_one_name_is_folded_in_its_middle():
    assert folded("abcdefghij", 5) == "a…hij"
