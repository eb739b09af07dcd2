import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tfprof
from tfprof.cli.program import cli

GRAPH = """
node { name: "x" op: "Placeholder" }
node { name: "w" op: "VariableV2" attr { key: "shape" value { shape {
  dim { size: 2 } dim { size: 3 } } } } }
node { name: "layer/y" op: "MatMul" input: "x" input: "w" }
"""
RUN = """
step_stats { dev_stats { device: "/job:localhost/replica:0/task:0/device:CPU:0"
  node_stats { node_name: "layer/y" all_start_micros: 100 op_end_rel_micros: %d
    all_end_rel_micros: %d timeline_label: "layer/y = MatMul(x, w)" } } }
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TFPROF_CLASSIC"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(GRAPH)
    return str(path)


@pytest.fixture
def runs(tmp_path):
    paths = []
    for step, micros in enumerate((10, 30)):
        path = tmp_path / f"run{step}.pbtxt"
        path.write_text(RUN % (micros, micros))
        paths.append(str(path))
    return paths


@pytest.fixture
def call():
    try:  # click before 8.2 mixes stderr into stdout by default
        runner = CliRunner(mix_stderr=False)
    except TypeError:
        runner = CliRunner()

    def call(*arguments, **environment):
        return runner.invoke(cli, [str(a) for a in arguments], env=environment)

    return call


ROOT = Path(tfprof.__file__).parent.parent


def environment(**extra):
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "PYTHONWARNINGS")}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **extra}


@pytest.fixture
def process():
    def process(*arguments, **extra):
        return subprocess.run(
            [sys.executable, "-m", "tfprof", *map(str, arguments)],
            capture_output=True, text=True, encoding="utf-8", env=environment(**extra),
            timeout=60, check=False,
        )  # fmt: skip

    return process
