"""Where code and data of others come from: docs/licences.md has a row for each."""

import re
import runpy
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
CHECK = runpy.run_path(str(ROOT / ".ci" / "licences.py"))
FOLDERS = (
    *(".ci", ".github", "benchmarks", "changelog.d", "docs", "examples", "fuzz", "packaging"),
    *("protos", "tests", "tfprof"),
)
WRITTEN = {
    *(
        ".css",
        ".fish",
        ".html",
        ".js",
        ".md",
        ".mjs",
        ".pxi",
        ".py",
        ".pyi",
        ".pyx",
        ".sh",
        ".toml",
    ),
    *(".ts", ".typed", ".yaml", ".yml"),
}
"""Sources, which are ours unless they name another author."""
BUILT = {".c", ".pyd", ".so", ".pyc"}
OURS = {".ci/run", ".ci/big_endian", "packaging/Containerfile", "tfprof/cli/completion/*"}
"""Sources without such a suffix."""
FOREIGN = re.compile(
    r"copyright \(c\)|©|\bSPDX-License-Identifier\b|@licen[cs]e\b|licen[cs]ed under", re.IGNORECASE
)
MINIFIED = 500
"""No line that a person writes is as long, in a script or a style sheet."""

pytestmark = pytest.mark.one_engine


def rows():
    """Patterns of the page's first table, and their licences."""
    table = re.findall(
        r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {pattern: licence for pattern, _, licence in table if "/" in pattern}


def files():
    """Paths of what the repository holds, without what is built or cached in it."""
    found = [ROOT / name for name in ("noxfile.py", "setup.py", "action.yml")]
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not {"__pycache__", "man"} & set(parts):
                found.append(path)
    return [path for path in found if path.suffix not in BUILT]


def needs_a_row(path):
    name = path.relative_to(ROOT).as_posix()
    if path.suffix not in WRITTEN and not any(fnmatch(name, one) for one in OURS):
        return True
    if path in (PAGE, Path(__file__)):
        return False
    text = path.read_text("utf-8")
    is_script = path.suffix in (".js", ".mjs", ".css")
    return bool(FOREIGN.search(text)) or (is_script and max(map(len, text.split("\n"))) > MINIFIED)


def test_each_file_of_data_or_of_another_author_has_a_row():
    names = [path.relative_to(ROOT).as_posix() for path in files() if needs_a_row(path)]
    assert len(names) > 80
    assert [name for name in names if not any(fnmatch(name, row) for row in rows())] == []
    assert [row for row in rows() if not any(fnmatch(name, row) for name in names)] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("icons.woff2", "x"),
        ("LICENSE.other", "x"),
        ("uplot.js", "/* Copyright (c) 2024 A. Person */\n"),
        ("d3.js", "!function(t){" + "x" * 600 + "}\n"),
        ("reset.css", "/*! @license MIT */\n"),
    ],
)
def test_a_vendored_file_needs_a_row(tmp_path, monkeypatch, name, text):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    assert needs_a_row(tmp_path / name)


def test_licences_of_others_are_kept_beside_their_data():
    for licence in rows().values():
        for place in re.findall(r"`([^`]+)`", licence):
            assert "Permission is hereby granted" in (ROOT / place).read_text("utf-8")


@pytest.mark.parametrize(
    ("licence", "permitted"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("GPL-3.0-only OR MIT", True),
        ("BSD-3-Clause AND (MIT OR GPL-2.0)", True),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0", False),
        ("", False),
    ],
)
def test_expressions(licence, permitted):
    assert CHECK["is_permitted"](licence) is permitted


def test_the_licence_of_each_installed_dependency_is_permitted():
    assert CHECK["refused"]() == []
