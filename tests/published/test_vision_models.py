"""Multiply-adds of well-known architectures against the figures that were published.

The convention of all these sources: a multiply-add of a convolution or dense layer is one; what
normalizations, activations, pooling and additions do is left out. That is ``macs``. Some of them
call it FLOPs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

import tfprof
from tests.published.conftest import Application
from tfprof.model.symbolic import Symbolic

pytestmark = pytest.mark.tensorflow

HE = "He et al. 2016, Deep Residual Learning for Image Recognition, §1 and table 1 (FLOPs)"
ZOPH = "Zoph et al. 2018, Learning Transferable Architectures, tables 2 and 3 (Mult-Adds)"
HOWARD_V1 = "Howard et al. 2017, MobileNets, table 4 (Million Mult-Adds)"
SANDLER = "Sandler et al. 2018, MobileNetV2, table 4 (MAdds)"
HOWARD_V3 = "Howard et al. 2019, Searching for MobileNetV3, table 3 (MAdds)"
TAN = "Tan & Le 2019, EfficientNet, table 2 (#FLOPs)"
LIU = "Liu et al. 2022, A ConvNet for the 2020s, table 1 (FLOPs)"
TORCHVISION = "pytorch/vision, torchvision/models/*.py, `_ops` of the weights (GFLOPS)"


class Published(NamedTuple):
    """A figure with its source.

    Attributes:
        multiply_adds: The figure.
        source: Who says so.
        torchvision: Giga-multiply-adds in all the digits of torchvision, where its architecture
            and image size are those of Keras.
        input_shape: Of the Keras model, if its default has open sizes.
    """

    multiply_adds: float
    source: str
    torchvision: str = ""
    input_shape: tuple[int, ...] | None = None


PUBLISHED = {
    # VGG-16 has 15.47 G with its dense layers; 15.3 is its convolutions. VGG-19 is given whole.
    "VGG16": Published(15.3e9, HE, "15.470"),
    "VGG19": Published(19.6e9, HE, "19.632"),
    # The table cuts 3.858 off to 3.8.
    "ResNet50": Published(3.8e9, HE),
    "ResNet101": Published(7.6e9, HE),
    "ResNet152": Published(11.3e9, HE),
    "InceptionV3": Published(5.72e9, ZOPH, "5.713"),
    "InceptionResNetV2": Published(13.2e9, ZOPH),
    "Xception": Published(8.38e9, ZOPH),
    "NASNetMobile": Published(564e6, ZOPH),
    "MobileNet": Published(569e6, HOWARD_V1),
    "MobileNetV2": Published(300e6, SANDLER, "0.301"),
    "MobileNetV3Large": Published(219e6, HOWARD_V3, "0.217", (224, 224, 3)),
    "MobileNetV3Small": Published(56e6, HOWARD_V3, "0.057", (224, 224, 3)),
    "EfficientNetB0": Published(0.39e9, TAN, "0.386"),
    "EfficientNetB1": Published(0.70e9, TAN, "0.687"),
    "EfficientNetB2": Published(1.0e9, TAN),
    "EfficientNetB3": Published(1.8e9, TAN, "1.827"),
    # The paper has a plot only (figure 3, right).
    "DenseNet121": Published(2.834e9, TORCHVISION, "2.834"),
    "DenseNet169": Published(3.36e9, TORCHVISION, "3.360"),
    "DenseNet201": Published(4.291e9, TORCHVISION, "4.291"),
    "ConvNeXtTiny": Published(4.5e9, LIU, "4.456"),
}

Build = Callable[..., Application]


@pytest.fixture(params=PUBLISHED)
def name(request: Any) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, application: Build) -> Application:
    return application(name, PUBLISHED[name].input_shape)


def test_multiply_adds_are_the_published_ones(name: str, model: Application) -> None:
    published = PUBLISHED[name]
    assert model.one.macs == pytest.approx(published.multiply_adds, rel=0.02), published.source
    if published.torchvision:
        assert f"{model.one.macs / 1e9:.3f}" == published.torchvision


def test_multiply_adds_are_those_of_convolutions_and_dense_layers(model: Application) -> None:
    with_macs = {row.node.kind.op for row in model.one.ops if row.macs}
    assert "Conv2D" in with_macs
    assert with_macs <= {"Conv2D", "DepthwiseConv2dNative", "MatMul"}


def test_every_op_is_counted_or_free(model: Application) -> None:
    assert model.one.coverage == 1
    assert model.one.uncounted == {}
    assert model.one.notes == ()


def test_the_same_question_has_the_same_answer(model: Application) -> None:
    assert model.again.flops == model.one.flops
    assert model.again.to_rows() == model.one.to_rows()
    assert model.again.explain() == model.one.explain()


def test_a_batch_of_four_does_four_times_as_much(model: Application) -> None:
    any_batch = tfprof.flops(model.graph)
    assert isinstance(any_batch.flops, Symbolic)
    assert any_batch.flops.symbols == any_batch.macs.symbols == ("B",)
    assert any_batch.macs.bind({"B": 4}) == 4 * model.one.macs
    assert any_batch.flops.bind({"B": 1}) == model.one.flops
    four = tfprof.flops(model.graph, batch=4)
    assert four.flops == any_batch.flops.bind({"B": 4})
    assert four.macs == 4 * model.one.macs
    assert any_batch.coverage == four.coverage == 1
    # What normalizations do with their statistics alone is done once for a batch.
    once = 4 * model.one.flops - four.flops
    assert 0 <= once < 0.01 * four.flops


VGG = {"VGG16": (2, 2, 3, 3, 3), "VGG19": (2, 2, 4, 4, 4)}
"""Convolutions of each block: Simonyan & Zisserman 2015, table 1, columns D and E."""


@pytest.mark.parametrize("name", VGG)
def test_vgg_layer_by_layer(name: str, application: Build) -> None:
    macs, size, depth = 0, 224, 3
    for n_layers, width in zip(VGG[name], (64, 128, 256, 512, 512), strict=True):
        for _ in range(n_layers):
            macs += size**2 * 3 * 3 * depth * width
            depth = width
        size //= 2
    dense = 7 * 7 * 512 * 4096 + 4096 * 4096 + 4096 * 1000
    report = application(name).one
    assert report.macs == macs + dense
    assert report.by_type["Conv2D"] == 2 * macs
    assert report.by_type["MatMul"] == 2 * dense


RESNETS = {
    "ResNet50": ((3, 4, 6, 3), "4.089"),
    "ResNet101": ((3, 4, 23, 3), "7.801"),
    "ResNet152": ((3, 8, 36, 3), "11.514"),
}
"""Blocks of each stage (He et al. 2016, table 1), and torchvision's giga-multiply-adds."""


