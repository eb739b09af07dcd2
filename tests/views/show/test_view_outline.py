import io

import numpy as np
import pytest
from rich.console import Console

import tfprof
from tfprof.core.text.characters import ASCII, UNICODE
from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.options.spec import SELECT
from tfprof.testing.builders import graph, op, run, stat
from tfprof.views.show.terminal import MAX_GUIDES, ViewOutline, _outline


def view_outline(tree, glyphs=UNICODE, max_rows=0, width=1_000_000):
    """A view as plain text, in which nothing is folded or left out unless there is a width."""
    lines, remarks = _outline(tree, glyphs, max_rows, width)
    texts = ["".join(text for text, _ in pieces) for pieces in lines]
    return "".join(f"{line}\n" for line in [*texts, *remarks])


def view(profiler, kind, **options):
    chosen = {**tfprof.ProfileOptionBuilder().build(), "output": "none", **options}
    return profiler.view(kind, chosen)


def printed(renderable, width=100, **console):
    console = Console(width=width, file=io.StringIO(), legacy_windows=False, **console)
    console.print(renderable)
    return console.file.getvalue()


@pytest.fixture
def small():
    profiler = tfprof.Profiler(
        graph(
            op("a/b", "MatMul"),
            op("a/c/d", "Relu", "a/b"),
            op("e", "VariableV2", shape=[2, 3]),
            op("idle", "Relu", "a/c/d"),
        )
    )
    executions = {"a/b": stat(700, memory=(2000, 64, 0)), "a/c/d": stat(200), "e": stat(100)}
    profiler.add_step(0, run(executions))
    return profiler


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log)
    profiler.add_step(0, files.run_meta)
    return profiler


def test_a_tree(small):
    tree = view(small, "scope", select=["micros", "bytes", "params"])
    assert (
        view_outline(tree)
        == """\
total          1.00 ms  100.0 %  2.00 kB memory  100.0 %  6 params  100.0 %
├── a           900 µs   90.0 %  2.00 kB memory  100.0 %  0 params
│   ├── b       700 µs   70.0 %  2.00 kB memory  100.0 %  0 params
│   └── c       200 µs   20.0 %      0 B memory           0 params
│       └── d   200 µs   20.0 %      0 B memory           0 params
├── e           100 µs   10.0 %      0 B memory           6 params  100.0 %
└── idle          –                    – memory           0 params
"""
    )


def test_own_time_where_it_is_another(small):
    lines = view_outline(view(small, "graph", select=["micros"])).splitlines()
    assert lines[2:] == [
        "└── idle          900 µs   90.0 %",
        "    └── a/c/d     900 µs   90.0 %  own 200 µs",
        "        └── a/b   700 µs   70.0 %",
    ]


def test_op_types_follow_their_total(small):
    tree = view(small, "op", select=["micros", "occurrence"], order_by="micros")
    assert (
        view_outline(tree)
        == """\
total           1.00 ms  100.0 %  3 runs  100.0 %  4 defined
├── MatMul       700 µs   70.0 %   1 run   33.3 %  1 defined
├── Relu         200 µs   20.0 %   1 run   33.3 %  2 defined
└── VariableV2   100 µs   10.0 %   1 run   33.3 %  1 defined
"""
    )


@pytest.mark.parametrize(
    ("options", "max_rows"), [({"max_depth": 1}, 0), ({}, 2), ({"min_micros": 200}, 0)]
)
def test_op_types_that_are_not_shown_are_summed_up(small, options, max_rows):
    tree = view(small, "op", select=["micros", "occurrence"], order_by="micros", **options)
    lines = view_outline(tree, max_rows=max_rows).splitlines()
    assert lines[3] == "└── others   100 µs   10.0 %   1 run   33.3 %  1 defined"
    assert (len(lines) == 5) == bool(max_rows)


