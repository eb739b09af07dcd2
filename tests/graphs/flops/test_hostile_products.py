"""Products, windows and quantized kernels in graphs that make no sense."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.graphs.flops.registry import FORMULAS, FREE
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import MISFITS, SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

_SIZES = st.one_of(st.integers(0, 9), st.integers(0, 1 << 62), st.just(Symbolic.named("B")))
_SHAPES = st.none() | st.lists(_SIZES, max_size=6).map(tuple)
_VALUES = st.none() | st.lists(
    st.one_of(st.none(), st.integers(-9, 9), st.just(Symbolic.named("B")), st.floats()), max_size=8
).map(tuple)
_TENSORS = st.builds(Tensor, _SHAPES, st.integers(0, 25), _VALUES)
_NUMBERS = st.lists(st.integers(-2, 9), max_size=8).map(tuple)
_ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.binary(max_size=8)
)
_NAMES = (
    *("strides", "dilations", "rates", "ksize", "padding", "explicit_paddings", "padding_list"),
    *("data_format", "filter_format", "fused_ops", "equation", "batch_dims", "num_args", "N"),
    *("dimension_numbers", "dimensions_to_reduce", "num_splits", "num_concats", "paddings"),
    *("pooling_ratio", "window_strides", "padding", "batch_group_count", "axis"),
)
_ATTRS = st.dictionaries(
    st.sampled_from(_NAMES),
    st.one_of(
        _ANYTHING,
        _NUMBERS,
        st.sampled_from(["SAME", "VALID", "EXPLICIT", "NCHW", "NHWC", "ij,jk->ik", "...->"]),
        st.lists(st.floats(), max_size=5).map(tuple),
        st.lists(st.sampled_from(["BiasAdd", "Relu", "?"]), max_size=3).map(tuple),
    ),
)


@given(
    st.sampled_from(sorted(FORMULAS)),
    st.lists(_TENSORS, max_size=8).map(tuple),
    st.lists(_TENSORS, max_size=3).map(tuple),
    _ATTRS,
)
def test_nonsense_raises_only_what_the_engine_expects(
    op_type: str, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], attrs: dict[str, Any]
) -> None:
    op = OpCall(op_type, inputs, outputs, attrs, (1,))
    for answer in (SHAPES[op_type], FORMULAS[op_type].cost):
        try:
            answer(op)
        except (UnknownError, *MISFITS):
            continue


@pytest.mark.parametrize("op_type", sorted(FORMULAS))
def test_ops_without_inputs_and_attributes_have_no_count(op_type: str) -> None:
    with pytest.raises((UnknownError, *MISFITS)):
        FORMULAS[op_type].cost(OpCall(op_type, ()))


@pytest.mark.parametrize("op_type", sorted(FORMULAS))
def test_formulas_say_where_they_come_from(op_type: str) -> None:
    formula = FORMULAS[op_type]

    assert formula.rule and formula.source
    assert formula.why.endswith((".", "element"))


@pytest.mark.tensorflow
def test_every_product_and_window_of_tensorflow_has_a_count() -> None:
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    listed = op_def_pb2.OpList.FromString(
        pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    )
    words = ("Conv2D", "Conv3D", "Conv2d", "MatMul", "Pool", "Einsum", "FakeQuant", "Dilation2D")
    elsewhere = ("Sparse", "Tridiagonal", "ThreadPool", "Risc")
    names = {
        op.name
        for op in listed.op
        if any(word in op.name for word in words) and not any(word in op.name for word in elsewhere)
    }

    assert len(names) > 150
    assert sorted(names - FORMULAS.keys() - FREE.keys()) == []
    assert sorted(names - SHAPES.keys()) == []
