"""A report: one file that holds pages with all their data, asks for nothing, and can be mailed.

Its content policy allows exactly one script and one style sheet, by their hashes: nothing that a
profile holds could run, even if it were taken for markup.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from tfprof.errors import EmptyProfileError, InputError, TfprofError, UsageError
from tfprof.pages.document import FORMAT, Page, to_json
from tfprof.pages.site import NoSuchPageError, Site
from tfprof.text.tables import escaped
from tfprof.web.scripts import joined_script, static_text

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {script}; \
style-src {style}; img-src data:; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{css}</style>
</head>
<body>
<noscript>This report needs JavaScript; all of it is in this file.</noscript>
"""


def report(site: Site, pages: Sequence[str] = (), params: Mapping[str, str] | None = None) -> bytes:
    """A report of one run of a site.

    Args:
        site: What was opened.
        pages: Names of the pages to hold; by default all that have something to show.
        params: Parameters that all pages are made with; ``run`` chooses the run, by default the
            first.

    Raises:
        UsageError: There is no such page or run, or a parameter has no such value.
        InputError: The run cannot be read.
    """
    params = dict(params or {})
    is_chosen = bool(params.keys() - {"run"})
    index = site.to_dict(params.get("run", ""))
    if index["trouble"]:
        raise InputError(index["trouble"])
    known = [page["id"] for page in index["pages"]]
    for name in pages:
        if name not in known:
            raise NoSuchPageError(f"no page {name!r}; this run has: {', '.join(known)}")
    made: list[Page] = []
    for entry in index["pages"]:
        if entry["id"] in pages or not (pages or entry["missing"]):
            try:
                made.append(site.page(entry["id"], params))
            except TfprofError as error:
                # A page that was not asked for by name may have nothing to show; but a step or
                # a host that does not exist is a mistake.
                if pages or (is_chosen and isinstance(error, UsageError)):
                    raise
                entry["missing"] = escaped(str(error))
    if not made:
        raise EmptyProfileError("there is nothing to show: no page of this run has data")
    held = {page.id for page in made}
    index["pages"] = [entry for entry in index["pages"] if entry["id"] in held]
    index["runs"] = [run for run in index["runs"] if run["name"] == index["run"]]
    documents = {document_name(f"page/{page.id}", {}): page.to_json() for page in made}
    for page in made:
        for path, asked, content in site.documents(page.id, params.get("run", "")):
            documents[document_name(path, asked)] = content
    return page_file(index, documents, made)


def one_page(page: Page, source: str) -> bytes:
    """A page alone.

    Args:
        page: The page.
        source: What it is about, such as the names of files.
    """
    index = {
        "format": FORMAT, "runs": [{"name": "", "source": escaped(source)}], "run": "",
        "trouble": "",
        "pages": [{"id": page.id, "title": page.title, "group": "", "missing": ""}],
    }  # fmt: skip
    return page_file(index, {f"page/{page.id}?": page.to_json()}, [page])


def page_file(
    index: Mapping[str, object], documents: Mapping[str, bytes], made: Iterable[Page]
) -> bytes:
    """The file: the front end, the list of pages, and the documents, each packed."""
    script, css = joined_script(), static_text("style.css")
    titles = [page.title for page in made]
    title = f"{titles[0]} · tfprof" if len(titles) == 1 else "Report · tfprof"
    head = _HEAD.format(script=_hash(script), style=_hash(css), title=title, css=css)
    parts = [
        head.encode(),
        _data("site", to_json(index).replace(b"<", b"\\u003c"), "application/json"),
    ]
    for name, document in documents.items():
        # Without a time of packing: the same profile makes the same file.
        packed = base64.b64encode(gzip.compress(document, 9, mtime=0))
        parts.append(_data(name, packed, "application/octet-stream"))
    parts.append(f'<script type="module">{script}</script>\n</body>\n</html>\n'.encode())
    return b"".join(parts)


def document_name(path: str, params: Mapping[str, str]) -> str:
    """The name under which a report holds a document; the front end makes the same one."""
    return f"{path}?{urlencode(sorted(params.items()))}"


def _data(name: str, content: bytes, kind: str) -> bytes:
    return b'<script type="%s" id="%s">' % (kind.encode(), name.encode()) + content + b"</script>\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