def test_left_out_rows_are_counted(small):
    tree = view(small, "scope", select=["micros"], order_by="micros")
    assert view_outline(tree, max_rows=3).splitlines() == [
        "total +2   1.00 ms  100.0 %",
        "└── a +1    900 µs   90.0 %",
        "    └── b   700 µs   70.0 %",
        "3 of 7 rows, those with the largest time; +n: children left out. --max_rows 0 shows all",
    ]
    assert view_outline(tree, max_rows=7) == view_outline(tree)


def test_ascii(small):
    tree = view(small, "scope", select=["micros"])
    shown = view_outline(tree, ASCII)
    assert shown.isascii()
    assert [line.split("  ")[0] for line in shown.splitlines()] == [
        "total", "|-- a", "|", "|", "|", "|-- e", "`-- idle",
    ]  # fmt: skip
    assert "|   |-- b       700 us   70.0 %" in shown


def test_without_a_run_metrics_are_not_zero():
    tree = view(tfprof.Profiler(graph(op("a", "MatMul"))), "op", select=["micros", "bytes"])
    assert view_outline(tree).splitlines() == [
        "total       n/a  n/a memory",
        "└── MatMul  n/a  n/a memory",
        "n/a: times, memory and runs need run metadata (--run_meta_path)",
    ]


def test_hostile_names_are_shown():
    profiler = tfprof.Profiler(graph(op("[red]x\x1b[1m\n", "NoOp"), op("\u202ey", "No\x00Op")))
    shown = printed(ViewOutline(view(profiler, "scope")))
    assert r"[red]x\x1b[1m\n" in shown
    assert r"\u202ey" in shown
    assert r"No\x00Op" in view_outline(view(profiler, "op"))


VALUES = {
    "w": ("float32", np.array([[1, 2.5, 3], [4, 5, 6]], np.float32)),
    "text": ("string", np.array([b"\x1b"], object)),
    "scalar": ("int64", np.array(7)),
    "opaque": ("variant", None),
}


class Checkpoint:
    def value(self, name):
        if name not in VALUES:
            return None
        dtype, values = VALUES[name]
        return VariableValue(name, dtype, 0, values, "model.ckpt")

    def names(self):
        return list(VALUES)


def test_values_of_variables():
    profiler = tfprof.Profiler(graph(*(op(name, "VariableV2") for name in [*VALUES, "x"])))
    profiler._session.profile.variable_values = Checkpoint()
    shown = view_outline(view(profiler, "scope", select=["tensor_value", "params"]))
    assert [line.split("0 params")[1].strip() for line in shown.splitlines()] == [
        "", "a variant", "7", "1: '\\x1b'", "2x3: 1.0, 2.5, 3.0, 4.0, …", "",
    ]  # fmt: skip


def test_deep_trees_stay_narrow():
    chain = [op("op0", "NoOp")]
    chain += [op(f"op{i}", "NoOp", f"op{i - 1}") for i in range(1, 5000)]
    tree = view(tfprof.Profiler(graph(*chain)), "graph", select=["occurrence"], max_depth=10_000)
    lines = view_outline(tree).splitlines()
    assert len(lines) == 5002
    assert max(map(len, lines)) < 4 * MAX_GUIDES + 60
    assert lines[MAX_GUIDES + 1].split("  n/a")[0].rstrip() == "    " * MAX_GUIDES + "…13 op4987"
    assert lines[5000].split("  n/a")[0].strip() == "…5000 op0"


@pytest.mark.parametrize("kind", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_view_fits_every_width(demo, kind, width):
    tree = view(demo, kind, max_depth=30, order_by="micros", select=list(SELECT))
    shown = printed(ViewOutline(tree, max_rows=25), width)
    assert max(map(len, shown.splitlines())) <= width
    assert shown == printed(ViewOutline(tree, max_rows=25), width)
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_plain_text_is_what_the_terminal_shows(demo):
    tree = view(demo, "scope", max_depth=3, order_by="micros", select=["micros", "bytes"])
    plain = printed(ViewOutline(tree, max_rows=25), 90, color_system=None)
    assert plain == view_outline(tree, max_rows=25, width=90)
    assert "\x1b[" in printed(ViewOutline(tree, max_rows=25), 90, force_terminal=True)
