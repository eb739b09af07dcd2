"""Totals of whole models against their derivation by hand (``models.py``), exactly."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tests.published.checked import check
from tests.published.derivations import Work, lstm_step
from tests.published.models import (
    BATCH,
    CONVNET_OF_TF_KERAS,
    ENCODER,
    MODELS,
    TAGGER,
    UNET,
    encoder,
    tagger,
    unet,
)
from tfprof.core.wire import messages as pb
from tfprof.graphs.live.model_graphs import traced

pytestmark = [pytest.mark.tensorflow, pytest.mark.models]


@pytest.fixture(scope="module")
def model() -> Any:
    """A function that makes a model of ``MODELS`` by name, each once."""
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    return functools.cache(lambda name: MODELS[name][0](keras))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_keras_3(name: str, model: Any) -> None:
    check(model(name), MODELS[name][1])


OF_TF_KERAS = {"U-Net": UNET, "LSTM tagger": TAGGER, "convnet": CONVNET_OF_TF_KERAS}


@pytest.mark.parametrize("name", OF_TF_KERAS)
def test_a_model_of_tf_keras(name: str) -> None:
    keras = pytest.importorskip("tf_keras")
    check(MODELS[name][0](keras), OF_TF_KERAS[name])


OPEN_SIZES: dict[str, tuple[Callable[..., Any], Work, dict[str, int], str]] = {
    "transformer encoder": (
        encoder, ENCODER, {"x[1]": 6},
        # Of each row of scores 2 products of 8 multiply-adds, 2 heads of a scale and a softmax.
        f"{2 * 2 * 8 + 2 * (1 + 5)}·B·x[1]^2 + 1,328·B·x[1]",
    ),
    "LSTM tagger": (
        tagger, TAGGER, {"tokens[1]": 7},
        f"{TAGGER.flops // (BATCH * 7):,}·B·tokens[1]",
    ),
    "U-Net": (
        unet, UNET, {"image[1]": 16, "image[2]": 16},
        "5,536·B·floor(image[1] / 2)·floor(image[2] / 2) + "
        "8,064·B·floor(image[1] / 4)·floor(image[2] / 4) + 1,409·B·image[1]·image[2]",
    ),
}  # fmt: skip
"""Function that makes the model, work of one batch, sizes of that, and how it depends on them."""


@pytest.mark.parametrize("name", OPEN_SIZES)
def test_sizes_that_the_model_leaves_open(name: str) -> None:
    keras = pytest.importorskip("keras")
    make, work, sizes, text = OPEN_SIZES[name]
    model = make(keras, None)
    report = tfprof.flops(model)
    assert str(report.flops) == text
    assert report.notes == ()
    assert report.coverage == 1
    assert report.flops.bind({"B": BATCH, **sizes}) == work.flops
    assert report.macs.bind({"B": BATCH, **sizes}) == work.macs
    (given,) = model.inputs
    of_known = tfprof.flops(
        model, input_shapes=(BATCH, *sizes.values(), *given.shape[1 + len(sizes) :])
    )
    assert (of_known.flops, of_known.macs) == (work.flops, work.macs)


@pytest.mark.parametrize("name", MODELS)
def test_scopes_and_op_types_add_up_to_the_whole(name: str, model: Any) -> None:
    report = tfprof.flops(model(name), batch=BATCH)
    assert sum(report.by_type.values()) == report.flops
    assert sum(row["flops"] or 0 for row in report.to_rows()) == report.flops
    assert sum(row["macs"] or 0 for row in report.to_rows()) == report.macs
    assert report.by_scope[""] == report.by_phase["forward"] == report.flops
    in_macs = tfprof.flops(model(name), batch=BATCH, convention="macs")
    assert in_macs.total == sum(in_macs.by_type.values()) == report.macs


READ_WITHOUT_TENSORFLOW = """
import sys
sys.modules["tensorflow"] = None
import tfprof
for path, batch in zip(sys.argv[2::2], sys.argv[3::2]):
    report = tfprof.flops(path, batch=int(batch))
    print(report.flops, report.macs, report.coverage, len(report.uncounted), len(report.notes))
"""


def read_without_tensorflow(*paths: Path) -> list[list[str]]:
    arguments = [word for path in paths for word in (str(path), str(BATCH))]
    run = subprocess.run(
        [sys.executable, "-c", READ_WITHOUT_TENSORFLOW, "-", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [line.split() for line in run.stdout.splitlines()]


@pytest.mark.parametrize("name", MODELS)
def test_files_say_the_same_without_tensorflow(name: str, model: Any, tmp_path: Path) -> None:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    exported, frozen = tmp_path / "model", tmp_path / "frozen.pb"
    model(name).export(str(exported), verbose=False)
    (spec,) = (tf.TensorSpec([BATCH, *each.shape[1:]], each.dtype) for each in model(name).inputs)
    function = tf.function(lambda x: model(name)(x, training=False)).get_concrete_function(spec)
    constants = convert_variables_to_constants_v2(function, lower_control_flow=False)
    frozen.write_bytes(constants.graph.as_graph_def().SerializeToString())
    work = MODELS[name][1]
    expected = [str(work.flops), str(work.macs), "1.0", "0", "0"]
    assert read_without_tensorflow(exported, frozen) == [expected, expected]


def test_saved_models_of_tf_keras_without_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf

    keras = pytest.importorskip("tf_keras")
    names = ("U-Net", "convnet")  # saving an LSTM takes much time
    for name in names:
        tf.saved_model.save(MODELS[name][0](keras), str(tmp_path / name))
    assert read_without_tensorflow(*(tmp_path / name for name in names)) == [
        [str(OF_TF_KERAS[name].flops), str(OF_TF_KERAS[name].macs), "1.0", "0", "0"]
        for name in names
    ]


def test_a_bare_graph_counts_ops_that_are_not_fetched(model: Any) -> None:
    result = traced(model("LSTM tagger"))
    assert result is not None
    report = tfprof.flops(pb.GraphDef.FromString(result.graph), batch=BATCH)
    # Keras traces one step before the loop to learn its shapes. A graph that does not say what is
    # fetched does not tell that this is for nothing.
    unused = 2 * lstm_step(BATCH, 4, 5) + 2 * lstm_step(BATCH, 5 + 5, 3)
    assert report.macs == TAGGER.macs + unused.macs
    assert report.flops == TAGGER.flops + unused.flops
