import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import tfprof

ROOT = Path(tfprof.__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str
    logdir: Path

    @property
    def runs(self):
        return sorted(self.logdir.glob("plugins/profile/*"))

    def steps(self, host=None, run=-1):
        """Numbers of the steps, as the views have them."""
        files = sorted(self.runs[run].glob("*.xplane.pb"))
        [path] = [path for path in files if host is None or path.name == f"{host}.xplane.pb"]
        return tfprof.Profiler.from_xspace(str(path)).steps


def environment(**more):
    own = {key: value for key, value in os.environ.items() if not key.startswith("TFPROF")}
    places = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**own, "PYTHONPATH": places, "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1", **more}  # fmt: skip


@pytest.fixture
def start(tmp_path):
    """Starts a program under ``tfprof run``; whatever is left of it ends with the test."""
    started = []

    def start(program, *options, overview=False, **variables):
        path = tmp_path / "program.py"
        path.write_text(program)
        words = [sys.executable, "-m", "tfprof", "run", "--logdir", "logs", *options]
        words += [] if overview else ["--no-overview"]
        child = subprocess.Popen(
            [*words, "--", sys.executable, str(path)], cwd=tmp_path, env=environment(**variables),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        if child.poll() is None:
            os.killpg(child.pid, 9)
        child.communicate()


@pytest.fixture
def run(start, tmp_path):
    """Runs a program under ``tfprof run``."""

    def run(program, *options, **variables):
        child = start(program, *options, **variables)
        out, err = child.communicate(timeout=300)
        return Ran(child.returncode, out, err, tmp_path / "logs")

    return run


@pytest.fixture
def run_hooked(tmp_path):
    """Runs a program with ``TFPROF_RUN`` alone, as after an installation from a wheel."""

    def run(program, spec, *arguments, **variables):
        path = tmp_path / "program.py"
        path.write_text(program)
        site = ROOT / "tfprof" / "capture" / "launched" / "site"
        own = environment(TFPROF_RUN=spec, **variables)
        own["PYTHONPATH"] = os.pathsep.join([str(site), own["PYTHONPATH"]])
        done = subprocess.run(
            [sys.executable, str(path), *arguments], cwd=tmp_path, env=own, capture_output=True,
            text=True, timeout=300,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr, tmp_path / "logs")

    return run
