"""docs/pages_format.md describes every kind of block with all its keys."""

import re
from pathlib import Path

import pytest

from tfprof.demo import demo_capture, demo_files
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.compare import compared
from tfprof.ui.pages.document import FORMAT
from tfprof.ui.pages.site import Site
from tfprof.ui.web.scripts import static_text

pytestmark = pytest.mark.one_engine

TEXT = (Path(__file__).parents[3] / "docs" / "pages_format.md").read_text("utf-8")
SECTIONS = {
    part.partition("\n")[0]: set(re.findall(r"`([\w-]+)`", part))
    for part in TEXT.split("\n### ")[1:]
}
EVERYWHERE = {"kind", "id", "title", "of_run"}


def test_every_kind_that_the_front_end_draws_is_described():
    views = static_text("blocks.js").partition("const VIEWS = {")[2].partition("};")[0]
    drawn = set(re.findall(r'^  "?([\w-]+)"?:', views, re.MULTILINE))
    assert len(drawn) >= 12
    assert drawn <= SECTIONS.keys()
    assert f"version of the format: {FORMAT}" in TEXT


def test_every_key_of_every_block_is_described():
    files = demo_files()
    runs = [
        [files.graph, files.run_meta, files.op_log], [demo_capture("gpu")],
        [demo_capture("input-bound")],
    ]  # fmt: skip
    missing, seen = set(), set()

    def look_at(block):
        kind = block["kind"]
        seen.add(kind)
        described = SECTIONS.get(kind, set()) | EVERYWHERE
        missing.update(f"{kind}: {key}" for key in block.keys() - described)
        parts = {
            "tree": ("measures", "texts"), "graph": ("nodes", "edges"), "chart": ("series",),
            "table": ("columns",), "findings": ("items",), "remarks": ("items",),
            "figures": ("items",), "trace": ("tracks",),
        }  # fmt: skip
        for name in parts.get(kind, ()):
            for item in block[name]:
                missing.update(f"{kind}.{name}: {key}" for key in item.keys() - described)
        if kind == "tabs":
            for item in block["items"]:
                for inner in item["blocks"]:
                    look_at(inner)

    for paths in runs:
        site = Site(open_paths(paths))
        for entry in site.to_dict()["pages"]:
            if not entry["missing"]:
                page = site.page(entry["id"], {})
                for block in (*page.blocks, *compared(page, page, ("a", "b")).blocks):
                    look_at(block)
    assert missing == set()
    assert len(seen) >= 10
