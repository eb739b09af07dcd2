"""Links of pages, followed to the row, the event or the instruction that they name.

What makes links of documents is in ``ui/web/static``: ``table.js``, ``graph.js``, ``buffers.js``,
``code_lines.js``, ``plots.js``, ``areas.js``, ``stacks.js``, ``heatmap.js``, ``parts.js``,
``tree_details.js`` and ``blocks.js``; a test in a browser compares.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.ui.pages.packed import unpacked
from tfprof.errors import TfprofError
from tfprof.ui.pages.site import Site
from tfprof.ui.pages.trace.search import search

OF_PROGRAMS = ("graph-viewer", "memory-viewer")


class Link(NamedTuple):
    """A link: the page that it is on, where there, and where it leads; ``to`` may be the page."""

    page: str
    place: str
    to: str
    params: tuple[tuple[str, str], ...] = ()


def blocks_of(blocks) -> Iterator[dict[str, Any]]:
    """Blocks, also those in tabs and beside others."""
    for block in blocks:
        if block["kind"] == "tabs":
            for item in block["items"]:
                yield from blocks_of(item["blocks"])
        elif block["kind"] == "row":
            yield from blocks_of(block["blocks"])
        else:
            yield block


def links_of(page_id, blocks) -> Iterator[Link]:
    """The links of a page, each once."""
    found = {}
    for block in blocks_of(blocks):
        for place, to, params in _LINKS.get(block["kind"], lambda _: ())(block):
            kept = tuple(sorted((name, str(value)) for name, value in params.items()))
            found[Link(page_id, place, to or page_id, kept)] = None
    yield from found


def _of_table(block):
    if "page" in block:
        yield block["id"], block["page"], {}
    cells = {
        each["id"]: unpacked(values)
        for each, values in zip(block["columns"], block["cells"], strict=True)
    }
    for name, link in (block.get("links") or {}).items():
        ways = unpacked(link["at"]) if "at" in link else [0] * block["n_rows"]
        values = unpacked(link["values"]) if "values" in link else cells[name]
        of_column = block.get("program_column")
        for row, (way, value) in enumerate(zip(ways, values, strict=True)):
            if way < 0:
                continue
            to, param = link["ways"][way]
            program = cells[of_column][row] if of_column else block.get("program")
            more = {"program": program} if program and to in OF_PROGRAMS else {}
            yield f"{block['id']}.{name}", to, {param: value, **more}


def _of_findings(block):
    for item in block["items"]:
        if item["page"]:
            yield item["rule"], item["page"], {}


def _of_graph(block):
    for node in block["nodes"]:
        if node["toggle"]:
            yield f"{block['id']}, opened or closed", "", node["toggle"]
        elif node["link"]:
            yield block["id"], node["link"]["page"], node["link"]["params"]


def _of_buffers(block):
    for name in unpacked(block["instructions"]):
        if name:
            yield block["id"], "graph-viewer", {
                **block.get("along", {}), "program": block["program"], "node": name,
            }  # fmt: skip


def _of_code_lines(block):
    for file in block["files"]:
        for each in file["lines"]:
            if each["find"]:
                yield block["id"], "hlo-stats", {**block.get("along", {}), "find": each["find"]}


def _of_chart(block):
    if "page" in block:
        yield block["id"], block["page"], {}
    chosen = block.get("choose")
    for key in (chosen.get("keys") or unpacked(block["x"])) if chosen else ():
        yield f"{block['id']}, chosen", "", {chosen["param"]: key, **chosen.get("also", {})}
    for link in block.get("point_links", ()):
        if link:
            yield block["id"], link["page"], link["params"]


def _of_tree(block):
    way = block["row_page"]
    if not way:
        return
    names, parents = unpacked(block["names"]), unpacked(block["parent"])
    on_page = unpacked(way["rows"]) if "rows" in way else None
    whole: list[str] = []
    for row, (name, parent) in enumerate(zip(names, parents, strict=True)):
        joined = f"{whole[parent]}{block['joint']}{name}" if block["joint"] and parent > 0 else name
        whole.append(block["full_names"].get(str(row), joined))
        if row and (on_page is None or on_page[row]):
            yield block["id"], way["page"], {way["param"]: whole[row]}


_LINKS = {
    "table": _of_table, "findings": _of_findings, "graph": _of_graph, "chart": _of_chart,
    "tree": _of_tree, "buffers": _of_buffers, "code-lines": _of_code_lines,
}  # fmt: skip


class Followed:
    """Links followed within a site; each page of it is made once.

    Args:
        site: The site.
        run: Name of the run.
        common: What all pages keep in their addresses: a host, steps, another run.
    """

    def __init__(self, site: Site, run: str = "", **common: str) -> None:
        self._site, self._run, self._common = site, run, {"run": run, **common}
        self._index = {page["id"]: page["missing"] for page in site.to_dict(run)["pages"]}
        self._texts: dict[tuple, list[str]] = {}

    def pages(self) -> Iterator[tuple[str, list]]:
        """Every page that has something to show, with its blocks."""
        for page_id, missing in self._index.items():
            if not missing:
                yield page_id, self._page(page_id, {})

    def trouble(self, link: Link) -> str:
        """What is wrong with a link; empty for nothing."""
        if link.to not in self._index:
            return "no such page"
        if self._index[link.to]:
            return f"nothing on that page: {self._index[link.to]}"
        params = dict(link.params)
        wanted = params.pop("find", "").lower()
        try:
            if link.to == "trace":
                return "" if not wanted or self._is_in_trace(wanted) else "no such event"
            if link.to == "model-graph":
                return self._trouble_of_drawing(params)
            if "node" in params:
                blocks = self._page(link.to, {**params, "width": "0"})
                [nodes] = [each for each in blocks if each.get("id") == "nodes"]
                center = unpacked(nodes["cells"][0])
                return "" if {*center} == {params["node"]} else f"shows {center}"
            texts = self._texts_of(link.to, params)
        except TfprofError as error:
            return str(error)
        return "" if not wanted or any(wanted in text for text in texts) else "no such row"

    def _page(self, page_id, params):
        return self._site.page(page_id, {**self._common, **params}).to_dict()["blocks"]

    def _is_in_trace(self, wanted):
        runs = [self._run, *filter(None, [self._common.get("against")])]
        return any(search(self._site.run(run).events(), wanted)["n_events"] for run in runs)

    def _trouble_of_drawing(self, params):
        graphs = [b for b in self._page("model-graph", params) if b["kind"] == "graph"]
        boxes = {node["id"]: node["is_open"] for graph in graphs for node in graph["nodes"]}
        box = params["at"] or params["last"]
        if box not in boxes:
            return "no such box"
        wants_open = box in params.get("open", "").split("\n")
        return "" if "open" not in params or boxes[box] == wants_open else "not opened or closed"

    def _texts_of(self, page_id, params):
        key = (page_id, *sorted(params.items()))
        if key not in self._texts:
            self._texts[key] = [
                text.lower()
                for block in blocks_of(self._page(page_id, params))
                if block["kind"] == "table"
                for column, cells in zip(block["columns"], block["cells"], strict=True)
                if column["type"] == "string"
                for text in dict.fromkeys(unpacked(cells))
                if text
            ]
        return self._texts[key]
