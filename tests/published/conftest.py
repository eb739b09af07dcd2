"""Architectures of Keras Applications, each built and counted once in a test run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.model_graphs import traced
from tfprof.graphs.live.traced_graph import TracedGraph
from tfprof.graphs.reports.report import FlopsReport

LARGE = (
    "DenseNet169",
    "DenseNet201",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "InceptionResNetV2",
    "MobileNetV3Large",
    "NASNetMobile",
    "ResNet101",
    "ResNet152",
    "ResNet50V2",
    "ResNet101V2",
    "VGG19",
)
"""Architectures that are traced only once, to save time: most have a sibling of the same layers."""

AGAIN = ("MobileNet", "MobileNetV2", "MobileNetV3Small", "VGG16", "Xception")
"""Architectures whose report is made twice, which takes as long as to trace them once more."""


def in_one_process(names: Iterable[str]) -> list[Any]:
    """Names as parameters: ``pytest --dist loadgroup`` builds each architecture in one process."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]


class Application(NamedTuple):
    """The results for an architecture; the model itself, with all its weights, is dropped.

    Attributes:
        traced: Its graph, the batch left open.
        one: The model's report for a batch of one; that of its graph, if it is large.
        again: The model's report, made once more; None unless it is in ``AGAIN``.
        n_params, n_trainable: Parameters, as Keras counts them.
    """

    traced: TracedGraph
    one: FlopsReport
    again: FlopsReport | None
    n_params: int
    n_trainable: int

    @property
    def graph(self) -> Any:
        """The graph as a message."""
        return pb.GraphDef.FromString(self.traced.graph)


@pytest.fixture(scope="session")
def application() -> Callable[..., Application]:
    """A function from the name in ``keras.applications``, and the shape of its images."""
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")

    @functools.cache
    def built(name: str, input_shape: tuple[int, ...] | None) -> Application:
        model = getattr(keras.applications, name)(weights=None, input_shape=input_shape)
        graph = traced(model)
        assert graph is not None
        message = pb.GraphDef.FromString(graph.graph)
        return Application(
            graph,
            tfprof.flops(message if name in LARGE else model, batch=1),
            tfprof.flops(model, batch=1) if name in AGAIN else None,
            model.count_params(),
            sum(math.prod(each.shape) for each in model.trainable_weights),
        )

    return lambda name, input_shape=None: built(name, input_shape)
