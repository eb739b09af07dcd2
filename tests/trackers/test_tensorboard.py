"""Scalars for TensorBoard, read by TensorBoard's own reader."""

import math
import struct

import pytest

import tfprof
from tests.captures.tools.oracle import run_of
from tests.full_disk import files_of_at_most
from tfprof.errors import InputError, UsageError
from tfprof.files.events import read_events
from tfprof.insight.budgets.key_figures import key_figures
from tfprof.trackers.content import key_values
from tfprof.trackers.of_tensorboard import scalar_events

pytestmark = pytest.mark.one_engine


def test_names_have_units_and_unknown_figures_are_left_out():
    run = run_of("cpu-keras-fit")
    figures, values = key_figures(run), key_values(run)
    assert figures["mfu"].value is None and not any("mfu" in name for name in values)
    assert values["tfprof/step_time_ms"] == figures["step_time"].value
    assert values["tfprof/idle_share"] == figures["idle_share"].value
    assert set(values) == {
        "tfprof/" + name + {"ms": "_ms", "bytes": "_bytes"}.get(one.unit, "")
        for name, one in figures.items()
        if one.value is not None
    }


def test_tensorboard_reads_the_scalars(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = run_of("cpu-keras-fit")
    for step in (7, 8):
        folder = tfprof.trackers.log_to_tensorboard(run, step, logdir=tmp_path, with_report=False)
    assert folder == tmp_path / "tfprof"
    read = accumulator.EventAccumulator(str(folder)).Reload()
    values = key_values(run)
    assert set(read.Tags()["scalars"] or read.Tags()["tensors"]) == set(values)
    for tag, value in values.items():
        scalars = read.Scalars(tag)
        assert [one.step for one in scalars] == [7, 8]
        assert scalars[0].value == pytest.approx(value, rel=1e-6)


def test_the_report_lies_beside_them(tmp_path):
    folder = tfprof.trackers.log_to_tensorboard(run_of("cpu-jax-steps"), logdir=tmp_path)
    (report,) = folder.glob("*.html")
    assert report.name == "report_0.html"
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_the_file_is_whole_and_holds_extreme_values():
    data = scalar_events({"a/b": math.pi, "é": -0.0, "x": 3e38, "y": -1e39}, 1 << 40, 1.5)
    assert not read_events(data).damage
    assert struct.pack("<f", -math.inf) in data
    assert struct.pack("<f", math.pi) in data


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "tfprof").write_text("a file")
    run = run_of("cpu-jax-steps")
    with pytest.raises(InputError, match="tfprof: cannot be written"):
        tfprof.trackers.log_to_tensorboard(run, logdir=tmp_path, with_report=False)
    full = tmp_path / "full"
    with pytest.raises(InputError, match="cannot be written"), files_of_at_most(20):
        tfprof.trackers.log_to_tensorboard(run, logdir=full, with_report=False)
    assert [*(full / "tfprof").iterdir()] == []
    with pytest.raises(UsageError, match="s3"):
        tfprof.trackers.log_to_tensorboard(run, logdir="s3://bucket/logs")
    with pytest.raises(UsageError, match="step=-1 must be 0 or more"):
        tfprof.trackers.log_to_tensorboard(run, -1, logdir=tmp_path)
