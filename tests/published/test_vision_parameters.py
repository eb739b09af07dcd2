"""Parameters of well-known architectures against the numbers that Keras publishes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.published.conftest import Application, in_one_process
from tfprof.graphs.costs.graph_variables import variables_of_graph
from tfprof.graphs.costs.params import params_report
from tfprof.graphs.read.program import read_program

pytestmark = [pytest.mark.tensorflow, pytest.mark.models]

PUBLISHED = {
    "Xception": 22_910_480,
    "VGG16": 138_357_544,
    "VGG19": 143_667_240,
    "ResNet50": 25_636_712,
    "ResNet101": 44_707_176,
    "ResNet152": 60_419_944,
    "ResNet50V2": 25_613_800,
    "ResNet101V2": 44_675_560,
    "InceptionV3": 23_851_784,
    "InceptionResNetV2": 55_873_736,
    "MobileNet": 4_253_864,
    "MobileNetV2": 3_538_984,
    "DenseNet121": 8_062_504,
    "DenseNet169": 14_307_880,
    "DenseNet201": 20_242_984,
    "NASNetMobile": 5_326_716,
    "EfficientNetB0": 5_330_571,
    "EfficientNetB1": 7_856_239,
    "EfficientNetB2": 9_177_569,
    "EfficientNetB3": 12_320_535,
}
"""Column "Parameters" of the table at https://keras.io/api/applications, when it gave all digits
(keras-team/keras-io, templates/api/applications/index.md, commit 01b6d6c)."""

UNREAD = dict.fromkeys([name for name in PUBLISHED if name.startswith("EfficientNet")], 3 + 3 + 1)
"""Mean, variance and count of a Normalization layer, which computes with constants made of them."""


@pytest.mark.parametrize("name", in_one_process(PUBLISHED))
def test_parameters_are_the_published_ones(
    name: str, application: Callable[..., Application]
) -> None:
    model = application(name)
    report = params_report(model.traced.variables or ())
    assert report.total == int(report) == PUBLISHED[name] == model.n_params
    assert report.trainable == model.n_trainable
    assert report.unknown == 0
    assert report.bytes == 4 * PUBLISHED[name] + (4 if name in UNREAD else 0)  # an int64 count
    # The graph gives the same without the model, except variables that inference does not read.
    program = read_program(model.graph)
    declared = variables_of_graph(program.body, None, program.function)
    assert params_report(declared.variables).total == PUBLISHED[name] - UNREAD.get(name, 0)
