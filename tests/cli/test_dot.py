from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tfprof.cli.program import cli

HLO = 'digraph G { label="add.1"; a -> b; }\n'


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["dot", *words])
    return result.exit_code, result.output


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_a_dump_becomes_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hlo.dot").write_text(HLO)
    assert run("hlo.dot", "-o", "hlo.svg") == (0, "")
    assert b"add.1" in Path("hlo.svg").read_bytes()
    assert run("hlo.dot", "-o", "hlo.svg")[0] == 2
    assert run("hlo.dot", "-o", "hlo.svg", "--force")[0] == 0


@pytest.fixture
def fake_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program ``dot`` that draws its arguments and its input."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1], sys.stdin.read())\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return program


@pytest.mark.skipif(os.name != "posix", reason="needs executable scripts")
def test_the_program_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_dot: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "graphviz", None)  # Python's package is not there
    Path("hlo.dot").write_text(HLO)
    assert run("hlo.dot", "-o", "hlo.svg") == (0, "")
    assert Path("hlo.svg").read_text() == f"-Tsvg {HLO}\n"
    fake_dot.write_text("#!/bin/sh\necho 'syntax error in line 1' >&2\nexit 1\n")
    code, said = run("hlo.dot", "-o", "other.svg")
    assert code == 3
    assert "a broken DOT file: the program 'dot' failed: syntax error in line 1" in said
    monkeypatch.setenv("PATH", "")
    code, said = run("hlo.dot", "-o", "other.svg")
    assert code == 5
    assert "the program 'dot' is not installed" in said


def test_errors_name_the_file_and_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.dot").write_text("HloModule jit_f\n")
    for words, code, said in (
        (["text.dot", "-o", "x.svg"], 3, "text.dot: not a DOT file"),
        (["none.dot", "-o", "x.svg"], 3, "none.dot: cannot be read"),
        (["text.dot", "-o", "x.gif"], 2, "'gif'"),
        (["text.dot", "-o", "x"], 2, "must end in .svg"),
        (["text.dot"], 2, "--outfile"),
    ):
        exit_code, output = run(*words)
        assert exit_code == code, output
        assert said in output
    assert [path.name for path in tmp_path.iterdir()] == ["text.dot"]
