"""All advice on capturing is in one module, and each piece of it works."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfprof
from tests.remote.programs import Program
from tfprof.cli.program import cli
from tfprof.core.text import how_to_capture as how

ROOT = Path(tfprof.__file__).parent
HOME = ROOT / "core" / "text" / "how_to_capture.py"
SPELLS = (
    "python_tracer_level", "host_tracer_level", "device_tracer_level", "tf.profiler.experimental",
    "ProfilerOptions", "ProfileOptions", "trace_all", "jax.profiler", "StepTraceAnnotation",
    "TF_CPU_ALLOCATOR_USE_BFC",
)  # fmt: skip
NAME = re.compile(r"[A-Za-z_][\w.]*")
"""A literal that is only a name is read by the program, not by people."""

CODE = [
    how.CAPTURE, how.MARK, how.MARK_NAMED, how.MARK_BATCHES, how.WITH_PYTHON, how.BRIEFLY,
    how.WITH_FRAMEWORK, how.SERVE,
]  # fmt: skip
COMMANDS = [how.FROM_OUTSIDE, how.LONGER_FROM_OUTSIDE, how.PYTHON_FROM_OUTSIDE]


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """String literals of a module except docstrings, with their lines."""
    text = path.read_text(encoding="utf-8")
    if not any(spell in text for spell in SPELLS):
        return  # which spares parsing most of them
    tree = ast.parse(text)
    said_alone = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings of modules, functions and attributes
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in said_alone:
            yield node.lineno, node.value


def test_no_other_module_tells_how_to_capture() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in sorted(ROOT.rglob("*.py"))
        if path != HOME
        for line, text in literals(path)
        if any(spell in text for spell in SPELLS) and not NAME.fullmatch(text)
    ]
    assert found == []


def sentences() -> dict[str, str]:
    """What the module says to people."""
    said = {name: text for name, text in vars(how).items() if isinstance(text, str)}
    for ways in (how.EITHER, how.TENSORFLOW, how.JAX):
        said |= {f"{id(ways)}.{name}": text for name, text in ways._asdict().items()}
    return {name: text for name, text in said.items() if not name.startswith("__")}


def test_the_test_covers_every_piece_of_code_and_every_command() -> None:
    """What is left of each sentence without them names no way to capture."""
    known = [*CODE, *COMMANDS, how.BFC]
    patterns = [re.sub(r"\\{\w+\\}", r"[\\w:,{}]+", re.escape(each)) for each in known]
    any_known = re.compile("|".join(sorted(patterns, key=len, reverse=True)))
    for name, text in sentences().items():
        rest = any_known.sub("", text)
        assert "tfprof" not in rest and "TF_" not in rest, (name, rest)


PROGRAM = """
import sys, threading
port = int(sys.argv[1])
if framework == "tensorflow":
    import tensorflow as tf
    function = tf.function(lambda a: a @ a)
    def train():
        function(tf.ones([8, 8])).numpy()
else:
    import jax
    function = jax.jit(lambda a: a @ a)
    def train():
        jax.block_until_ready(function(jax.numpy.ones([8, 8])))
import tfprof
from tfprof.core.text import how_to_capture as how

def said(capture):
    return [note.message for note in capture.notes if note.severity != "info"]

def names(capture):
    planes = capture.run.hosts[0].space.planes
    return {name for plane in planes for name in plane.event_metadata.names}

train()
steps = f"for number in range(3):\\n  {how.MARK}\\n    train()"
for code in (
    how.CAPTURE, how.WITH_PYTHON, how.BRIEFLY, how.WITH_FRAMEWORK.format(option=framework)
):
    scope = {"tfprof": tfprof, "train": train}
    made = eval(code, scope)
    with made:
        exec(steps, scope)
    assert said(made) == [], said(made)
    assert made.profiler.steps == [0, 1, 2]
    assert any("train" in name and "$" in name for name in names(made)) == (code == how.WITH_PYTHON)
    if framework == "tensorflow":
        assert tfprof.tools.memory(made.run).tables["summary"].rows
if framework == "tensorflow":
    import keras
    model = keras.Sequential([keras.Input([4]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback = eval(how.MARK_BATCHES, scope)
    data = tf.ones([16, 4]), tf.ones([16, 1])
    model.fit(*data, batch_size=1, verbose=0, callbacks=[callback])
    assert callback.capture.profiler.steps == [10, 11, 12, 13, 14, 15]
exec(how.SERVE.format(port=port))
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
print("ready", flush=True)
number = 0
while not done.is_set():
    number += 1
    exec(steps, scope)
"""


@pytest.mark.tensorflow
@pytest.mark.one_engine
@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_every_piece_of_advice_works(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(framework)
    pytest.importorskip("grpc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(*how.BFC.split("="))
    # A process of its own: its environment matters, and JAX must not find TensorFlow loaded.
    program = Program(f"framework = {framework!r}\n{PROGRAM}", has_tensorflow=False)
    try:
        program.wait_until_ready()
        for number, command in enumerate(COMMANDS):
            words = command.format(address=program.address).replace("10s", "50ms").split()[1:]
            words += [] if "--duration" in words else ["--duration", "50ms"]
            cli([*words, "--run", f"run{number}"], standalone_mode=False)
            run = tfprof.open_run("logs", run=f"run{number}")
            assert len(tfprof.tools.overview(run).tables["steps"].rows) > 1
            (host,) = run.hosts
            names = {name for plane in host.space.planes for name in plane.event_metadata.names}
            has_python = any("train" in name and "$" in name for name in names)
            assert has_python == ("--python-tracer-level" in words)
    finally:
        program.end()


def test_xla_has_the_flags_of_command_buffers() -> None:
    """XLA ends a program at a flag that it does not have."""
    pytest.importorskip("jax")
    flags = {**os.environ, "XLA_FLAGS": f"{how.KEPT_GRAPHS_FLAG} {how.NO_GRAPHS_FLAG}"}
    code = "import jax; jax.block_until_ready(jax.numpy.ones(2))"
    subprocess.run([sys.executable, "-c", code], env=flags, check=True, timeout=120)
