"""Views as pictures: what is drawn, what is left out and counted, and hostile names."""

from __future__ import annotations

import gzip
import html
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.core.text.drawing.plan import Drawing, Edge
from tfprof.testing.builders import graph, op, op_log, options, run, stat, traced
from tfprof.views.result import ViewTree
from tfprof.views.show.drawing.files import draw_to_file, render_dot_file
from tfprof.views.show.drawing.views import draw_view, view_to_graphviz

pytest.importorskip("graphviz")
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")

NET = graph(
    op("image", "Placeholder", outputs=[[8, 4]]),
    op("net/a/mm", "MatMul", "image", outputs=[[8, 4]]),
    op("net/a/relu", "Relu", "net/a/mm", outputs=[[8, 4]]),
    op("net/b/mm", "MatMul", "net/a/relu", outputs=[[8, 4]]),
    op("net/b/split", "Split", "net/b/mm", outputs=[[8, 2], [8, 2]]),
    op("net/b/join", "ConcatV2", "net/b/split", "net/b/split:1", "^image", outputs=[[8, 4]]),
)
RUN = run(
    {
        "net/a/mm": stat(600, outputs=[128]),
        "net/a/relu": stat(10, outputs=[128]),
        "net/b/mm": stat(300, outputs=[1280]),
        "net/b/split": stat(50, outputs=[64, 64]),
        "net/b/join": stat(40, outputs=[128]),
    }
)


def view(kind: str, *, step: Any = RUN, net: Any = NET, log: Any = None, **chosen: Any) -> ViewTree:
    profiler = tfprof.Profiler(net, log)
    if step is not None:
        profiler.add_step(0, step)
    return profiler.view(kind, options(**chosen))


def nodes(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    """Lines below the first, by full name."""
    return {node.about.split("\n")[0]: tuple(node.lines) for node in drawing.nodes}


def edges(drawing: Drawing) -> dict[tuple[str, str], Edge]:
    names = [node.about.split("\n")[0] for node in drawing.nodes]
    return {(names[edge.tail], names[edge.head]): edge for edge in drawing.edges}


# Graph view


def test_graph_view_draws_the_heaviest_ops_and_counts_the_rest() -> None:
    drawing = draw_view(view("graph"), max_nodes=2)
    assert nodes(drawing) == {
        "net/a/mm": ("a/mm", "MatMul", "600 µs (60.0 %)"),
        "net/b/mm": ("b/mm", "MatMul", "300 µs (30.0 %)"),
        "1 more, not drawn one by one": ("1 more",),
    }
    assert [node.share for node in drawing.nodes] == [1.0, 0.5, 0.0]
    (frame,) = drawing.clusters
    assert frame.lines == ["net", "+ 3 more: 100 µs (10.0 %)"]
    assert [node.cluster for node in drawing.nodes] == [0, 0, -1]


def test_data_flow_through_what_is_not_drawn_is_dotted() -> None:
    drawing = draw_view(view("graph"), max_nodes=2)
    assert {pair: edge.kind for pair, edge in edges(drawing).items()} == {
        ("net/a/mm", "net/b/mm"): "through"
    }
    assert "style=dotted" in view_to_graphviz(view("graph"), max_nodes=2).source


def test_edges_have_the_bytes_that_the_run_recorded() -> None:
    found = edges(draw_view(view("graph")))
    assert found["net/a/mm", "net/a/relu"].label == "128 B"
    assert found["net/b/mm", "net/b/split"].label == "1.28 kB"
    assert found["net/b/mm", "net/b/split"].share == 1.0
    assert found["net/a/mm", "net/a/relu"].share == 0.1
    both = found["net/b/split", "net/b/join"]
    assert (both.label, both.about) == ("128 B", "128 B, 2 tensors")
    # The placeholder was fed: its size was not recorded.
    assert found["image", "net/a/mm"].label == "8×4"
    assert found["image", "net/b/join"].kind == "control"


def test_several_executions_and_steps() -> None:
    profiler = tfprof.Profiler(NET)
    twice = [("net/a/mm", stat(1, outputs=[100])), ("net/a/mm", stat(1, outputs=[100]))]
    profiler.add_step(0, run(twice))
    profiler.add_step(1, run({"net/a/mm": stat(1, outputs=[400])}))
    pair = ("net/a/mm", "net/a/relu")
    for step, label in ((0, "200 B"), (1, "400 B"), (-1, "300 B")):
        assert edges(draw_view(profiler.view("graph", options(step=step))))[pair].label == label


def test_without_a_run_edges_have_shapes() -> None:
    drawing = draw_view(view("graph", step=None))
    found = edges(drawing)
    assert found["net/a/mm", "net/a/relu"].label == "8×4"
    assert found["net/b/split", "net/b/join"].label == "2 tensors"
    assert found["net/b/split", "net/b/join"].about == "32, 2 tensors"
    assert "width of arrows: elements of the tensors; bytes need a run" in drawing.title


def test_loops_keep_their_edges() -> None:
    loop = graph(
        op("enter", "Enter", outputs=[[2]]),
        op("merge", "Merge", "enter", "next", outputs=[[2], []]),
        op("body", "Add", "merge", outputs=[[2]]),
        op("hidden", "Identity", "body", outputs=[[2]]),
        op("next", "NextIteration", "hidden", outputs=[[2]]),
    )
    step = run({"enter": 9, "merge": 9, "body": 9, "next": 9})
    found = edges(draw_view(view("graph", net=loop, step=step), max_nodes=4))
    assert {pair: edge.kind for pair, edge in found.items()} == {
        ("enter", "merge"): "data",
        ("merge", "body"): "data",
        ("body", "next"): "through",
        ("next", "merge"): "data",
    }


def test_of_many_arrows_those_without_another_way_stay() -> None:
    layers = 30
    nodes_ = [op("x0", outputs=[[2]])]
    for number in range(1, layers):
        inputs = [f"x{source}" for source in range(number)]
        nodes_.append(op(f"x{number}", "AddN", *inputs, outputs=[[number]]))
    drawing = draw_view(view("graph", net=graph(*nodes_), step=None))
    found = edges(drawing)
    assert all((f"x{i}", f"x{i + 1}") in found for i in range(layers - 1))
    assert len(found) == 40
    total = layers * (layers - 1) // 2
    assert f"{total - 40} narrow arrows are left out; others connect these boxes" in drawing.title


# Scope view


def test_scope_view_opens_the_heaviest_scopes() -> None:
    drawing = draw_view(view("scope"), max_nodes=2)
    assert nodes(drawing) == {
        "net/a": ("a", "610 µs (61.0 %)"),
        "net/b": ("b", "390 µs (39.0 %)"),
        "1 more, not drawn one by one": ("1 more",),
    }
    assert [frame.lines for frame in drawing.clusters] == [["net", "1.00 ms (100.0 %)"]]
    assert edges(drawing)["net/a", "net/b"].label == "128 B"  # all between the two

    drawing = draw_view(view("scope"), max_nodes=3)
    assert list(nodes(drawing)) == [
        "net/a", "net/b/mm", "net/b/split", "1 more, not drawn one by one",
    ]  # fmt: skip
    assert drawing.clusters[1].lines == ["b", "390 µs (39.0 %)", "+ 1 more: 40 µs (4.0 %)"]


def test_scope_view_of_one_node_is_the_whole() -> None:
    drawing = draw_view(view("scope"), max_nodes=1)
    assert list(nodes(drawing)) == ["net", "1 more, not drawn one by one"]


def test_scopes_with_one_thing_to_see_have_no_frame() -> None:
    net = graph(op("a/b/c/heavy"), op("a/b/c/light"), op("d/x"), op("d/y"))
    step = run({"a/b/c/heavy": 900, "a/b/c/light": 1, "d/x": 60, "d/y": 50})
    drawing = draw_view(view("scope", net=net, step=step), max_nodes=3)
    assert list(nodes(drawing)) == ["a", "d/x", "d/y"]
    assert [frame.about.split("\n")[0] for frame in drawing.clusters] == ["d"]


def test_ops_deeper_than_the_view_count_for_their_scope() -> None:
    drawing = draw_view(view("scope", max_depth=3))
    assert list(nodes(drawing)) == ["image", "net/a", "net/b"]
    assert edges(drawing)["net/a", "net/b"].label == "128 B"


def test_an_op_that_is_a_scope_stands_for_itself_in_it() -> None:
    net = graph(op("a", "Const", outputs=[[2]]), op("a/b", "Neg", "a"), op("a/c", "Abs", "a/b"))
    step = run({"a": stat(5, outputs=[8]), "a/b": 70, "a/c": 60})
    drawing = draw_view(view("scope", net=net, step=step))
    assert [node.lines[-1] for node in drawing.nodes] == [
        "5 µs (3.7 %)", "70 µs (51.9 %)", "60 µs (44.4 %)",
    ]  # fmt: skip
    assert edges(drawing)["a", "a/b"].label == "8 B"


# Code view and others


def test_code_view_is_a_graph_of_calls() -> None:
    log = op_log(
        traced("net/a/mm", "t.py:1:main", "n.py:2:dense"),
        traced("net/a/relu", "t.py:1:main", "n.py:9:relu"),
        traced("net/b/mm", "t.py:1:main"),
    )
    drawing = draw_view(view("code", log=log), max_nodes=2)
    assert nodes(drawing) == {
        "t.py:1:main": (
            "t.py:1:main", "910 µs (100.0 %)", "own: 300 µs (33.0 %)", "+ 1 more: 10 µs (1.1 %)",
        ),
        "n.py:2:dense": ("n.py:2:dense", "600 µs (65.9 %)"),
    }  # fmt: skip
    ((pair, edge),) = edges(drawing).items()
    assert pair == ("t.py:1:main", "n.py:2:dense")
    assert (edge.kind, edge.label) == ("call", "600 µs")


def test_op_view_has_no_edges() -> None:
    with pytest.raises(tfprof.UsageError, match="scope, graph or code view"):
        view_to_graphviz(view("op"))


@pytest.mark.parametrize(
    ("chosen", "attribute", "title"),
    [
        ({}, None, "time"),
        ({"select": ["bytes", "micros"]}, None, "time"),  # no memory was recorded
        ({"select": ["output_bytes"]}, None, "output mem"),
        ({"select": ["device"]}, None, "time"),
        ({}, "occurrence", "runs"),
    ],
)
def test_what_nodes_are_chosen_by(chosen: Any, attribute: str | None, title: str) -> None:
    drawing = draw_view(view("graph", **chosen), attribute=attribute)
    assert f"size and colour of boxes: own {title}" in drawing.title


def test_a_chosen_attribute_counts_even_if_no_row_has_it() -> None:
    drawing = draw_view(view("graph"), attribute="params")
    assert drawing.title[0] == "graph view: params 0; 6 of 6 ops"


def test_without_any_numbers_ops_are_counted() -> None:
    net = graph(op("a/b"), op("a/c"), op("d"))
    drawing = draw_view(view("scope", net=net, step=None), max_nodes=2)
    assert nodes(drawing)["a"] == ("a", "2 (66.7 %)")
    drawing = draw_view(view("graph", net=net, step=None))
    assert nodes(drawing)["a/b"] == ("b", "NoOp")
    assert {node.share for node in drawing.nodes} == {0.0}


def test_wrong_arguments() -> None:
    with pytest.raises(tfprof.UsageError, match="attribute 'speed': use one of micros"):
        view_to_graphviz(view("graph"), attribute="speed")
    with pytest.raises(tfprof.UsageError, match="max_nodes=0"):
        view_to_graphviz(view("graph"), max_nodes=0)


def test_empty_and_growing_profiles() -> None:
    assert draw_view(view("graph", net=graph(), step=None)).nodes == []
    profiler = tfprof.Profiler(NET)
    tree, scopes = (profiler.view(kind, options()) for kind in ("graph", "scope"))
    profiler.add_step(0, run({"late": 5}))
    assert len(draw_view(tree).nodes) == len(draw_view(scopes).nodes) == 6


def test_long_chains_and_deep_names() -> None:
    long = graph(op("x0"), *(op(f"x{i}", "Neg", f"x{i - 1}") for i in range(1, 20_000)))
    step = run({"x0": 7, "x19999": 9})
    found = edges(draw_view(view("graph", net=long, step=step, max_depth=10**6), max_nodes=2))
    assert [edge.kind for edge in found.values()] == ["through"]

    deep = graph(*(op("/".join("a" * depth) + f"/x{depth}") for depth in range(1, 300)))
    for kind in ("graph", "scope"):
        source = view_to_graphviz(view(kind, net=deep, step=None), max_nodes=300).source
        assert source.count("cluster_") <= 24


# DOT and files

HOSTILE = '<b>&lt;"x\\N\\"%\x1b[1m\u202e</b>'


def test_equal_views_give_equal_texts() -> None:
    first, second = (view_to_graphviz(view("scope")).source for _ in range(2))
    assert first == second


def test_names_are_text() -> None:
    net = graph(op(f"s/{HOSTILE}", HOSTILE), op("s/node:n:sw"), op("s/" + "\\"))
    source = view_to_graphviz(view("graph", net=net, step=None)).source
    assert "<<b>" not in source
    assert "label=<" not in source
    assert "\x1b" not in source
    assert r"\\x1b[1m\\u202e" in source


@needs_dot
def test_pictures_show_names_as_they_are() -> None:
    net = graph(op(f"s/{HOSTILE}", "x\\l&amp;"), op("s/two"), op("s/" + "\\"))
    svg = view_to_graphviz(view("graph", net=net, step=None)).pipe("svg").decode()
    texts = [html.unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", svg)]
    titles = [html.unescape(text) for text in re.findall(r'xlink:title="([^"]*)"', svg)]
    shown = '<b>&lt;"x\\N\\"%\\x1b[1m\\u202e</b>'
    assert shown in [text.replace("\xa0", " ") for text in texts]
    assert "x\\l&amp;" in texts
    assert "\\" in texts
    in_tooltips = shown.replace("\\", "\u2216")
    assert any(title.startswith(f"s/{in_tooltips}") for title in titles)


@needs_dot
@pytest.mark.parametrize("kind", ["graph", "scope", "code"])
def test_the_demo_can_be_laid_out(kind: str) -> None:
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    drawn = draw_to_file(profiler.view(kind), "x.svg")
    assert drawn.message == ""
    assert f"{kind} view: time".encode() in drawn.content.replace(b"&#160;", b" ")


@needs_dot
@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_the_suffix_says_the_format(name: str, start: bytes) -> None:
    drawn = draw_to_file(view("graph"), name)
    assert (drawn.path, drawn.content[: len(start)]) == (name, start)


@pytest.mark.parametrize("name", ["a.dot", "b.gv"])
def test_dot_text_needs_no_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    drawn = draw_to_file(view("graph"), name)
    assert (drawn.path, drawn.message) == (name, "")
    assert drawn.content.startswith(b"digraph tfprof {")


def test_without_the_program_the_text_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    drawn = draw_to_file(view("graph"), "folder/a.svg")
    assert Path(drawn.path) == Path("folder/a.dot")
    assert drawn.content.startswith(b"digraph tfprof {")
    assert "install Graphviz" in drawn.message
    assert f"dot -Tsvg {drawn.path} -o " in drawn.message


@pytest.mark.skipif(os.name != "posix", reason="writes a shell script")
def test_a_program_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'Error: no room' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    drawn = draw_to_file(view("graph"), "a.png")
    assert drawn.path == "a.dot"
    assert "'dot' failed: Error: no room" in drawn.message


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(tfprof.MissingDependencyError, match=r"tfprof\[graphviz\]"):
        draw_to_file(view("graph"), "a.svg")


def test_other_suffixes() -> None:
    for name in ("a", "a.jpg", ".svg"):
        with pytest.raises(tfprof.UsageError, match=r"must end in one of \.svg"):
            draw_to_file(view("graph"), name)


# DOT files of others

HLO = "// HLO\ndigraph G {\nlabel=<<b>jit_f</b>>;\n1 [label=<dot<br/>f32[2,2]>];\n1 -> 2;\n}\n"


@needs_dot
def test_hlo_dumps_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "a.dot").write_text(HLO)
    (tmp_path / "b.dot.gz").write_bytes(gzip.compress(HLO.encode()))
    svg = render_dot_file(tmp_path / "a.dot", "svg")
    assert b"f32[2,2]" in svg
    assert render_dot_file(tmp_path / "b.dot.gz", "svg") == svg


@needs_dot
def test_broken_dot_files(tmp_path: Path) -> None:
    path = tmp_path / "a.dot"
    path.write_text(HLO[:-3])
    with pytest.raises(tfprof.MalformedProfileError, match=r"a\.dot: a broken DOT file"):
        render_dot_file(path, "png")


def test_files_that_are_not_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.dot"
    path.write_bytes(b"\x0agraphics are not a graph")
    with pytest.raises(tfprof.UnknownFormatError, match="does not start with 'graph'"):
        render_dot_file(path, "svg")
    with pytest.raises(tfprof.InputError, match="cannot be read"):
        render_dot_file(tmp_path / "none.dot", "svg")
    with pytest.raises(tfprof.UsageError, match="kind 'exe'"):
        render_dot_file(path, "exe")
    path.write_text(HLO)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tfprof.MissingDependencyError, match="install Graphviz"):
        render_dot_file(path, "svg")


def test_lines_are_coloured_by_what_no_line_below_explains():
    """The costly lines are library frames that are not drawn; their callers would be white."""
    log = op_log(traced("a", "m.py:1:main", "m.py:2:slow", "lib.py:9:f"),
                 traced("b", "m.py:1:main", "m.py:3:quick"))  # fmt: skip
    made = tfprof.Profiler(graph(op("a", "Add"), op("b", "Add")), log)
    made.add_step(0, run({"a": 90, "b": 10}))
    drawing = draw_view(made.view("code", options(max_depth=3)), max_nodes=3)
    shares = {node.lines[0]: node.share for node in drawing.nodes if node.kind != "rest"}
    assert shares == {"m.py:1:main": 0.0, "m.py:2:slow": 1.0, "m.py:3:quick": pytest.approx(1 / 9)}
    assert "without the lines below that are drawn" in drawing.title[1]


def test_a_small_tensor_has_no_wide_arrow():
    """The large output goes to what is not drawn."""
    nodes = [op("big", "Add"), op("between", "Cast", "big"), op("head", "Add", "between", "small"),
             op("small", "Add")]  # fmt: skip
    made = tfprof.Profiler(graph(*nodes))
    made.add_step(
        0,
        run({"big": stat(90, outputs=[1_000_000]), "between": stat(1, outputs=[500_000]),
             "small": stat(70, outputs=[2_000]), "head": stat(80, outputs=[1_000])}),
    )  # fmt: skip
    drawing = draw_view(made.view("graph", options()), max_nodes=3)
    [edge] = [edge for edge in drawing.edges if edge.kind == "data"]
    assert edge.label == "2.00 kB"
    assert edge.share == pytest.approx(0.002)
