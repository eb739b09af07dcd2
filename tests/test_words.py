"""The list of phrases that plain English says better."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_words.py"

pytestmark = pytest.mark.one_engine


@pytest.fixture(scope="module")
def check_words():
    spec = importlib.util.spec_from_file_location("check_words", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", 'X = """It is\n    told."""\n', [(1, "is told")]),
        ("a.py", "# A tool asks\n# for it.\n", [(1, "a tool asks")]),
        ("a.py", "def test_what_is_said():\n    pass\n", [(1, "is_said")]),
        ("a.py", "told = known = None\nis_told(nobody)\n", []),
        ("a.md", "Nobody reads `nobody`.\n```\nnobody\n```\nIt is no file.\n",
         [(1, "nobody"), (5, "is no")]),
        ("a.md", "There is no file; it is no longer there, and no larger.\n", []),
        ("a.js", "// The user knows what the page wants\n", [(1, "the page wants")]),
    ],
)  # fmt: skip
def test_phrases(check_words, tmp_path, name, text, found):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [(line, phrase) for line, phrase, _ in check_words.hits(path)] == found
