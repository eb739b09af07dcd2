import io
import re

import pytest
from rich.console import Console

import tfprof
from tfprof.core.text.characters import ASCII, escaped
from tfprof.core.text.tables import Column, Grid, bar, folded
from tfprof.core.text.units import human_count, human_memory, human_share, human_time
from tfprof.views.show.terminal import ViewTable


def text_of(renderable, width=100):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def view(graph, kind="op", **options):
    profiler = tfprof.Profiler(graph)
    chosen = {**tfprof.ProfileOptionBuilder().build(), "output": "none", **options}
    return profiler.view(kind, chosen)


def graph_of(tmp_path, *nodes):
    path = tmp_path / "graph.pbtxt"
    path.write_text("".join(f'node {{ name: "{name}" op: "{op}" }}\n' for name, op in nodes))
    return path


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    return profiler


@pytest.mark.parametrize(
    ("value", "count", "time", "memory"),
    [
        (0, "0", "0 µs", "0 B"),
        (999, "999", "999 µs", "999 B"),
        (1500, "1.50 k", "1.50 ms", "1.50 kB"),
        (99_949, "99.9 k", "99.9 ms", "99.9 kB"),
        (999_500, "1.00 M", "1.00 s", "1.00 MB"),
        (25_557_032, "25.6 M", "25.6 s", "25.6 MB"),
        (-1500, "-1.50 k", "-1.50 ms", "-1.50 kB"),
    ],
)
def test_human_units(value, count, time, memory):
    assert (human_count(value), human_time(value), human_memory(value)) == (count, time, memory)


def test_share():
    shares = [human_share(1, 3), human_share(1, 100_000), human_share(0, 1)]
    assert shares == ["33.3 %", "<0.1 %", "0.0 %"]


def test_escaped_shows_what_terminals_act_on():
    assert escaped("a\x1b[31mb\u202ec\x00\n") == "a\\x1b[31mb\\u202ec\\x00\\n"
    assert escaped("ünïcode/日本") == "ünïcode/日本"


