"""Shapes of random numbers and samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, ints, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def shape(op_type: str, *inputs: Tensor, **attrs: Any) -> Any:
    return shapes(SHAPES, call(op_type, *inputs, **attrs))[0]


def test_random_numbers_have_the_shape_asked_for() -> None:
    assert shape("RandomUniform", ints(B, 8)) == (B, 8)
    assert shape("StatefulUniform", Tensor(), scalar(1), ints(B, 8)) == (B, 8)
    assert shape("RandomUniform", Tensor((2,), 3)) == (None, None)
    assert shape("RandomUniform", Tensor(None, 3)) is None
    assert shape("RandomGamma", ints(5), floats(B, 2)) == (5, B, 2)
    assert shape("Multinomial", floats(B, 10), scalar(3)) == (B, 3)


def test_sizes_that_make_no_sense_are_unknown() -> None:
    for op in (
        call("RandomUniform", ints(-1)),
        call("Multinomial", floats(3), scalar(3)),
        call("UniformCandidateSampler", ints(1), num_sampled="x"),
    ):
        with pytest.raises(UnknownError):
            SHAPES[op.type](op)


SEED = np.array([1, 2], np.int64)
KEY = np.array([1], np.uint64)
COUNTER = np.array([1, 2], np.uint64)
CLASSES = np.array([[1, 2], [3, 4]], np.int64)
LIMITS = {"minval": 0, "maxval": 9}
WITH_KEY = {"shape": [2, 3], "key": KEY, "counter": COUNTER, "alg": 1}

CASES = {
    "Random": lambda r, f: [
        r.RandomStandardNormal(shape=[2, 3], dtype=np.float32),
        r.RandomUniform(shape=[2, 3], dtype=np.float32),
        r.RandomUniformInt(shape=[2, 3], **LIMITS),
        r.TruncatedNormal(shape=[2, 3], dtype=np.float32),
        r.ParameterizedTruncatedNormal(
            shape=[2, 3], means=0.0, stdevs=1.0, minvals=-1.0, maxvals=1.0
        ),
        r.NonDeterministicInts(shape=[2, 3]),
    ],
    "StatelessRandom": lambda r, f: [
        r.StatelessRandomNormal(shape=[2, 3], seed=SEED),
        r.StatelessRandomUniform(shape=[2, 3], seed=SEED),
        r.StatelessRandomUniformInt(shape=[2, 3], seed=SEED, **LIMITS),
        r.StatelessRandomUniformFullInt(shape=[2, 3], seed=SEED),
        r.StatelessTruncatedNormal(shape=[2, 3], seed=SEED),
        r.StatelessRandomBinomial(shape=[2, 3], seed=SEED, counts=5.0, probs=0.5),
        r.StatelessRandomPoisson(shape=[2, 3], seed=SEED, lam=1.0, dtype=np.float32),
        r.StatelessRandomGammaV2(shape=[2, 3], seed=SEED, alpha=1.0),
        r.StatelessParameterizedTruncatedNormal(
            shape=[2, 3], seed=SEED, means=0.0, stddevs=1.0, minvals=-1.0, maxvals=1.0
        ),
    ],
    "StatelessRandom V2": lambda r, f: [
        r.StatelessRandomNormalV2(**WITH_KEY),
        r.StatelessRandomUniformV2(**WITH_KEY),
        r.StatelessRandomUniformIntV2(**WITH_KEY, **LIMITS),
        r.StatelessRandomUniformFullIntV2(**WITH_KEY),
        r.StatelessTruncatedNormalV2(**WITH_KEY),
        r.StatelessRandomGammaV3(**WITH_KEY, alpha=1.0),
        r.StatelessShuffle(value=f(CLASSES, 0), key=KEY, counter=COUNTER, alg=1),
    ],
    "For each parameter": lambda r, f: [
        r.RandomGamma(shape=[5], alpha=f(np.ones((2, 3), np.float32), 0)),
        r.RandomPoissonV2(shape=[5], rate=f(np.ones((2, 3), np.float32), 0)),
    ],
    "Multinomial": lambda r, f: [
        r.Multinomial(logits=f(np.ones((2, 3), np.float32), 0), num_samples=4),
        r.StatelessMultinomial(logits=f(np.ones((2, 3), np.float32), 0), num_samples=4, seed=SEED),
    ],
    "Keys": lambda r, f: [
        r.StatelessRandomGetKeyCounter(seed=SEED),
        r.StatelessRandomGetKeyCounterAlg(seed=SEED),
        r.StatelessRandomGetAlg(),
    ],
    "SampleDistortedBoundingBox": lambda r, f: [
        r.SampleDistortedBoundingBoxV2(
            image_size=[9, 9, 3],
            bounding_boxes=np.array([[[0, 0, 1, 1]]], np.float32),
            min_object_covered=0.1,
        ),
        r.StatelessSampleDistortedBoundingBox(
            image_size=[9, 9, 3],
            bounding_boxes=np.array([[[0, 0, 1, 1]]], np.float32),
            min_object_covered=0.1,
            seed=SEED,
        ),
    ],
    "Candidates": lambda r, f: [
        op(true_classes=f(CLASSES, 0), num_true=2, num_sampled=5, unique=True, range_max=99)
        for op in (r.UniformCandidateSampler, r.LogUniformCandidateSampler)
    ],
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case: str) -> None:
    check(CASES[case])


@pytest.mark.tensorflow
def test_generators_are_those_of_tensorflow() -> None:
    def build(raw: Any, feed: Any) -> None:
        state = raw.VarHandleOp(dtype=np.int64, shape=[3])
        raw.AssignVariableOp(resource=state, value=np.array([1, 2, 3], np.int64))
        known = {"resource": state, "algorithm": np.int64(1), "shape": [2, 3]}
        raw.StatefulUniform(**known)
        raw.StatefulUniformInt(**known, **LIMITS)
        raw.StatefulUniformFullInt(**known, dtype=np.int64)
        raw.StatefulStandardNormalV2(**known)
        raw.StatefulTruncatedNormal(**known)
        raw.StatefulRandomBinomial(**known, counts=5.0, probs=0.5)

    check(build, run=False)
