"""A second command gives the kept answer where nothing has changed, and only there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tfprof.cli.answer_cache import answer_cache
from tfprof.cli.program import cli
from tfprof.demo import demo_capture

NAME = "host.xplane.pb.xz"
pytestmark = pytest.mark.one_engine

LOOK = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TFPROF_CLASSIC")
KEPT = "an answer that only the cache can give\n"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture that was written long enough ago, in a folder of its own."""
    folder = tmp_path_factory.mktemp("settled") / "logs"
    folder.mkdir()
    shutil.copy(demo_capture("gpu"), folder / NAME)
    time.sleep(2.1)
    return folder


class Program:
    """Runs commands with a cache; the only answer in it is replaced by another text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str, **environ: str) -> Result:
        """Run a command in this process."""
        variables = {**dict.fromkeys(LOOK), "TFPROF_CACHE": str(self.folder), **environ}
        others = {name: text for name, text in os.environ.items() if name not in LOOK}
        cache = answer_cache({**others, "TFPROF_CACHE": str(self.folder), **environ})
        return CliRunner().invoke(cli, words, obj=cache, env=variables)

    def process(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own."""
        command = [sys.executable, "-m", "tfprof", *words]
        others = {name: text for name, text in os.environ.items() if name not in LOOK}
        variables = {**others, "TFPROF_CACHE": str(self.folder)}
        return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120)

    def entries(self) -> list[Path]:
        return sorted(self.folder.glob("*")) if self.folder.exists() else []

    def replace_answer(self) -> None:
        (entry,) = self.entries()
        answer = json.loads(entry.read_bytes())
        answer["parts"] = [["text", KEPT, "auto", True]]
        content = json.dumps(answer).encode()
        key = entry.name.partition("-")[0]
        entry.unlink()
        entry.with_name(f"{key}-{len(content)}-{zlib.crc32(content):08x}").write_bytes(content)


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("cache") / "answers")


def test_the_second_answer_of_a_process_has_the_same_bytes(program: Program) -> None:
    words = ["op-stats", "--demo", "--format", "csv"]
    first, second = program.process(*words), program.process(*words)
    assert first.returncode == second.returncode == 0
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)
    assert first.stdout
    assert "note" in first.stderr
    program.replace_answer()
    assert program.process(*words).stdout == KEPT, "it comes from the cache"


def test_an_error_is_not_kept(program: Program, settled: Path) -> None:
    assert program.run("op-stats", str(settled), "--table", "nothing_such").exit_code
    assert not program.entries()


@pytest.fixture(scope="module")
def primed(tmp_path_factory: pytest.TempPathFactory, settled: Path) -> Program:
    """A program whose cache has another text for one question than it would print."""
    program = Program(tmp_path_factory.mktemp("primed") / "answers")
    program.run("overview", str(settled))
    program.replace_answer()
    return program


def test_it_comes_from_the_cache_without_reading_the_capture(
    primed: Program, settled: Path
) -> None:
    assert primed.run("overview", str(settled)).stdout == KEPT


@pytest.mark.parametrize("words", [["--no-cache"], ["--table", "run"], ["--classic"]])
def test_another_question_has_its_own_answer(
    primed: Program, settled: Path, words: list[str]
) -> None:
    assert primed.run("overview", str(settled), *words).stdout != KEPT


@pytest.mark.parametrize("name", ["COLUMNS", "FORCE_COLOR", "TFPROF_CLASSIC"])
def test_variables_that_change_the_text_are_part_of_the_question(
    primed: Program, settled: Path, name: str
) -> None:
    assert primed.run("overview", str(settled), **{name: "1"}).stdout != KEPT


def test_a_file_that_has_changed_is_read_again(
    program: Program, settled: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(settled, folder)
    file = folder / NAME
    time.sleep(2.1)
    program.run("overview", str(folder))
    program.replace_answer()
    assert program.run("overview", str(folder)).stdout == KEPT
    times, content = file.stat(), file.read_bytes()
    file.write_bytes(content)  # the same size, and below the same time
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert program.run("overview", str(folder)).stdout != KEPT
    assert not program.entries(), "a file that was just written could change unnoticed"


def test_a_file_that_has_come_is_seen(program: Program, settled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(settled, folder)
    time.sleep(2.1)
    program.run("tools", str(folder))
    program.replace_answer()
    shutil.copy(folder / NAME, folder / f"other-{NAME}")
    assert program.run("tools", str(folder)).stdout != KEPT


def test_what_goes_to_a_file_is_not_kept(program: Program, settled: Path, tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        assert program.run("overview", str(settled), "-o", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()
    assert not program.entries()


def test_without_a_place_for_the_cache_commands_answer(
    program: Program, settled: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    program.folder = tmp_path / "file" / "below"
    assert program.run("overview", str(settled)).exit_code == 0
    assert program.run("overview", str(settled), TFPROF_CACHE="~no-such-user/x").exit_code == 0
