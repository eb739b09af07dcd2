"""A second command about a large file answers from the facts that the first one kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.captures.tools.oracle import folder
from tfprof.captures.hosts import kept_host
from tfprof.cli import fleet_options
from tfprof.cli.answer_cache import AnswerCache
from tfprof.cli.program import cli
from tfprof.errors import InputError
from tfprof.files.cache import Cache

pytestmark = pytest.mark.one_engine

Ask = Callable[..., str]


def _capture(name: str) -> Path:
    (found,) = folder(name).glob("*.xplane.pb*")
    return Path(found)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large, and as changed long ago."""
    monkeypatch.setattr(fleet_options, "_LEAST_KEPT_BYTES", 1)
    for module in ("captures.hosts.kept_part", "files.watched_reads"):
        monkeypatch.setattr(f"tfprof.{module}.changed_lately", lambda *_: False)
    (tmp_path / "run").mkdir()
    return Path(shutil.copy(_capture("cpu-memory-bfc"), tmp_path / "run" / "host.xplane.pb"))


@pytest.fixture
def ask(file: Path, tmp_path: Path) -> Ask:
    """The output of a command about the file."""

    def ask(*words: str, is_kept: bool = True) -> str:
        cache = AnswerCache(Cache(tmp_path / "cache", 64 << 20), os.environ)
        done = CliRunner().invoke(cli, [*words, str(file)], obj=cache if is_kept else None)
        return done.output if done.exit_code == 0 else f"failed: {done.output}"

    return ask


@pytest.fixture
def is_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def refused(path: str) -> None:
        raise InputError(f"{path}: is read again")

    return lambda: monkeypatch.setattr(kept_host, "read_capture", refused)


def test_another_tool_reads_no_file(ask: Ask, is_read: Callable[[], None]) -> None:
    expected = [ask(tool, is_kept=False) for tool in ("op-stats", "pod")]
    ask("overview")
    is_read()
    assert [ask(tool) for tool in ("op-stats", "pod")] == expected
    assert ask("memory").startswith("failed"), "overview does not need what memory needs"
    assert ask("overview", "--no-cache", "--format", "json").startswith("{")


def test_an_answer_from_facts_is_kept_and_depends_on_the_file(
    ask: Ask, file: Path, tmp_path: Path
) -> None:
    ask("overview")
    first = ask("op-stats")
    assert len(list((tmp_path / "cache").iterdir())) == 3, "a part and two answers"
    file.write_bytes(_capture("cpu-keras-fit").read_bytes())
    assert ask("op-stats") == ask("op-stats", is_kept=False) != first


def test_a_folder_that_cannot_be_listed(
    ask: Ask, is_read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    is_read()
    assert ask("op-stats").startswith("failed"), "a large file is read by kept_host"
    monkeypatch.setattr("tfprof.captures.hosts.kept_part.KeptPart", refused)
    assert ask("op-stats") == ask("op-stats", is_kept=False)