def resnet_macs(n_blocks: Sequence[int], stride_in_3x3: bool = False) -> int:
    """Bottleneck blocks; shortcuts of the first of a stage are projected (option B)."""
    macs = 112**2 * 7 * 7 * 3 * 64
    size, depth = 56, 64
    for stage, n in enumerate(n_blocks):
        width = 64 * 2**stage
        for block in range(n):
            before = size
            if stage and not block:
                size //= 2
            macs += (before if stride_in_3x3 else size) ** 2 * depth * width
            macs += size**2 * (3 * 3 * width * width + width * 4 * width)
            if not block:
                macs += size**2 * depth * 4 * width
            depth = 4 * width
    return macs + 2048 * 1000


@pytest.mark.parametrize("name", RESNETS)
def test_resnet_layer_by_layer(name: str, application: Build) -> None:
    n_blocks, torchvision = RESNETS[name]
    assert application(name).one.macs == resnet_macs(n_blocks)
    # torchvision has the stride in the 3 × 3 convolution, which is why its figure is larger.
    assert f"{resnet_macs(n_blocks, stride_in_3x3=True) / 1e9:.3f}" == torchvision


MOBILENET = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
MOBILENET += [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
"""Width and stride of each separable layer: Howard et al. 2017, table 1."""


def test_mobilenet_layer_by_layer(application: Build) -> None:
    depthwise, pointwise = 0, 112**2 * 3 * 3 * 3 * 32
    size, depth = 112, 32
    for width, stride in MOBILENET:
        size //= stride
        depthwise += size**2 * 3 * 3 * depth
        pointwise += size**2 * depth * width
        depth = width
    report = application("MobileNet").one
    assert report.by_type["DepthwiseConv2dNative"] == 2 * depthwise
    assert report.by_type["Conv2D"] == 2 * (pointwise + 1024 * 1000)  # the head is a convolution
