"""What people see of a long read."""

import os
import sys

import pytest

import tfprof
from tfprof.cli import progress as module
from tfprof.cli.progress import ProgressLine, progress
from tfprof.core.progress import NoProgress

posix = pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals and named pipes")


def test_nothing_is_drawn_without_a_terminal(monkeypatch):
    with progress() as watch:
        assert isinstance(watch, NoProgress)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with progress() as watch:
        assert isinstance(watch, NoProgress)


def test_what_is_quick_is_not_shown(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(ProgressLine, "show", lambda self: pytest.fail("shown"))
    monkeypatch.setattr(module, "SHOW_AFTER_SECONDS", 60)
    with progress() as watch:
        watch.expect(10)
        watch.stage("reading x")
        watch.advance(10)


def test_a_line_that_was_closed_is_not_shown_any_more():
    line = ProgressLine()
    line.close()
    line.show()
    assert line._bar is None


@pytest.fixture
def slow_file(tmp_path):
    """A named pipe: its reader waits for as long as its writer likes."""
    path = tmp_path / "run_meta.pb"
    os.mkfifo(path)
    return path


@pytest.fixture
def screen(tmp_path):
    from .screen import Screen

    opened = []

    def start(*words, **options):
        opened.append(Screen(*words, cwd=tmp_path, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@posix
def test_a_long_read_says_what_and_how_far_and_leaves_no_trace(screen, slow_file):
    import gzip

    data = gzip.decompress(tfprof.demo_files().run_meta.read_bytes())
    shown = screen("op", "--run_meta_path", "run_meta.pb", "-order_by", "micros")
    with slow_file.open("wb", buffering=0) as pipe:
        pipe.write(data[:50_000])
        shown.wait_for("reading run_meta.pb (1 of 1 steps)")
        pipe.write(data[50_000:])
    assert shown.end() == 0
    assert "reading" not in shown.text
    assert "Conv2DBackpropFilter" in shown.text


@posix
def test_ctrl_c_ends_a_long_read_cleanly(screen, slow_file):
    shown = screen("op", "--run_meta_path", "run_meta.pb")
    with slow_file.open("wb", buffering=0) as pipe:
        pipe.write(b"\n")
        shown.wait_for("reading run_meta.pb")
        shown.type("\x03")
        assert shown.end() == 130
    assert "Traceback" not in shown.text
    assert "reading" not in shown.text


@posix
def test_names_can_not_steer_the_terminal(screen, tmp_path):
    os.mkfifo(tmp_path / "a\x1b[31m[red]b")
    shown = screen("op", "--run_meta_path", "a\x1b[31m[red]b")
    with (tmp_path / "a\x1b[31m[red]b").open("wb", buffering=0) as pipe:
        pipe.write(b"\n")
        shown.wait_for("reading a\\x1b[31m[red]b")
