"""Key figures and reports in MLflow and W&B, by their own packages, offline."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tests.captures.tools.oracle import folder, run_of
from tfprof.trackers.content import key_values, report_of

pytestmark = pytest.mark.readers

WANDB = """
import sys, wandb
import tfprof
run = tfprof.open_run(sys.argv[1])
with wandb.init(project="p", dir=sys.argv[2], mode="offline") as active:
    tfprof.trackers.log_to_wandb(run, 3)
    active.log({"loss": 1.0})
    tfprof.trackers.log_to_wandb(run, 9, wandb_run=active, with_report=False)
"""


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    package = pytest.importorskip("mlflow")
    package.set_tracking_uri((tmp_path / "store").as_uri())  # which is made
    yield package
    package.end_run()


def test_mlflow(mlflow):
    run = run_of("cpu-keras-fit")
    with mlflow.start_run() as active:
        tfprof.trackers.log_to_mlflow(run, 7)
    run_id = active.info.run_id
    tfprof.trackers.log_to_mlflow(run, 9, run_id=run_id, with_report=False)
    client = mlflow.MlflowClient()
    assert client.get_run(run_id).data.metrics == pytest.approx(key_values(run))
    history = client.get_metric_history(run_id, "tfprof/step_time_ms")
    assert [one.step for one in history] == [7, 9]
    assert [one.path for one in client.list_artifacts(run_id, "tfprof")] == ["tfprof/report_7.html"]
    path = client.download_artifacts(run_id, "tfprof/report_7.html")
    assert Path(path).read_text("utf-8") == report_of(run)


def test_wandb_offline(tmp_path):
    """In a process of its own, as W&B starts a service."""
    pytest.importorskip("wandb")
    where = str(folder("cpu-keras-fit"))
    done = subprocess.run(
        [sys.executable, "-c", WANDB, where, str(tmp_path)],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (kept,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    rows = list(history_of(kept))
    values = key_values(run_of("cpu-keras-fit"))
    assert [row["_step"] for row in rows] == [3, 9]
    assert rows[0]["loss"] == 1.0  # the program's own, at the same step
    for row in rows:
        assert {name: row[name] for name in values} == pytest.approx(values)
    assert rows[0]["tfprof/report._type"] == "html-file"
    (html,) = tmp_path.glob("wandb/offline-run-*/files/media/html/**/*.html")
    assert html.read_text("utf-8") == report_of(run_of("cpu-keras-fit"))


def history_of(path):
    """Rows of the history in W&B's file of an offline run."""
    from wandb.proto import wandb_internal_pb2

    for data in _records(path.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(data)
        if record.WhichOneof("record_type") == "history":
            yield {
                ".".join(item.nested_key) or item.key: json.loads(item.value_json)
                for item in record.history.item
            }


def _records(data):
    """Records of a log as LevelDB writes it, after 7 bytes of W&B: blocks of 32 KiB with parts of
    records, each with a checksum of 4 bytes, its length in 2 and its type in 1 (1 whole, 2 first,
    3 middle, 4 last)."""
    block, at, parts = 32_768, 7, []
    while at + 7 <= len(data):
        if block - at % block < 7:
            at += block - at % block
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        parts.append(data[at + 7 : at + 7 + size])
        at += 7 + size
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []
