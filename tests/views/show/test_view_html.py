import re
from html.parser import HTMLParser

import pytest

import tfprof
from tfprof.testing.builders import graph, op, run, stat
from tfprof.views.show.view_html import MAX_NESTING, view_page

VOID = {"meta", "br", "hr", "wbr"}


class Page(HTMLParser):
    """Rows as lists of cells, and everything that a browser could act on."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.rows, self.texts = [], [], [], []
        self.open, self.nesting, self.is_open = [], 0, []
        self._cell = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        self.nesting = max(self.nesting, self.open.count("details"))
        if "row" in attributes.get("class", "").split():
            self.rows.append([])
            self.is_open.append(self.open.count("details"))
        elif tag == "span" and self.rows and self.open[-2] in ("div", "summary"):
            self.rows[-1].append("")
            self._cell = len(self.open)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if self._cell is not None and len(self.open) < self._cell:
            self._cell = None

    def handle_data(self, data):
        self.texts.append(data)
        if self._cell is not None:
            self.rows[-1][-1] += data


def view(profiler, kind, **options):
    chosen = {**tfprof.ProfileOptionBuilder().build(), "output": "none", **options}
    return profiler.view(kind, chosen)


@pytest.fixture
def small():
    profiler = tfprof.Profiler(
        graph(op("a/b", "MatMul"), op("a/c", "Relu", "a/b"), op("e", "VariableV2", shape=[2, 3]))
    )
    executions = {"a/b": stat(700, memory=(2000, 64, 0)), "a/c": stat(200), "e": stat(100)}
    profiler.add_step(3, run(executions))
    return profiler


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    return profiler


def test_rows_of_a_tree(small):
    page = Page(view_page(view(small, "scope", select=["micros", "params"])))
    assert page.open == []
    assert page.rows == [
        ["scope", "time", "own time", "share", "", "params"],
        ["total", "1.00 ms", "", "100.0 %", "", "6"],
        ["a", "900 µs", "", "90.0 %", "", "0"],
        ["b", "700 µs", "700 µs", "70.0 %", "", "0"],
        ["c", "200 µs", "200 µs", "20.0 %", "", "0"],
        ["e", "100 µs", "100 µs", "10.0 %", "", "6"],
    ]
    assert page.is_open == [0, 1, 2, 2, 2, 1]
    assert ("title", "700 µs") in page.attributes
    assert ("style", "--t:90.0%") in page.attributes
    assert ("style", "--t:70.0%;--o:70.0%") in page.attributes


def test_rows_of_a_list(small):
    page = Page(view_page(view(small, "op", select=["micros"], order_by="micros"), max_rows=2))
    assert page.rows == [
        ["op type", "time", "share", ""],
        ["total", "1.00 ms", "100.0 %", ""],
        ["MatMul", "700 µs", "70.0 %", ""],
        ["Relu", "200 µs", "20.0 %", ""],
        ["others", "100 µs", "10.0 %", ""],
    ]
    assert ("style", "--t:100.0%") in page.attributes  # the largest op type
    text = "".join(page.texts)
    assert "2 of 3 op types, those with the largest time" in text


def test_what_stands_above_the_rows(small):
    tree = view(small, "scope", select=["micros", "bytes"], min_micros=1, trim_name_regexes=["a,b"])
    text = "".join(Page(view_page(tree)).texts)
    assert "Step 3." in text
    for words in ("min_micros1", "trim_name_regexesa,b", "selectmicros, bytes"):
        assert words in text.replace("\n", "")
    assert "output" not in text.partition("Bars:")[0].replace("output_bytes", "")
    assert "a/b: 700 µs, 70.0 %" in text
    small.add_step(5, run({"a/b": stat(100)}))
    assert "Average of 2 steps: 3, 5." in view_page(view(small, "scope"))
    assert "Step 5." in view_page(view(small, "scope", step=5))


def test_without_a_run():
    text = view_page(view(tfprof.Profiler(graph(op("a"))), "scope", select=["micros"]))
    assert "No step was recorded." in text
    assert Page(text).rows[1] == ["total", "n/a"]
    assert "need run metadata" in text


def test_notices_are_at_the_end(small):
    small.add_step(4, run({"a/b": stat(-5), "a/c": stat(-7)}))
    assert "(clock skew); their time counts as 0 (2 times)</li>" in view_page(view(small, "op"))


def test_nothing_runs_and_nothing_is_loaded(demo):
    for kind in ("scope", "graph", "op", "code"):
        tree = view(demo, kind, max_depth=4, select=["micros", "bytes", "device", "op_types"])
        text = view_page(tree, max_rows=300)
        page = Page(text)
        assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
        names = {name for name, _ in page.attributes}
        assert not {name for name in names if name.startswith("on")} | names & {"src", "href"}
        assert not {"url(", "@import", "//"} & {part for part in ("url(", "@import", "//")
                                                if part in text}  # fmt: skip
        assert "default-src 'none'" in text
        assert text == view_page(tree, max_rows=300)


def test_hostile_names_are_text():
    names = ["</title><script>alert(1)</script>", 'x" onclick="y', "\u202ea\x1b[1m", "{{ 7*7 }}"]
    profiler = tfprof.Profiler(graph(*(op(name, f"T{name}") for name in names)))
    for kind in ("scope", "op"):
        tree = view(profiler, kind, select=["occurrence", "op_types"], hide_name_regexes=["</pre>"])
        text = view_page(tree)
        page = Page(text)
        assert "script" not in page.tags
        assert not any(name.startswith("on") for name, _ in page.attributes)
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "{{ 7*7 }}" in text
        assert "</pre>" not in text


def test_deep_trees_nest_no_further_than_browsers_do():
    chain = [op("op0", "NoOp")]
    chain += [op(f"op{i}", "NoOp", f"op{i - 1}") for i in range(1, 3000)]
    tree = view(tfprof.Profiler(graph(*chain)), "graph", select=["occurrence"], max_depth=10_000)
    page = Page(view_page(tree))
    assert page.open == []
    assert page.nesting == MAX_NESTING
    assert len(page.rows) == 3002
    assert page.rows[-1][0] == "level 3000 op0"


def test_the_largest_rows_are_open_at_first(demo):
    page = view_page(view(demo, "code", max_depth=100, order_by="micros"), max_rows=300)
    assert 4 < page.count("<details open>") < 40
    assert page.count("<details>") > 20


def test_row_limit(demo):
    page = Page(view_page(view(demo, "scope", max_depth=100, order_by="micros"), max_rows=50))
    assert len(page.rows) == 51
    assert "+n: children left out" in "".join(page.texts)


def test_long_names_are_broken_and_not_cut():
    name = "/".join(["ExponentialMovingAverage"] * 6) + "/x<y"
    text = view_page(view(tfprof.Profiler(graph(op(name, "NoOp"))), "graph", select=["occurrence"]))
    page = Page(text)
    assert page.rows[-1][0] == name
    assert page.tags.count("wbr") == 6
    assert "x&lt;y" in text
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert re.findall(r"^([^{]*)\{[^}]*ellipsis", style, re.MULTILINE) == [".row>.t"]


def test_a_page_says_what_was_read_and_when_it_ran():
    made = tfprof.Profiler(graph(op("a")))
    made.add_step(0, run({"a": stat(5, start=1_769_860_800_000_000)}))
    page = view_page(view(made, "scope"), source="<run>.pb")
    assert "From &lt;run&gt;.pb, recorded 2026-01-31 12:00 UTC." in page
    assert "<title>tfprof: name scopes of &lt;run&gt;.pb</title>" in page
    made = tfprof.Profiler(graph(op("a")))
    made.add_step(0, run({"a": stat(5, start=1000)}))  # a clock that began with the machine
    assert "recorded" not in view_page(view(made, "scope"))


def test_the_card_of_the_dearest_op_does_not_depend_on_what_is_listed(small):
    cards = [
        re.search(r"most time in one op</dt><dd[^>]*><bdi>(.*?)<", view_page(tree))[1]
        for tree in (view(small, kind, max_depth=depth) for kind in ("scope", "graph")
                     for depth in (1, 2, 100))
    ]  # fmt: skip
    assert len(set(cards)) == 1
