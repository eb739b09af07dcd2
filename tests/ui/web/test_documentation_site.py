"""The documentation as a site: every page is in it, every link leads somewhere, nothing is fetched.

``nox -s site`` builds it, warnings as errors, and names it in ``TFPROF_SITE``; else these tests are
skipped.
"""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .conftest import Watched

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(ROOT) for page in DOCS.rglob("*.md"))
PICTURES = sorted(picture.name for picture in (DOCS / "images").glob("*.png"))
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


def build(source, target):
    """Make a site of a folder; its warnings are errors."""
    if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")):
        pytest.skip("needs Sphinx: pip install 'tfprof[docs]'")
    doctrees = ("-d", str(target.with_name("doctrees")))
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto",
         "-c", str(DOCS), *doctrees, str(source), str(target)],
        capture_output=True, text=True, check=False, timeout=120, cwd=ROOT,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site():
    """The folder of the built site."""
    if not (built := os.environ.get("TFPROF_SITE")):
        pytest.skip("needs the site: nox -s site")
    return Path(built)


class Read(HTMLParser):
    """A page: its anchors, its links, and what a browser loads for it."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.anchors |= {told[name] for name in ("id", "name") if told.get(name)}
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        elif told.get(LOADING.get(tag, "")):
            self.loads.append(told[LOADING[tag]])


@pytest.fixture(scope="module")
def read(site):
    """Every page of the site by its path."""
    return {path.resolve(): Read(path) for path in site.rglob("*.html")}


def test_the_first_page_leads_to_every_page():
    """Checked here also where Sphinx is not installed."""
    linked = set()
    for index in (DOCS / "index.md", DOCS / "adr" / "README.md"):
        for link in re.findall(r"\]\(([^)#]+\.md)", index.read_text("utf-8")):
            linked.add((index.parent / link).resolve().relative_to(ROOT))
    assert set(PAGES) - linked == {Path("docs/index.md")}


def test_every_page_is_in_the_site_and_in_its_navigation(site, read):
    wanted = [site / page.with_suffix(".html") for page in PAGES]
    assert [page for page in wanted if page.resolve() not in read] == []
    first = site / "docs" / "index.html"
    text = first.read_text("utf-8")
    tree = text[text.index('class="sidebar-tree"') : text.index('class="main"')]
    named = {
        (first.parent / unquote(link)).resolve() for link in re.findall(r'href="([^"#]+)', tree)
    }
    assert [page for page in wanted if page.resolve() not in {*named, first.resolve()}] == []
    for question in ("Where does the time go?", "Why is a step slow?", "Reference"):
        assert question in tree


def test_every_link_of_the_site_leads_somewhere(read):
    broken = []
    for page, own in read.items():
        for link in [*own.links, *own.loads]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "data"):
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchors = read[there].anchors if there in read else {""}
            # A page of search results or a table of contents that a script makes has no anchors.
            if not there.is_file() or unquote(parts.fragment) not in anchors:
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_pages_load_nothing_from_elsewhere(site, read):
    addresses = [load for own in read.values() for load in own.loads]
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        addresses += re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text)
    flat = ["".join(one) for one in addresses]
    assert len(flat) > 100
    assert [one for one in flat if urlsplit(one).scheme not in ("", "data")] == []
    assert [one for one in flat if one.startswith("//")] == []


def test_the_pictures_are_shown(read):
    shown = {Path(load).name for own in read.values() for load in own.loads}
    assert len(PICTURES) == 8
    assert [name for name in PICTURES if name not in shown] == []


def test_broken_links_and_forgotten_pages_are_errors(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    wrong = ["[a](gone.md)", "[a](other.md#nowhere)", "[a](#neither)", "![a](gone.png)"]
    for name, lines in {"index": wrong, "other": [], "forgotten": []}.items():
        (docs / f"{name}.md").write_text("\n\n".join([f"# {name}", "* [Other](other.md)", *lines]))
    done = build(tmp_path, tmp_path / "built" / "html")
    assert done.returncode == 1
    for said in ("gone.md", "'nowhere'", "'neither'", "gone.png", "forgotten.md: WARNING"):
        assert said in done.stderr


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_is_read_and_searched_offline(chromium, site, scheme):
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 1300, "height": 900})
    watched = Watched(context.new_page())
    tab = watched.tab
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_url("**/docs/index.html")
    tab.fill("input[name=q]", "retracing")
    tab.press("input[name=q]", "Enter")
    tab.wait_for_selector("#search-results li")
    tab.goto((site / "docs" / "tutorials" / "pages.html").as_uri())
    assert tab.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    shade = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128")
    assert shade == (scheme == "dark")
    assert (watched.troubles, watched.requests) == ([], [])
    context.close()
