"""TensorFlow, and a small graph to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@pytest.fixture(scope="session")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@dataclass(frozen=True)
class Model:
    """A graph that counts its own runs; little of it runs, so its coverage stays low."""

    graph: Any
    initialize: Any
    train: Any
    loss: Any


@pytest.fixture
def make_model(tf: Any) -> Any:
    def make(name: str = "model") -> Model:
        v1 = tf.compat.v1
        graph = tf.Graph()
        with graph.as_default(), v1.variable_scope(name):
            weights = v1.get_variable("weights", [4], initializer=v1.ones_initializer())
            loss = tf.reduce_sum(weights * weights, name="loss")
            train = v1.assign_add(weights, tf.ones([4]), name="train")
            for index in range(20):
                tf.constant(index, name=f"unused_{index}")
            return Model(graph, v1.global_variables_initializer(), train, loss)

    return make


@pytest.fixture
def model(make_model: Any) -> Model:
    made: Model = make_model()
    return made
