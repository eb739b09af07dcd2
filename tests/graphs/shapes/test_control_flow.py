"""Shapes of what control flow passes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.graphs.calls import call, floats, scalar, shapes
from tests.graphs.shapes.against_tensorflow import check
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.symbolic import Symbolic
from tfprof.graphs.model.tensors import Tensor
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def test_what_meets_has_the_shape_that_all_have() -> None:
    assert shapes(SHAPES, call("Merge", floats(B, 4), floats(B, 4))) == [(B, 4), ()]
    assert shapes(SHAPES, call("Merge", floats(B, 4), floats(8, 4))) == [(None, 4), ()]
    assert shapes(SHAPES, call("Merge", floats(4), floats(8, 4))) == [None, ()]


def test_the_end_of_a_loop_that_is_not_known_yet_is_left_out() -> None:
    assert shapes(SHAPES, call("Merge", floats(B, 4), Tensor())) == [(B, 4), ()]
    assert shapes(SHAPES, call("Merge", Tensor(), Tensor())) == [None, ()]
    assert shapes(SHAPES, call("Merge")) == [None, ()]


def test_switches_pass_on_to_every_side() -> None:
    assert shapes(SHAPES, call("Switch", floats(B), scalar(True))) == [(B,), (B,)]
    assert shapes(SHAPES, call("_SwitchN", floats(B), scalar(1), num_outs=3)) == [(B,)] * 3
    with pytest.raises(UnknownError):
        shapes(SHAPES, call("_SwitchN", floats(B), scalar(1)))


@pytest.mark.tensorflow
def test_a_loop_and_a_choice_are_those_of_tensorflow() -> None:
    import tensorflow as tf

    def build(raw: Any, feed: Any) -> None:
        images = feed(np.ones((2, 3), np.float32), 0)
        tf.compat.v1.disable_control_flow_v2()
        try:
            tf.compat.v1.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, images))
            tf.compat.v1.cond(feed(np.bool_(True)), lambda: images + 1, lambda: images * 2)
        finally:
            tf.compat.v1.enable_control_flow_v2()

    check(build)
