"""What goes to a terminal, a spreadsheet or a full disk, and what Ctrl-C leaves."""

import csv
import io
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.conftest import environment
from tfprof.cli import output
from tfprof.cli.output import Target
from tfprof.core.text.csv_text import csv_text, no_formula
from tfprof.errors import InputError
from tfprof.export.tables import csv_chunks
from tfprof.sql import Database
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.tools import SliceChoice, open_run, slice_capture

pytestmark = pytest.mark.one_engine

HOSTILE = "a\x1b]0;title\x07\x1b[8m\x00\u202e\x9b2J"


@pytest.fixture
def capture(tmp_path):
    steps = [event("train", 100 * at, 90, step_num=at, _r=1) for at in range(2)]
    ops = [event(f"{HOSTILE}:MatMul", 100 * at + 10, 30) for at in range(2)]
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(xspace(host(line(*steps, *ops))).SerializeToString())
    return path


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is not sys.stdin)


@pytest.mark.parametrize("form", ["text", "csv", "json"])
@pytest.mark.parametrize(
    "words",
    [
        ["query", "{capture}", "select name, length(name) from events"],
        ["query", "{capture}", f"select '{HOSTILE.replace(chr(0), '')}' as \"b\x1b[2J\u202e\""],
        ["op-stats", "{capture}", "--table", "ops"],
    ],
)
def test_nothing_that_was_recorded_steers_a_terminal(call, capture, terminal, words, form):
    pytest.importorskip("duckdb")
    words = [word.format(capture=capture) for word in words]
    done = call(*words, "--format", form, NO_COLOR="1")
    assert done.exit_code == 0, done.stderr
    assert not set(done.stdout) & set("\x1b\x00\x07\x9b\u202e")


def test_exports_to_a_terminal_are_harmless(terminal, capsys):
    Target().write_chunks([f"name\n{HOSTILE}\n".encode()])
    assert not set(capsys.readouterr().out) & set("\x1b\x00\x07\x9b\u202e")


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-A1", "@SUM(1)", "\t=1", "\r=1", "＝1", "-", "--x"]
)
def test_no_text_becomes_a_formula(text):
    assert no_formula(text) == f"'{text}"
    [[head], [cell]] = csv.reader(io.StringIO(csv_text([{text: text}]), newline=""))
    assert head == cell == f"'{text}"


@pytest.mark.parametrize("text", ["a=b", "-1.5", "+3e5", "", "MatMul", "'=1", "-inf"])
def test_other_texts_and_numbers_stay(text):
    assert no_formula(text) == text
    assert csv_text([{"a": -1.5, "b": -2}]) == "a,b\n-1.5,-2\n"


def test_exported_tables_have_no_formulas():
    pytest.importorskip("duckdb")
    run = open_run(xspace(host(line(event('=HYPERLINK("x")', 0, 1)))))
    with Database(run) as database:
        text = b"".join(csv_chunks(database.table("events"))).decode()
    [row] = csv.DictReader(io.StringIO(text))
    assert row["name"] == '\'=HYPERLINK("x")'
    assert row["duration_ps"].isdigit()


def test_a_slice_that_cannot_be_written_leaves_no_folder(capture, tmp_path, monkeypatch):
    def full(*_, **__):
        raise InputError("No space left on device")

    monkeypatch.setattr("tfprof.captures.slice.slice_capture.write_file", full)
    with pytest.raises(InputError, match="No space"):
        slice_capture(capture, tmp_path / "new" / "folder", SliceChoice())
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(InputError, match="No space"):
        slice_capture(capture, tmp_path / "old", SliceChoice())
    assert [*(tmp_path / "old").iterdir()] == []


@pytest.mark.skipif(os.name != "posix", reason="no pipes with names")
@pytest.mark.parametrize("place", ["run", "run/pipe.pb"])
def test_doctor_waits_for_no_pipe(call, tmp_path, place):
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "pipe.pb")
    done = call("doctor", tmp_path / place)
    assert done.exit_code == 1
    if place != "run":
        assert "it is a pipe" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="links are for administrators there")
def test_links_that_lead_to_each_other(call, capture, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for words in (["diff", "loop", capture], ["diff", capture, "loop/x"], ["history", "loop"]):
        done = call(*(tmp_path / word if "loop" in str(word) else word for word in words))
        assert done.exit_code == 3, done.output
        assert "Too many levels" in done.stderr or "no such folder" in done.stderr
    assert call("overview", capture, "-o", tmp_path / "loop").exit_code == 0


@pytest.mark.skipif(os.name != "posix", reason="no pipes with names")
@pytest.mark.parametrize("words", [["slice", "-o", "out"], ["history", "new.duckdb", "--add"]])
def test_what_is_read_twice_cannot_be_a_pipe(call, tmp_path, monkeypatch, words):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.xplane.pb")
    done = call(*words, "pipe.xplane.pb")
    assert done.exit_code in (3, 4)
    assert "is a pipe" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes end otherwise there")
def test_a_note_that_no_one_can_read_ends_no_command(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        output.note("lost")
        stream.write("lost, too")  # and the flush at the end raises nothing


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is another signal there")
@pytest.mark.parametrize(
    "module", ["click", "tfprof.cli.registry", "tfprof.cli.commands.flops", "numpy"]
)
def test_ctrl_c_gives_no_traceback_whatever_is_being_loaded(module):
    program = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "sys.argv = ['tfprof', 'flops', '--demo']\n"
        "from tfprof.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(),
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (128 + signal.SIGINT, "")
