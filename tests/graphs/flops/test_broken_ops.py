"""Ops that contradict their definition: reported, never counted by nonsense, never a crash."""

import pytest

from tests.graphs.calls import call, floats, ints
from tfprof.graphs.flops.registry import FORMULAS
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN, Handle, Tensor
from tfprof.graphs.shapes.infer import MISFITS, SHAPES

B = Symbolic.named("B")

INPUTS = {
    "none": (),
    "unknown": (UNKNOWN,) * 16,
    "scalars": (floats(),) * 16,
    "vectors": (floats(B),) * 16,
    "empty": (floats(0, 0, 0),) * 16,
    "huge": (floats(10**400, 10**400),) * 16,
    "values": (ints(-1, 10**30),) * 16,
    "handles": (Tensor((), 21, None, Handle(None)),) * 16,
}
ATTRS = {
    "missing": {},
    "of wrong kind": dict.fromkeys(
        (
            *("data_format", "is_training", "k", "boundaries", "op_names", "fused_ops", "method"),
            *("num_side_inputs", "top_paths", "beam_width", "group_size", "reduction_axes"),
            *("window_size", "stride", "rnn_mode", "num_proj", "depth_radius", "num_split"),
            *("num_params", "kernel_type", "reduction_dimension", "cell_clip", "direction"),
        ),
        (None, "x", 1.5),
    ),
    "negative": dict.fromkeys(
        (
            *("k", "num_side_inputs", "top_paths", "beam_width", "group_size", "window_size"),
            *("stride", "num_proj", "depth_radius", "num_split", "num_params", "num_devices"),
            *("num_negative_samples", "filterbank_channel_count", "dct_coefficient_count"),
        ),
        -7,
    ),
    "too big": dict.fromkeys(
        (
            *("k", "num_side_inputs", "top_paths", "beam_width", "group_size", "window_size"),
            *("stride", "num_proj", "depth_radius", "num_split", "num_params", "batch_size"),
            *("num_devices", "reduction_dimension", "post_nms_topn", "dct_coefficient_count"),
        ),
        10**18,
    ),
}


@pytest.mark.parametrize("attrs", ATTRS.values(), ids=ATTRS)
@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
def test_a_broken_op_is_reported_by_an_error_that_the_engine_expects(inputs, attrs):
    expected = (UnknownError, *MISFITS)
    for op_type, formula in FORMULAS.items():
        op = call(op_type, *inputs, **attrs)
        outputs = ()
        try:
            shapes = SHAPES[op_type](op) if op_type in SHAPES else []
            outputs = tuple(Tensor(None if s is None or None in s else s, 1) for s in shapes)
        except expected:
            pass
        for known in (outputs, (floats(B),) * 8):
            try:
                made = formula.cost(call(op_type, *inputs, outputs=known, **attrs))
            except expected:
                continue
            for count in (made.macs, made.other):
                assert isinstance(count, Symbolic) or count >= 0, op_type
