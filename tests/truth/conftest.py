"""Records the programs once in a test run, however many workers run it.

A test that fails is called again with its programs recorded anew: what is false twice is false, as
whatever else runs on the machine may disturb one recording.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.truth.own_clock import READY
from tests.truth.recorded import Recorded

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 400


def _record(framework: str, folder: Path, *names: str) -> str:
    """Run programs of a framework, or all; what went wrong, if it did not end well."""
    module = f"tests.truth.programs_{framework}"
    inherited = {k: v for k, v in os.environ.items() if k not in ("TFPROF_CLASSIC", "XLA_FLAGS")}
    done = subprocess.run(
        [sys.executable, "-m", module, folder, *names],
        cwd=ROOT, env={**inherited, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"{module}: {done.returncode}\n{done.stderr[-4000:]}"


def _recorded_once(base: Path, framework: str) -> Path:
    """The folder of a framework's programs; the first worker to make it records, others wait."""
    folder = base / f"truth-{framework}"
    ready = folder / READY
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + TIMEOUT_S
        while not ready.is_file():
            assert time.monotonic() < deadline, f"{framework}: another worker does not record"
            time.sleep(0.2)
    else:
        written = folder / "writing"
        try:
            problem = _record(framework, folder)
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
            raise
        finally:
            written.write_text(problem, "utf-8")
            written.rename(ready)
    problem = ready.read_text("utf-8")
    assert not problem, problem
    return folder


class Programs:
    """The recorded programs of a framework.

    Args:
        folder: Where each has a folder of its name.
        framework: Its name.
        new_folder: Makes a folder for what is recorded again.
    """

    def __init__(self, folder: Path, framework: str, new_folder: Callable[[str], Path]) -> None:
        self._folder, self._framework, self._new_folder = folder, framework, new_folder
        self._found: dict[str, Recorded] = {}
        self.looked_at: set[str] = set()

    def __call__(self, name: str) -> Recorded:
        """A program by name."""
        self.looked_at.add(name)
        if name not in self._found:
            self._found[name] = Recorded(self._folder / name)
        return self._found[name]

    def record_again(self) -> list[str]:
        """Record anew what has been looked at."""
        folder, names = self._new_folder("truth-again"), sorted(self.looked_at)
        problem = _record(self._framework, folder, *names)
        assert not problem, problem
        self._found.update((name, Recorded(folder / name)) for name in names)
        return names


def _programs(factory: pytest.TempPathFactory, framework: str) -> Programs:
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    return Programs(_recorded_once(base, framework), framework, factory.mktemp)


@pytest.fixture(scope="session")
def tensorflow_program(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """A recorded TensorFlow program by name."""
    return _programs(tmp_path_factory, "tensorflow")


@pytest.fixture(scope="session")
def jax_program(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """A recorded JAX program by name."""
    return _programs(tmp_path_factory, "jax")


@pytest.fixture(scope="session")
def instructions_program(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """A recorded JAX program for the rules on compiled instructions, by name."""
    return _programs(tmp_path_factory, "instructions")


@pytest.fixture(scope="session")
def collectives_program(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """A recorded JAX program on eight devices by name."""
    return _programs(tmp_path_factory, "collectives")


def pytest_itemcollected(item: pytest.Item) -> None:
    """What these tests compare is time: ``nox -s truth`` runs them alone."""
    item.add_marker(pytest.mark.gym)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Call a test again that found something false, with programs that are recorded anew."""
    programs = [one for one in pyfuncitem.funcargs.values() if isinstance(one, Programs)]
    for one in programs:
        one.looked_at.clear()
    try:
        return (yield)
    except AssertionError as error:
        if not programs:
            raise
        for one in programs:
            names = one.record_again()
            pyfuncitem.add_report_section("call", "recorded again", f"{names}, as: {error}")
        wanted = pyfuncitem._fixtureinfo.argnames
        pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
        return True
