"""Architectures of Keras Applications, each built and counted once in a test run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tfprof
from tfprof.capture.model_graphs import traced
from tfprof.capture.traced_graph import TracedGraph
from tfprof.costs.report import FlopsReport


class Application(NamedTuple):
    """What is asked of an architecture; the model itself, with all its weights, is let go.

    Attributes:
        graph: Its graph, the batch left open.
        one, again: The report of a batch of one, asked for twice.
        open: The report of a batch that nobody tells.
        n_params, n_trainable: Parameters, as Keras counts them.
    """

    graph: TracedGraph
    one: FlopsReport
    again: FlopsReport
    open: FlopsReport
    n_params: int
    n_trainable: int


@pytest.fixture(scope="session")
def application() -> Callable[..., Application]:
    """A function from the name in ``keras.applications``, and arguments of it."""
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")

    @functools.cache
    def built(name: str, **arguments: Any) -> Application:
        model = getattr(keras.applications, name)(weights=None, **arguments)
        graph = traced(model)
        assert graph is not None
        return Application(
            graph,
            tfprof.flops(model, batch=1),
            tfprof.flops(model, batch=1),
            tfprof.flops(model),
            model.count_params(),
            sum(math.prod(each.shape) for each in model.trainable_weights),
        )

    return built
