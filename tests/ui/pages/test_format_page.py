"""``documents.d.ts`` declares every document with all its keys and their types."""

import re
from pathlib import Path

import pytest

from tests.ui.pages.declared import KINDS, troubles
from tfprof.demo import demo_capture, demo_files
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.compare import compared
from tfprof.ui.pages.document import FORMAT
from tfprof.ui.pages.site import Site
from tfprof.ui.web.scripts import static_text

pytestmark = pytest.mark.one_engine

PAGE = (Path(__file__).parents[3] / "docs" / "pages_format.md").read_text("utf-8")


def test_every_kind_that_the_front_end_draws_is_declared():
    views = static_text("blocks.js").partition("const VIEWS = {")[2].partition("};")[0]
    drawn = set(re.findall(r'^  "?([\w-]+)"?:', views, re.MULTILINE))
    assert len(drawn) >= 12
    assert drawn == KINDS.keys()
    assert f"`format` is {FORMAT}" in PAGE


def test_every_document_is_as_it_is_declared():
    files = demo_files()
    runs = [
        [files.graph, files.run_meta, files.op_log], [demo_capture("gpu")],
        [demo_capture("input-bound")],
    ]  # fmt: skip
    found, seen = set(), set()
    for paths in runs:
        site = Site(open_paths(paths))
        index = site.to_dict()
        found.update(troubles(index, "Site", "site"))
        for entry in index["pages"]:
            if not entry["missing"]:
                page = site.page(entry["id"], {})
                for each in (page, compared(page, page, ("a", "b"))):
                    found.update(troubles(each.to_dict(), "Page", entry["id"]))
                    seen.update(block["kind"] for block in each.blocks)
    assert found == set()
    assert len(seen) >= 10


def test_what_is_not_as_declared_is_found():
    block = {
        "kind": "remarks",
        "title": 1,
        "items": [{"severity": "loud", "text": "", "hosts": ""}],
    }
    assert troubles(block, "Block", "x") == [
        "x.title is 1, not string",
        "x.items[].hosts is not declared",
        'x.items[].severity is \'loud\', not "error" | "warning" | "info"',
        "x.items[].host is missing",
        "x.n_more is missing",
    ]
