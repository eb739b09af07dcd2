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
from tests.published.conftest import AGAIN, Application, in_one_process
from tests.published.derivations import SOFTMAX, Work, conv, dense, elementwise
from tfprof.graphs.model.symbolic import Symbolic

pytestmark = [pytest.mark.tensorflow, pytest.mark.models]

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


@pytest.fixture(params=in_one_process(PUBLISHED))
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


@pytest.mark.parametrize("name", in_one_process(AGAIN))
def test_the_same_question_has_the_same_answer(name: str, model: Application) -> None:
    assert model.again is not None
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


@pytest.mark.xdist_group("MobileNetV3Small")
def test_an_image_size_that_the_model_leaves_open(application: Build) -> None:
    keras = pytest.importorskip("keras")
    model = keras.applications.MobileNetV3Small(weights=None)
    assert model.input_shape == (None, None, None, 3)
    known = application("MobileNetV3Small", (224, 224, 3)).one
    given = tfprof.flops(model, input_shapes=(1, 224, 224, 3))
    assert (given.flops, given.macs) == (known.flops, known.macs)
    (image,) = (each.name for each in model.inputs)
    of_any_image = tfprof.flops(model, batch=1)
    assert of_any_image.coverage == 1
    sizes = {f"{image}[1]": 224, f"{image}[2]": 224}
    assert of_any_image.flops.bind(sizes) == known.flops


SOFTMAX_1000 = elementwise(1000, SOFTMAX)

VGG = {"VGG16": (2, 2, 3, 3, 3), "VGG19": (2, 2, 4, 4, 4)}
"""Convolutions of each block: Simonyan & Zisserman 2015, table 1, columns D and E."""


@pytest.mark.parametrize("name", in_one_process(VGG))
def test_vgg_layer_by_layer(name: str, application: Build) -> None:
    convs, others, size, depth = Work(), Work(), 224, 3
    for n_layers, width in zip(VGG[name], (64, 128, 256, 512, 512), strict=True):
        for _ in range(n_layers):
            convs += conv(size**2 * width, (3, 3), depth, bias=False)
            others += elementwise(size**2 * width, 1 + 1)  # bias, ReLU
            depth = width
        size //= 2
        others += elementwise(size**2 * width, 2 * 2)  # max pooling
    products = Work(7 * 7 * 512 * 4096 + 4096 * 4096 + 4096 * 1000)
    others += elementwise(4096 + 4096, 1 + 1) + elementwise(1000) + SOFTMAX_1000
    report = application(name).one
    assert report.by_type["Conv2D"] == convs.flops
    assert report.by_type["MatMul"] == products.flops
    assert report.macs == (convs + products).macs
    assert report.flops == (convs + products + others).flops


RESNETS = {
    "ResNet50": ((3, 4, 6, 3), "4.089"),
    "ResNet101": ((3, 4, 23, 3), "7.801"),
    "ResNet152": ((3, 8, 36, 3), "11.514"),
}
"""Blocks of each stage (He et al. 2016, table 1), and torchvision's giga-multiply-adds."""


def resnet(n_blocks: Sequence[int], stride_in_3x3: bool = False) -> Work:
    """Bottleneck blocks; shortcuts of the first of a stage are projected (option B)."""
    work = conv_norm(112, 7, 3, 64) + relu(112, 64)
    work += elementwise(56**2 * 64, 3 * 3)  # max pooling
    size, depth = 56, 64
    for stage, n in enumerate(n_blocks):
        width = 64 * 2**stage
        for block in range(n):
            before = size
            if stage and not block:
                size //= 2
            first = before if stride_in_3x3 else size
            work += conv_norm(first, 1, depth, width) + relu(first, width)
            work += conv_norm(size, 3, width, width) + relu(size, width)
            work += conv_norm(size, 1, width, 4 * width)
            if not block:
                work += conv_norm(size, 1, depth, 4 * width)
            work += elementwise(size**2 * 4 * width) + relu(size, 4 * width)  # residual
            depth = 4 * width
    mean = elementwise(2048, 7 * 7 - 1 + 1)
    return work + mean + dense(1, 2048, 1000) + SOFTMAX_1000


def conv_norm(size: int, window: int, depth: int, width: int) -> Work:
    """Convolution with bias, and batch norm as in ``test_layers``."""
    n = size**2 * width
    return conv(n, (window, window), depth) + elementwise(n, 2) + elementwise(width, 6)


def relu(size: int, width: int) -> Work:
    return elementwise(size**2 * width)


@pytest.mark.parametrize("name", in_one_process(RESNETS))
def test_resnet_layer_by_layer(name: str, application: Build) -> None:
    n_blocks, torchvision = RESNETS[name]
    report = application(name).one
    assert report.macs == resnet(n_blocks).macs
    assert report.flops == resnet(n_blocks).flops
    # torchvision has the stride in the 3 × 3 convolution, which is why its figure is larger.
    assert f"{resnet(n_blocks, stride_in_3x3=True).macs / 1e9:.3f}" == torchvision


MOBILENET = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
MOBILENET += [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
"""Width and stride of each separable layer: Howard et al. 2017, table 1."""


@pytest.mark.xdist_group("MobileNet")
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
