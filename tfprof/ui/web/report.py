"""A report: one file with pages and all their data, without network access, to keep or mail.

Its content policy allows exactly one script and one style sheet, by their hashes: no text of a
profile could run, even if it were taken for markup.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tfprof.core.text.characters import escaped
from tfprof.core.text.units import human_memory, some
from tfprof.core.version import __version__
from tfprof.errors import EmptyProfileError, InputError, TfprofError, UsageError
from tfprof.ui.pages.document import FORMAT, Page, to_json
from tfprof.ui.pages.site import Site, known_page
from tfprof.ui.pages.view_titles import COMPARE
from tfprof.ui.web.scripts import joined_script, joined_style

_LEVEL = 6
"""Compression level; 9 takes four times as long for one or two percent."""

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {script}; \
style-src {style}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="generator" content="tfprof {version}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{css}</style>
</head>
<body>
<noscript>This report needs JavaScript; all of it is in this file.</noscript>
"""


MOST_BYTES: Final = 64_000_000
"""Largest file of two runs; a larger one opens slowly and is too large for mail."""

_NAMED: Final = 3


class _Part(NamedTuple):
    """One run in a report: its list of pages, the pages, and all documents by name."""

    entries: dict[str, Any]
    pages: list[Page]
    documents: dict[str, bytes]


def report(
    site: Site,
    pages: Sequence[str] = (),
    params: Mapping[str, str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
) -> bytes:
    """A report of one run of a site; or of two, with the pages of each and of both together.

    Args:
        site: The opened runs.
        pages: Names of the pages; by default all that are not empty.
        params: Parameters of all pages; ``run`` chooses the run, by default the first, and
            ``against`` the one to compare it with.
        most_bytes: Largest file of two runs.

    Raises:
        UsageError: There is no such page or run, a parameter has no such value, or the file of
            two runs would be too large.
        InputError: A run cannot be read.
    """
    params = dict(params or {})
    against = params.pop("against", "")
    first = _part_of(site, pages, params, is_compared=bool(against))
    if not first.entries["pages"]:
        raise EmptyProfileError("there is nothing to show: no page of this run has data")
    if not against:
        return page_file(first.entries, first.documents, first.pages)
    if against == first.entries["run"]:
        raise UsageError(f"{against} cannot be compared with itself; name another run")
    both = _with_second(first, _part_of(site, pages, {**params, "run": against}, is_second=True))
    for entry in first.entries["pages"]:
        compared = site.page(entry["id"], {**params, "against": against})
        name = document_name(f"page/{entry['id']}", {"against": against})
        both.documents[name] = compared.to_json()
    content = page_file(both.entries, both.documents, both.pages)
    if len(content) > most_bytes:
        raise UsageError(_too_large(len(content), both.documents, most_bytes))
    return content


def _part_of(
    site: Site,
    pages: Sequence[str],
    params: Mapping[str, str],
    *,
    is_second: bool = False,
    is_compared: bool = False,
) -> _Part:
    """The part of one run; for a second one, missing pages are skipped.

    The page of two runs is listed if the run is compared, and made with the other one.
    """
    is_chosen = bool(params.keys() - {"run"})
    run = params.get("run", "")
    index = site.to_dict(run)
    if index["trouble"]:
        raise InputError(index["trouble"])
    known = [page["id"] for page in index["pages"]]
    if not is_second:
        pages = [known_page(name, known) for name in pages]
    made: list[Page] = []
    for entry in index["pages"]:
        is_of_both = entry["id"] == COMPARE[0]
        if not is_of_both and (entry["id"] in pages or not (pages or entry["missing"])):
            try:
                made.append(site.page(entry["id"], params))
            except TfprofError as error:
                # A page that the user did not name may be empty; but a step or a host that does not
                # exist is a mistake.
                if not is_second and (pages or (is_chosen and isinstance(error, UsageError))):
                    raise
    held = {page.id for page in made}
    if is_compared and (not pages or COMPARE[0] in pages):
        held.add(COMPARE[0])
    index["pages"] = [entry for entry in index["pages"] if entry["id"] in held]
    index["runs"] = [one for one in index["runs"] if one["name"] == index["run"]]
    address = {"run": run} if is_second else {}
    documents = {document_name(f"page/{page.id}", address): page.to_json() for page in made}
    for page in made:
        for path, asked, content in site.documents(page.id, run):
            documents[document_name(path, {**asked, **address})] = content
    return _Part(index, made, documents)


def _with_second(first: _Part, second: _Part) -> _Part:
    """The pages of both; their lists name the runs to compare with."""
    name = second.entries["run"]
    shared = {
        "runs": [*first.entries["runs"], *second.entries["runs"]],
        "compared": {first.entries["run"]: [name]},
    }
    documents = {**first.documents, **second.documents}
    documents[document_name("site", {"run": name})] = to_json({**second.entries, **shared})
    return _Part({**first.entries, **shared}, first.pages, documents)


def _too_large(n_bytes: int, documents: Mapping[str, bytes], most_bytes: int) -> str:
    sizes: dict[str, int] = {}
    for name, content in documents.items():
        page = name.partition("?")[0].removeprefix("page/").partition("/")[0]
        sizes[page] = sizes.get(page, 0) + len(content)
    largest = sorted(sizes, key=lambda page: -sizes[page])
    return (
        f"the report of two runs has {human_memory(n_bytes)}, more than "
        f"{human_memory(most_bytes)}; choose some of its pages. Largest are "
        f"{some(largest, _NAMED)}"
    )


def one_page(page: Page, source: str) -> bytes:
    """A page alone.

    Args:
        page: The page.
        source: Its subject, such as the names of files.
    """
    index = {
        "format": FORMAT, "runs": [{"name": "", "source": escaped(source)}], "run": "",
        "trouble": "", "version": __version__,
        "pages": [{"id": page.id, "title": page.title, "group": "", "missing": ""}],
    }  # fmt: skip
    return page_file(index, {f"page/{page.id}?": page.to_json()}, [page])


def page_file(
    index: Mapping[str, object], documents: Mapping[str, bytes], made: Iterable[Page]
) -> bytes:
    """The file: the front end, the list of pages, and the documents, each packed."""
    script, css = joined_script(), joined_style()
    titles = [page.title for page in made]
    title = f"{titles[0]} · tfprof" if len(titles) == 1 else "Report · tfprof"
    head = _HEAD.format(
        script=_hash(script), style=_hash(css), title=title, css=css, version=__version__
    )
    parts = [
        head.encode(),
        _data("site", to_json(index).replace(b"<", b"\\u003c"), "application/json"),
    ]
    for name, document in documents.items():
        # Without a time of packing: the same profile makes the same file.
        packed = base64.b64encode(gzip.compress(document, _LEVEL, mtime=0))
        parts.append(_data(name, packed, "application/octet-stream"))
    parts.append(f'<script type="module">{script}</script>\n</body>\n</html>\n'.encode())
    return b"".join(parts)


def document_name(path: str, params: Mapping[str, str]) -> str:
    """The name under which a report holds a document; the front end makes the same one."""
    # Browsers leave asterisks as they are, and not tildes.
    query = urlencode(sorted(params.items()), safe="*").replace("~", "%7E")
    return f"{path}?{query}"


def _data(name: str, content: bytes, kind: str) -> bytes:
    return b'<script type="%s" id="%s">' % (kind.encode(), name.encode()) + content + b"</script>\n"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
