"""How Sphinx makes a site of the documentation: ``nox -s site``.

The source is the whole repository, because pages link to the README and to other folders. Pages
stay plain Markdown: the navigation is made of the links of ``docs/index.md`` and of the decisions'
table, so that a page that neither names is an error.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

from tfprof.core.version import __version__

project = "tfprof"
release = __version__
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", *(f"{name}/README.md" for name in (
    "benchmarks", "changelog.d", "examples", "fuzz", "protos",
))]  # fmt: skip
exclude_patterns = [".*", "build", "dist", "tests", "tfprof"]
nitpicky = True
pygments_style = "default"

myst_heading_anchors = 3
"""How deep headings have the anchors that links on code hosts have, too."""

html_theme = "furo"
html_title = "tfprof"
html_copy_source = False
html_show_search_summary = False  # would fetch pages, which browsers refuse for files
html_show_sphinx = False
html_show_copyright = False
html_permalinks_icon = "#"
html_static_path: list[str] = []
html_theme_options = {"top_of_page_buttons": []}

_CONTENTS = ("docs/index", "docs/adr/README")
_HEADING_OR_LINK = re.compile(
    r"^(?:## (?P<heading>.+)|(?P<opening>\* |\| )\[(?P<text>.+?)\]\((?P<page>[^)#]+)\.md\).*)$",
    re.MULTILINE,
)
_TO_THE_ROOT = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=docs/index.html">\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect what this file adds to Sphinx."""
    app.connect("source-read", _add_contents)
    app.connect("build-finished", _lead_to_the_root)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Pages that list others get a table of contents for each of their headings.

    A list's words are the questions that readers come with; a table has the pages' own titles.
    """
    if name not in _CONTENTS:
        return
    pages: dict[str, list[str]] = {}
    heading = ""
    for found in _HEADING_OR_LINK.finditer(source[0]):
        heading = found["heading"] or heading
        if found["page"]:
            is_list = found["opening"] == "* "
            entry = f"{found['text']} <{found['page']}>" if is_list else found["page"]
            pages.setdefault(heading, []).append(entry)
    for caption, entries in pages.items():
        options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
        source[0] += "\n\n" + "\n".join(["```{toctree}", *options, *entries, "```", ""])


def _lead_to_the_root(app: Sphinx, error: Exception | None) -> None:
    """The site's first address leads to its first page, which is not at the top."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(_TO_THE_ROOT, encoding="utf-8")
