"""Every example runs, from any folder, without a warning of ours."""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.documentation]

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = {
    "profile_demo.py": "Parameters: 25,557,032",
    "compare_steps.py": "From step 10 to 12 SaveV2 grew most: +5000 us.",
    "parameters_of_saved_model.py": "101,632  in all",
    "light_object.py": "wrote scopes.csv",
    "advice.py": "up to 361,351,424 bytes: all that the largest holder keeps alive",
    "read_saved_profile.py": "profile_0 holds step 0",
    "pprof_of_code.py": "train.py:259:<module> (gradient) took 1,177,783 us",
    "train_and_profile_v1.py": "Parameters: 15,752",
    "profile_context.py": "In the file: 8 9 10",
    "keras_session.py": "Parameters: 160",
    "keras_fit.py": "Recorded batches: 5 6 7",
    "flops_of_model.py": "a batch of B takes 1,015,818·B",
    "slow_input.py": "Held up by: Iterator::Root::MapAndBatch",
    "jax_steps.py": "Captured steps: 0 1 2 3 4",
    "read_capture.py": "1. input-pipeline/bound: up to 23.1% of the step",
}
# Said by protobuf 4.25 when it is imported by Python 3.12 or newer.
PROTOBUF_4 = "ignore:Type google._upb:DeprecationWarning"
NEED_TENSORFLOW = {
    "flops_of_model.py",
    "keras_fit.py",
    "keras_session.py",
    "profile_context.py",
    "slow_input.py",
    "train_and_profile_v1.py",
}


NEED_JAX = {"jax_steps.py"}

OWN_PROCESS = {"keras_session.py", "profile_demo.py", "jax_steps.py"}
"""The first turns eager execution off for good; the second shows that a shell can run them; and
in this process TensorFlow would be recorded, not JAX."""


def run_alone(name, folder):
    environment = {k: v for k, v in os.environ.items() if k != "TFPROF_CLASSIC"}
    environment |= {"PYTHONPATH": str(EXAMPLES.parent), "PYTHONIOENCODING": "utf-8"}
    strict = [] if name in NEED_TENSORFLOW | NEED_JAX else ["-W", "error", "-W", PROTOBUF_4]
    done = subprocess.run(
        [sys.executable, *strict, EXAMPLES / name],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8",
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_here(name, folder, *arguments):
    """Run it as Python runs a script, in this process; what it prints."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as shown:
        patch.chdir(folder)
        patch.delenv("TFPROF_CLASSIC", raising=False)
        patch.setattr(sys, "argv", [str(EXAMPLES / name), *arguments])
        with warnings.catch_warnings():
            if name in NEED_TENSORFLOW:
                warnings.simplefilter("ignore")  # TensorFlow's own
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return shown.getvalue()


def run_example(name, folder):
    if name in NEED_TENSORFLOW and find_spec("tensorflow") is None:
        pytest.skip("needs an installed TensorFlow")
    if name in NEED_JAX and find_spec("jax") is None:
        pytest.skip("needs an installed JAX")
    return run_alone(name, folder) if name in OWN_PROCESS else run_here(name, folder)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.tensorflow
            if name in NEED_TENSORFLOW
            else pytest.mark.jax
            if name in NEED_JAX
            else [],
        )
        for name in SHOWN
    ],
)
def test_example_runs(name, tmp_path):
    shown = run_example(name, tmp_path)
    assert SHOWN[name] in shown
    if name == "slow_input.py":
        before, after = shown.split("\n\n")
        assert "The program is HIGHLY input-bound" in before
        waits = re.search(r"It waited (\S+) ms for input, and waits (\S+) ms", after).groups()
        assert float(waits[1]) < float(waits[0]) / 2
        assert "The training is more than twice as fast." in after


def test_every_example_has_a_test_and_a_line_in_the_readme():
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == set(SHOWN)
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in readme] == []


@pytest.mark.tensorflow
def test_the_commands_of_the_workflow(tmp_path):
    """All but what installs, in their order; and none of them passes a model that grew."""
    for path in (EXAMPLES / "gate").iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    workflow = (tmp_path / "workflow.yml").read_text("utf-8")
    commands = [shlex.split(line) for line in re.findall(r"- run: (.*)", workflow)]
    run_lines = [words for words in commands if words[0] != "pip"]
    assert [words[0] for words in run_lines] == ["pytest", "tfprof", "tfprof", "tfprof"]
    is_installed = entry_points(group="pytest11", name="tfprof")
    options = "-p no:cacheprovider" + ("" if is_installed else " -p tfprof.testing.pytest_plugin")
    environment = os.environ | {
        "PYTHONPATH": str(EXAMPLES.parent), "PYTEST_ADDOPTS": options, "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip

    def code_of(words):
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True,
            text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    for words in run_lines:
        code, shown = code_of(words)
        assert code == 0, shown
    assert {"tests.xml", "budget.sarif"} <= {path.name for path in tmp_path.iterdir()}
    budget = tmp_path / "model_budget.toml"
    budget.write_text(budget.read_text("utf-8").replace("13_610", "13_609"), "utf-8")
    code, shown = code_of(run_lines[1])
    assert code == 1
    assert "parameters exceeds its limit: 13,610, limit <= 13609" in shown


def test_parameters_of_a_model_that_is_given(tmp_path):
    (tmp_path / "saved_model.pbtxt").write_text(
        'meta_graphs { graph_def { node { name: "w" op: "VariableV2" attr { key: "shape" '
        "value { shape { dim { size: 3 } dim { size: 4 } } } } } } }"
    )
    shown = run_here("parameters_of_saved_model.py", tmp_path, str(tmp_path))
    assert shown.split() == ["12", "w", "12", "in", "all"]