@pytest.mark.parametrize("width", range(1, 30))
def test_folded_fits_and_keeps_both_ends(width):
    result = folded("resnet50/stage_1/日本/Conv2D", width)
    assert Console().measure(result).maximum <= width or width < 2
    if width > 8:
        assert result.startswith("res"[: width // 4])
        assert result.endswith("2D")


@pytest.mark.parametrize(
    ("share", "expected"), [(0, ""), (0.001, "▏"), (0.5, "█████"), (1, "█" * 10), (7, "█" * 10)]
)
def test_bar(share, expected):
    assert bar(share, 10) == expected


def test_grid_leaves_out_columns_by_priority():
    grid = Grid(
        [
            Column("name", "name", ["first", "second"]),
            Column("a", "number", ["1.00 ms", "2 µs"]),
            Column("b", "number", ["100000", "2"], leave_out=1),
        ]
    )
    assert text_of(grid) == (
        "name          a       b\n"
        "───────────────────────\n"
        "first   1.00 ms  100000\n"
        "second     2 µs       2\n"
    )
    assert grid.left_out(15) == ["b"]


def test_a_grid_is_the_same_without_colours():
    grid = Grid(
        [
            Column(
                "op", "name", ["a", "日本/b", "c"], guides=["", "├ ", "└ "], suffixes=["", "!", ""]
            ),
            Column("type", "text", ["x", "", "ö"]),
            Column("n", "number", ["0", "– ", "12 µs"], style="red"),
            Column("", "bar", ["", "", ""], [None, 0.3, 1.0]),
        ],
        strong_rows=frozenset({0}),
        rule_before=frozenset({2}),
        indent=3,
    )
    texts = []
    for system in (None, "truecolor"):
        out = io.StringIO()
        Console(file=out, width=60, color_system=system, force_terminal=True).print(grid)
        texts.append(re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()))
    assert texts[0] == texts[1]
    assert [line[3:5] for line in texts[0].splitlines()] == ["op", "──", "a ", "├ ", "──", "└ "]


def test_what_has_no_room_is_named_without_the_bars_beside_it():
    bars = Column("", "bar", ["50 %"], [0.5], leave_out=1)
    share = Column("share", "number", ["50 %"], leave_out=1)
    grid = Grid([Column("op", "name", ["MatMul"]), share, bars])
    assert grid.left_out(8) == ["share"]


def test_markup_and_escapes_in_names_are_shown(tmp_path):
    graph = graph_of(tmp_path, (r"[red]x\033[1m", "NoOp"), (r"y", r"[bold]\342\200\256"))
    shown = text_of(ViewTable(view(graph, "scope")))
    assert r"[red]x\x1b[1m" in shown
    assert r"[bold]\u202e" in text_of(ViewTable(view(graph, "op")))


def test_scope_tree_lines(tmp_path):
    graph = graph_of(tmp_path, ("a/b", "NoOp"), ("a/c/d", "NoOp"), ("e", "NoOp"))
    lines = text_of(ViewTable(view(graph, "scope"))).splitlines()
    assert [line.split("  ")[0].rstrip() for line in lines[2:8]] == [
        "total", "├ a", "│ ├ b", "│ └ c", "│", "└ e",
    ]  # fmt: skip
    assert lines[6].startswith("│   └ d")


def test_metrics_without_a_run_are_not_zero(tmp_path):
    graph = graph_of(tmp_path, ("a", "NoOp"))
    select = ["micros", "bytes", "params", "float_ops", "occurrence"]
    shown = text_of(ViewTable(view(graph, "op", select=select)))
    assert shown.splitlines()[2].split() == ["NoOp", "n/a", "n/a", "0", "n/a", "n/a", "1"]
    assert "need run metadata" in shown


def test_row_limit_keeps_the_largest_and_their_ancestors(demo):
    options = {"max_depth": 5, "order_by": "name", "select": ["micros"], "output": "none"}
    tree = demo.view("scope", {**tfprof.ProfileOptionBuilder().build(), **options})
    shown = text_of(ViewTable(tree, max_rows=6))
    rows = shown.splitlines()[2:8]
    assert [row.split()[0] for row in rows][:1] == ["total"]
    assert any("gradients" in row for row in rows)
    assert f"6 of {len(tree):,} rows" in shown


def test_op_list_adds_up(demo):
    options = {"max_depth": 1000, "order_by": "micros", "select": ["occurrence"]}
    tree = demo.view("op", {**tfprof.ProfileOptionBuilder().build(), **options})
    lines = text_of(ViewTable(tree, max_rows=3)).splitlines()
    assert lines[5].startswith("others")
    assert lines[7].startswith("total")
    assert "3 of " in lines[8]


@pytest.mark.parametrize("kind", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_view_fits_every_width(demo, kind, width):
    from tfprof.options.spec import SELECT

    options = {"max_depth": 6, "order_by": "micros", "select": list(SELECT)}
    tree = demo.view(kind, {**tfprof.ProfileOptionBuilder().build(), **options})
    shown = text_of(ViewTable(tree, max_rows=25), width)
    assert max(map(len, shown.splitlines())) <= width


def test_ascii_glyphs(demo):
    tree = demo.view("scope", {**tfprof.ProfileOptionBuilder().build(), "max_depth": 3})
    assert text_of(ViewTable(tree, 20, ASCII)).isascii()


def test_deep_chain_is_shown_in_bounded_width(tmp_path):
    graph = graph_of(tmp_path, ("/".join("a" for _ in range(200)), "NoOp"))
    tree = view(graph, "scope", max_depth=1000)
    shown = text_of(ViewTable(tree), 120)
    assert "(200) " in shown
    assert max(map(len, shown.splitlines())) <= 120


def test_a_list_that_is_cut_by_name_says_how_to_see_the_largest(demo):
    hint = "--order_by micros lists the largest first"

    def remarks(**options):
        return text_of(ViewTable(view_of(demo, **{"max_depth": 10, **options}))).rpartition(
            "total"
        )[2]

    assert "others: what --max_depth 10 cuts off, by name; " + hint in remarks()
    for options in (
        {"order_by": "micros"},
        {"max_depth": 100},
        {"show_name_regexes": ["Conv2D", "AddN"]},
        {"max_depth": 25},  # up to Conv2DBackpropInput and others: more than half
    ):
        assert hint not in remarks(**options), options


def test_a_view_without_rows_says_which_options_hide_them(demo):
    def last_line(**options):
        return text_of(ViewTable(view_of(demo, **options))).splitlines()[-1]

    hidden = last_line(show_name_regexes=["None.*"], min_micros=1)
    assert hidden == "no row is left by --min_micros, --show_name_regexes"
    assert last_line(min_bytes=10**12) == "no row is left by --min_bytes"
    assert last_line(show_name_regexes=["Conv2D"]).startswith("total")


def view_of(profiler, **options):
    return profiler.view("op", {**tfprof.ProfileOptionBuilder().build(), **options})
