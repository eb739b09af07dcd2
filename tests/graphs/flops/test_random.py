"""Random numbers: operations per sample, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, scalar
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import UNKNOWN

B, C = Symbolic.named("B"), Symbolic.named("C")


def flops(op_type, *inputs, out=None, **attrs):
    outputs = (floats(*out),) if out is not None else ()
    return cost(None, call(op_type, *inputs, outputs=outputs, **attrs)).flops


@pytest.mark.parametrize(
    ("op_type", "per_sample"),
    [
        ("RandomUniform", 1),
        # two uniforms, log, ·-2, √, ·2π, sin, cos, two products make two samples
        ("StatelessRandomNormalV2", (2 + 8) // 2),
        ("TruncatedNormal", 5 + 2),
        ("RandomGamma", 16),
        ("StatelessRandomPoisson", 14),
        ("SobolSample", 1),
    ],
)
def test_samples(op_type, per_sample):
    assert flops(op_type, UNKNOWN, out=(B, 10)) == 10 * B * per_sample


def test_categorical_samples_search_running_sums():
    made = flops("Multinomial", floats(2, 100), scalar(5), out=(2, 5))
    assert made == 4 * 200 + 10 * (2 + 7)


def test_an_unknown_number_of_classes_is_reported():
    with pytest.raises(UnknownError, match="classes"):
        flops("Multinomial", floats(2, C), scalar(5), out=(2, 5))
