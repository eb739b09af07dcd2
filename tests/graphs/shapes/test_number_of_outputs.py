"""Every rule gives one shape for each output that TensorFlow's definition of the op has."""

import pytest

from tests.graphs.calls import call, floats, ints
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.tensors import Handle, Tensor
from tfprof.graphs.shapes.infer import MISFITS, SHAPES

MATRIX = Tensor((), 21, None, Handle((4, 4), 1, 4))
INPUTS = (
    *((floats(*[4] * rank),) * 20 for rank in (1, 2, 3, 4)),
    (ints(0),) * 20,
    (MATRIX, MATRIX, floats(2)),
    (MATRIX, floats(4, 4)),
    (floats(4, 2), *[floats(4)] * 9),
    (floats(4), floats(4, 4, 4), *[floats(4, 4)] * 9),
    (floats(4, 4, 4), floats(4, 4, 4), floats(4, 4, 4), floats(4, 4)),
)
ATTRS = {"window_size": 8, "stride": 2, "batch_size": 2}


def answers(rule, op_type):
    for inputs in INPUTS:
        try:
            yield list(rule(call(op_type, *inputs, **ATTRS)))
        except (UnknownError, *MISFITS):
            continue


@pytest.mark.tensorflow
def test_rules_give_one_shape_for_each_output():
    from tensorflow.python.framework import op_def_registry

    answered = 0
    plain = {name: rule for name, rule in SHAPES.items() if "_Mkl" not in name}  # no layouts
    for op_type, rule in plain.items():
        op_def = op_def_registry.get(op_type)
        outputs = () if op_def is None else op_def.output_arg
        if op_def is None or any(arg.number_attr or arg.type_list_attr for arg in outputs):
            continue
        made = {len(shapes) for shapes in answers(rule, op_type)}
        assert made <= {len(outputs)}, op_type
        answered += bool(made)
    assert answered > 700


def test_attributes_may_say_how_many_outputs_there_are():
    image, channels = floats(2, 4, 4, 3), floats(3)
    op = call("_FusedBatchNormGradEx", image, image, channels, num_side_inputs=1)
    assert len(SHAPES[op.type](op)) == 6
    op = call("CTCBeamSearchDecoder", floats(5, 2, 3), top_paths=3)
    assert len(SHAPES[op.type](op)) == 3 * 3 + 1
    op = call("SparseSplit", ints(0), *[floats(4, 2), floats(4), floats(2)], num_split=3)
    assert len(SHAPES[op.type](op)) == 3 * 3
    counts = {"num_params_weights": 3, "num_params_biases": 2}
    op = call("CudnnRNNParamsToCanonicalV2", **counts)
    assert len(SHAPES[op.type](op)) == 5
