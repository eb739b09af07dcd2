"""``documents.d.ts`` declares every document with all its keys and their types."""

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

PAGE = (Path(__file__).parents[3] / "docs" / "pages_format.md").read_text("utf-8")
TEXT = re.sub(r"/\*\*.*?\*/", "", static_text("documents.d.ts"), flags=re.DOTALL)
TEXT = re.sub(r"\n +\| ", " | ", TEXT).replace(": | ", ": ")  # long unions are on many lines
DECLARED = {
    name: (parent, dict(re.findall(r"^  (\w+\??): (.*?);$", body, re.MULTILINE)))
    for name, parent, body in re.findall(
        r"^(?:export )?interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}",
        TEXT,
        re.MULTILINE | re.DOTALL,
    )
}
KINDS = {
    keys["kind"].strip('"'): name for name, (_, keys) in DECLARED.items() if name.endswith("Block")
}
PLAIN = {"string": str, "number": (int, float), "boolean": bool, "Params": dict}


def keys_of(name):
    parent, own = DECLARED[name]
    return {**(keys_of(parent) if parent else {}), **own}


def troubles(value, type_, where):
    """Where a value is not of a type: places, keys and all."""
    if type_ == "any":
        return []
    if type_ == "Block":
        return troubles(value, KINDS[value["kind"]], where)
    if type_ in DECLARED and isinstance(value, dict):
        keys = keys_of(type_)
        known = {key.rstrip("?") for key in keys}
        found = [f"{where}.{key} is not declared" for key in value if key not in known]
        for key, inner in keys.items():
            if key.rstrip("?") in value:
                found += troubles(value[key.rstrip("?")], inner, f"{where}.{key.rstrip('?')}")
            elif not key.endswith("?"):
                found.append(f"{where}.{key} is missing")
        return found
    if type_.endswith("[]") and re.fullmatch(r"\w+\[\]|\(.*\)\[\]", type_):
        inner = type_[:-2].removeprefix("(").removesuffix(")")
        return [each for item in value for each in troubles(item, inner, f"{where}[]")]
    if " | " in type_ and "{" not in type_:
        every = [troubles(value, one, where) for one in type_.split(" | ")]
        return [] if [] in every else [f"{where} is {value!r}, not {type_}"]
    if type_ in PLAIN:
        is_fit = isinstance(value, PLAIN[type_]) and isinstance(value, bool) == (type_ == "boolean")
    elif type_.startswith('"'):
        is_fit = value == type_.strip('"')
    elif type_ == "null":
        is_fit = value is None
    elif type_.startswith("Column"):
        packed = ({"type", "data"}, {"texts", "at"})
        is_fit = isinstance(value, list) or (isinstance(value, dict) and value.keys() in packed)
    else:  # what is declared in place
        is_fit = isinstance(value, (dict, list, tuple)) or (value is None and "| null" in type_)
        is_fit &= type_ not in DECLARED
    return [] if is_fit else [f"{where} is {value!r}, not {type_}"]


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
