"""Which lines of files a profile from a stranger can make pages show."""

import os
import sys
from dataclasses import replace

import pytest

import tfprof
from tfprof.core.columns.frames import Frame
from tfprof.errors import UsageError
from tfprof.inputs.opened import opened_profiler
from tfprof.testing.builders import graph, op, op_log, traced
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.source_lines import MAX_FILE_BYTES, source_roots, source_texts

pytestmark = pytest.mark.one_engine

PROGRAM = """\
import tensorflow as tf

TOKEN = "sesame"
NAMES = ["a", "b"]


@tf.function
def train(x):
    y = layer(x)
    return y


def other():
    key = "hidden"
    send(key)


train(1)
"""
SECRET = 'PASSWORD = "sesame"\nopen_door(PASSWORD)\n'


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "settings.py").write_text(SECRET)
    return folder


def shown(path, *frames, roots):
    """The lines of frames: line, function, recorded text."""
    made = [Frame(str(path), function, line, text) for line, function, text in frames]
    return source_texts(made, [str(path)], source_roots(roots)).get(0, {})


def test_lines_around_are_those_of_the_same_function(folder):
    got = shown(folder / "train.py", (9, "train", ""), roots=[folder])
    assert got == {
        7: "@tf.function", 8: "def train(x):", 9: "    y = layer(x)", 10: "    return y",
    }  # fmt: skip
    assert shown(folder / "train.py", (18, "<module>", ""), roots=[folder]) == {18: "train(1)"}


@pytest.mark.parametrize(
    ("line", "function"),
    [(3, "<module>"), (4, "<module>"), (4, ""), (9, "other"), (15, "train"), (18, "train"),
     (14, "other"), (0, ""), (-1, ""), (10**9, ""), (2, "")],
)  # fmt: skip
def test_lines_that_no_call_stack_can_name_are_not_shown(folder, line, function):
    assert shown(folder / "train.py", (line, function, ""), roots=[folder]) == {}


def test_without_a_folder_only_what_was_recorded_is_shown(folder):
    got = shown(folder / "train.py", (9, "train", "y = layer(x)"), (18, "<module>", ""), roots=[])
    assert got == {9: "y = layer(x)"}


def test_a_file_that_has_changed_is_not_shown(folder):
    got = shown(folder / "train.py", (9, "train", "y = old(x)"), roots=[folder])
    assert got == {9: "y = old(x)"}


@pytest.mark.parametrize(
    "path",
    ["../elsewhere/settings.py", "link/settings.py", "link.py", "notes.txt", "text_link.py",
     "link/../../elsewhere/settings.py", ".hidden/settings.py", "broken.py", "large.py", "gone.py",
     "folder.py"],
)  # fmt: skip
def test_files_that_are_not_read(folder, path):
    outside = folder.parent / "elsewhere"
    (folder / "link").symlink_to(outside)
    (folder / "link.py").symlink_to(outside / "settings.py")
    (folder / "notes.txt").write_text(SECRET)
    (folder / "text_link.py").symlink_to(folder / "notes.txt")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "settings.py").write_text(SECRET)
    (folder / "broken.py").write_text(SECRET + "KEY: no Python {")
    (folder / "large.py").write_text(SECRET + "#" * MAX_FILE_BYTES)
    (folder / "folder.py").mkdir()
    for frame in [(2, "<module>", ""), (2, "<module>", "open_door(PASSWORD)"), (2, "", "")]:
        got = shown(f"{folder}/{path}", frame, roots=[folder])
        assert set(got.values()) == {frame[2]} - {""}


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe.py")
    assert shown(folder / "pipe.py", (1, "", ""), roots=[folder]) == {}


def test_a_folder_that_is_a_link_is_what_it_leads_to(folder):
    alias = folder.parent / "alias"
    alias.symlink_to(folder)
    assert shown(alias / "train.py", (18, "", ""), roots=[alias]) == {18: "train(1)"}
    assert shown(folder / "train.py", (18, "", ""), roots=[alias]) == {18: "train(1)"}


def test_a_root_that_is_not_a_folder(folder):
    with pytest.raises(UsageError, match=r"--sources .*train\.py: not a folder"):
        source_roots([folder / "train.py"])


def test_reports_show_files_only_on_request(folder, monkeypatch):
    monkeypatch.chdir(folder)
    places = (f"{folder}/train.py:9:train", f"{folder}/../elsewhere/settings.py:2:x")
    opened = opened_profiler(tfprof.Profiler(graph(op("a")), op_log(traced("a", *places))))

    def text(one):
        return str(Site([one]).page("code", {}).to_dict())

    assert "y = layer(x)" not in text(opened)
    asked = text(replace(opened, source_roots=source_roots([folder])))
    assert "y = layer(x)" in asked
    assert "open_door" not in asked
