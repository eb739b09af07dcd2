"""Answers of tools as text for people."""

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tfprof.captures.run.result import Advice, Chart, Note, ToolResult
from tfprof.captures.run.table import Column, Table
from tfprof.captures.show.tool_text import TOP, ToolText
from tfprof.captures.show.tool_values import cell_text, header_of, number_text
from tfprof.core.text.characters import ASCII, UNICODE, escaped
from tfprof.core.text.claims import quoted
from tfprof.core.text.metrics import ORANGE
from tfprof.errors import UsageError

NAME = Column("operation", "Operation", "string")
TIME = Column("total_time", "Total time (us)", unit="us")
SHARE = Column("total_self_time_percent", "Total self time (%)", unit="fraction")


def lines_of(renderable, width=100, color=None):
    console = Console(
        width=width, file=io.StringIO(), color_system=color, force_terminal=color is not None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    console.print(renderable, crop=False)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def text_of(result, width=100, **shown):
    return "\n".join(lines_of(ToolText(result, **shown), width))


def result_of(*tables, **parts):
    named = {table.name: table for table in tables}
    return ToolResult("op-stats", "TensorFlow Stats", tables=named, **parts)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0, "us", "0"), (87.25, "us", "87.2 µs"), (0.0004, "us", "400 ps"), (1.5, "ms", "1.50 ms"),
        (999.6, "ms", "1.00 s"), (12, "ns", "12.0 ns"), (1234, "s", "1,234 s"),
        (-2.5, "ms", "-2.50 ms"), (0.303, "fraction", "30.3 %"), (30.3, "percent", "30.3 %"),
        (0.0001, "fraction", "<0.1 %"), (0, "percent", "0.0 %"), (1500, "bytes", "1.50 kB"),
        (1350, "gflops_per_s", "1.35 TFLOP/s"), (2.5, "gib_per_s", "2.50 GiB/s"),
        (1234567, "", "1,234,567"), (0.25, "", "0.250"), (123.4, "", "123"),
        (1e-9, "", "1.0e-09"), (1e300, "", "1.0e+300"),
        (float("nan"), "us", "n/a"), (float("inf"), "", "∞"), (float("-inf"), "ms", "-∞"),
    ],
)  # fmt: skip
def test_numbers_have_units_and_three_digits(value, unit, expected):
    assert number_text(value, unit) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(None, "n/a"), (True, "yes"), (False, "no"), ("a\x1b[2J", "a\\x1b[2J")]
)
def test_cells_that_are_not_numbers(value, expected):
    assert cell_text(value, NAME) == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (TIME, "time"),
        (Column("busy", "Busy Time (in ms)", unit="ms"), "busy time"),
        (Column("x", "HBM BW (GiB/s)", unit="gib_per_s"), "HBM BW"),
        (Column("depth_of", "Depth (levels)"), "depth (levels)"),
        (Column("unnamed", ""), "unnamed"),
    ],
)
def test_headers_are_short_and_leave_units_to_cells(column, expected):
    assert header_of(column) == expected


def test_of_everything_the_first_are_shown_and_all_on_request():
    """Captures may have any number of notes, allocators and findings, of any length."""
    n_all = 80_000
    notes = [Note("warning", f"Remark {number}.") for number in range(n_all)]
    advice = [Advice("x/y", f"Change {number}.") for number in range(n_all)]
    result = result_of(
        claims=quoted(f"Sentence {number}." for number in range(n_all)),
        notes=(*notes, Note("info", "A" * 900_000)), advice=advice,
    )  # fmt: skip
    text = text_of(result)
    for kind in ("sentences", "notes", "recommendations"):
        assert f"{n_all - TOP:,} more {kind}; --top 0 shows all" in text
    assert "900,006 letters" in text
    assert len(text) < 10_000
    few = replace(result, notes=tuple(notes[: TOP + 1]), advice=(), claims=())
    assert "1 more" in text_of(few)
    assert "Remark 20." in text_of(few, top=0)


def test_the_verdict_comes_first_then_warnings_tables_and_advice():
    table = Table("ops", (NAME, TIME), [("a", 1.0), ("b", 2.0)], title="Ops")
    result = result_of(
        table,
        claims=quoted(("Input takes 40 % of the time.", "Look there.")),
        notes=(Note("info", "All fine."), Note("warning", "One host is missing.", "w1")),
        advice=(
            Advice("x/y", "Prefetch.", {"share": 0.4}, gain_fraction=0.25),
            Advice("x/z", "Nothing else."),
        ),
    )
    assert text_of(result).splitlines() == [
        "TensorFlow Stats",
        "Input takes 40 % of the time.",
        "Look there.",
        "",
        "warning: One host is missing. [w1]",
        "",
        "Ops",
        "op     time",
        "───────────",
        "a   1.00 µs",
        "b   2.00 µs",
        "",
        "What to do",
        " 1. Prefetch.",
        "    gain: up to 25.0 % of the step time",
        " 2. Nothing else.",
        "",
        "note: All fine.",
    ]


def test_the_verdict_is_bold_and_warnings_are_coloured():
    result = result_of(claims=quoted(("So it is.",)), notes=(Note("warning", "Broken."),))
    # Styles, not escape codes: Rich caches the codes of the first terminal of the process.
    console = Console(width=100, file=io.StringIO(), highlight=False, markup=False, emoji=False)
    styles = {segment.text.strip(): segment.style for segment in console.render(ToolText(result))}
    assert styles["TensorFlow Stats"].bold
    assert styles["So it is."].bold
    assert (styles["warning:"].bold, styles["warning:"].color.name) == (True, ORANGE)
    assert not styles["Broken."]


def test_only_the_first_rows_are_shown_and_the_others_counted():
    table = Table("ops", (NAME, TIME), [(f"op{i}", i) for i in range(30)])
    text = text_of(result_of(table), top=3)
    assert "op2" in text
    assert "op3" not in text
    assert "27 more rows; --top 0 shows all" in text
    assert "more row" not in text_of(result_of(table), top=0)
    assert "1 more row;" in text_of(result_of(table), top=29)


def test_ops_of_hosts_and_devices_are_lists_of_their_own():
    where = Column("host_or_device", "Host/device", "string")
    rows = [("Device", "d1", 3.0), ("Device", "d2", 2.0), ("Host", "h1", 9.0), ("Host", "h2", 1.0)]
    text = text_of(result_of(Table("ops", (where, NAME, TIME), rows, title="Ops")), top=1)
    assert "Ops: Device\n" in text
    assert "Ops: Host\n" in text
    assert "d1" in text
    assert "h1" in text
    assert "d2" not in text
    assert "Device\n" in text
    assert "where" not in text


def test_columns_that_are_the_same_everywhere_stand_below():
    columns = (NAME, TIME, Column("eager", "Mode", "string"), Column("idle", "Idle", unit="us"),
               Column("empty", "Empty", "string"), Column("unknown", "Unknown"))  # fmt: skip
    rows = [("a", 1.0, "Eager", 0, "", None), ("b", 2.0, "Eager", 0, "", None)]
    text = text_of(result_of(Table("ops", columns, rows)))
    assert "op     time\n" in text
    assert text.endswith("\nall rows: mode Eager")  # no words for empty and unknown values
    for silent in ("Empty", "empty", "idle", "unknown"):
        assert silent not in text
    single = text_of(result_of(Table("ops", columns, rows[:1])))
    assert "Eager" in single
    assert "all rows" not in single


def test_numbers_of_steps_alone_are_not_a_table():
    columns = (Column("step", "Step"), Column("idle", "Idle", unit="us"))
    table = Table("steps", columns, [(1, 0), (2, 0), (3, 0)], title="Steps")
    empty = Table("steps", columns, [], title="Steps")
    other = Table("other", (NAME,), [("a",)], title="Other")
    assert "Steps" not in text_of(result_of(table, other))
    assert "Steps" not in text_of(result_of(empty, other))
    assert "Steps" in text_of(result_of(table, other), table="steps")
    assert "no rows" in text_of(result_of(empty, other), table="steps")
    busy = Table("steps", columns, [(1, 0), (2, 7)], title="Steps")
    assert "7.00 µs" in text_of(result_of(busy))


def test_each_allocator_has_first_rows_of_its_own():
    columns = (Column("host", "Host", "string"), Column("allocator", "Allocator", "string"), NAME,
               Column("allocation_bytes", "Allocated", unit="bytes"))  # fmt: skip
    rows = [("h", "big", "a", 9000), ("h", "big", "b", 8000), ("h", "small", "c", 7),
            ("h", "small", "d", 6)]  # fmt: skip
    text = text_of(result_of(Table("peak", columns, rows, title="In use")), top=1)
    assert "In use: big on h\n" in text
    assert "In use: small on h\n" in text
    assert re.search(r"^a +9.00 kB$", text, re.MULTILINE)
    assert re.search(r"^c +7 B$", text, re.MULTILINE)
    one_each = Table("peak", columns, rows[1:3], title="In use")
    assert "In use\n" in text_of(result_of(one_each))


def test_advice_is_shown_without_its_evidence():
    advice = Advice("x/y", "Do it.", {"op": "dense", "wait_share": 0.3}, gain_fraction=0.25)
    text = text_of(result_of(advice=(advice,)))
    assert text.endswith(" 1. Do it.\n    gain: up to 25.0 % of the step time")
    assert "dense" not in text


def test_no_two_categories_have_one_colour():
    from rich.color import Color, ColorSystem

    from tfprof.captures.show.tool_charts import _ASCII_FILLS, _COLOURS, _FILLS

    assert len(_COLOURS) == len(_FILLS) == len(_ASCII_FILLS)
    for system in (ColorSystem.STANDARD, ColorSystem.EIGHT_BIT, ColorSystem.TRUECOLOR):
        seen = {Color.parse(colour).downgrade(system) for colour in _COLOURS}
        assert len({(c.number, c.triplet) for c in seen}) == len(_COLOURS), system


def test_the_efficiency_of_ops_survives_a_narrow_terminal():
    from tfprof.captures.tools.roofline_table import COLUMNS

    cells = {
        "operation": "custom-call.1", "category": "custom-call", "occurrences": 12,
        "total_time": 469.0, "total_self_time": 469.0, "total_self_time_percent": 0.014,
        "bound_by": "HBM", "roofline_efficiency": 0.343, "source_info": "model.py:1",
    }  # fmt: skip

    def row(**changed):
        known = {**cells, **changed}
        return tuple(known.get(c.id, "" if c.type == "string" else 1.5) for c in COLUMNS)

    other = row(operation="fusion", total_self_time=200.0, bound_by="Compute",
                total_self_time_percent=0.006, roofline_efficiency=0.1, occurrences=3)  # fmt: skip
    table = Table("roofline", tuple(COLUMNS), [row(), other], title="Ops")
    text = text_of(result_of(table), width=80)
    for header in ("op", "self time", "self share", "bound by", "efficiency"):
        assert header in text
    assert "34.3 %" in text


def test_identifiers_are_not_amounts():
    table = Table("t", (Column("core", "Core"), TIME), [(1001, 1.0), (2001, 2.0)])
    assert "\n1001  1.00 µs" in text_of(result_of(table))


def test_tooltips_and_ranks_are_not_shown():
    columns = (Column("rank", "Rank"), NAME, Column("tooltip", "T", "string", role="tooltip"))
    text = text_of(result_of(Table("ops", columns, [(1, "a", "tip a"), (2, "b", "tip b")])))
    assert "tip" not in text
    assert "ank" not in text


def test_shares_have_bars_of_which_the_largest_is_full():
    table = Table("ops", (NAME, SHARE), [("a", 0.2), ("b", 0.1), ("c", 0.0)])
    rows = text_of(result_of(table), width=60).splitlines()[-3:]
    assert rows[0].count("█") == 2 * rows[1].count("█") > 0
    assert "█" not in rows[2]
    assert "#" in text_of(result_of(table), glyphs=ASCII)


def test_names_are_folded_in_their_middle_and_details_go_first():
    columns = (NAME, SHARE, Column("source_info", "Source", "string"), TIME)
    name = "scope/" * 20 + "MatMul"
    table = Table("ops", columns, [(name, 0.5, "s" * 50, 1.0), ("b", 0.1, "t", 2.0)])
    lines = text_of(result_of(table), width=70).splitlines()
    assert max(map(len, lines)) <= 70
    row = next(line for line in lines if line.startswith("scope/"))
    assert "…" in row
    assert "MatMul" in row
    assert lines[-1] == "1 more column: widen the terminal, or --format csv"


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_tables_keep_to_any_width(width):
    columns = [NAME, *(Column(f"c{i}", f"Column {i}", unit="us") for i in range(12))]
    rows = [("n" * 90, *range(12)), ("m", *range(1, 13))]
    lines = text_of(result_of(Table("ops", tuple(columns), rows)), width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_trees_are_indented():
    columns = (Column("depth", "Depth"), Column("name", "Name", "string"), TIME)
    rows = [(0, "root", 3.0), (1, "child", 2.0), (2, "leaf", 1.0)]
    lines = text_of(result_of(Table("tree", columns, rows))).splitlines()
    assert [line[:8] for line in lines[-3:]] == ["root    ", "  child ", "    leaf"]


def test_variants_of_a_table_are_only_named():
    ops = Table("ops", (NAME, TIME), [("a", 1.0), ("b", 2.0)])
    idle = Table("ops_with_idle", (NAME, TIME), [("IDLE", 9.0), ("b", 2.0)])
    result = result_of(ops, idle)
    assert "IDLE" not in text_of(result)
    assert "--table also takes: ops_with_idle" in text_of(result)
    assert "IDLE" in text_of(result, table="ops_with_idle")
    with pytest.raises(UsageError, match="it has: ops, ops_with_idle"):
        text_of(result, table="none")


def test_an_empty_table_shows_that_it_is_empty():
    assert text_of(result_of(Table("ops", (NAME,), title="Ops"))).endswith("Ops\nno rows")


def test_hostile_names_are_shown_and_not_sent():
    evil = "a\x1b[2J\u202eb\nc"
    chart = Chart("c", "pie", evil, evil, evil, (evil,), {evil: (1.0,)})
    table = Table("t", (NAME, Column(evil, evil)), [(evil, 1), ("b", 2)], title=evil)
    result = ToolResult(
        "x", evil, quoted((evil,)), {"t": table}, (chart,),
        (Advice(evil, evil, {evil: evil}),),
        (Note("warning", evil, evil),),
    )  # fmt: skip
    text = text_of(result)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[2J\\u202eb\\nc" in text


def chart_of(kind, x, series, y_label="time (ms)", x_label="step"):
    return Chart("c", kind, "Chart", x_label, y_label, tuple(x), series)


def test_stacked_bars_share_one_scale_and_have_a_legend():
    chart = chart_of(
        "stacked_bar", "12", {"compute": (6.0, 3.0), "none": (0, 0), "input": (4.0, 2)}
    )
    lines = text_of(result_of(charts=(chart,))).splitlines()
    first, second, legend = lines[-3:]
    assert first.startswith("step 1  10.0 ms  ")
    assert second.startswith("step 2  5.00 ms  ")
    assert (first.count("█"), first.count("▓")) == (36, 24)
    assert (second.count("█"), second.count("▓")) == (18, 12)
    assert legend == "█ compute 60.0 %   ▓ input 40.0 %"
    ascii_lines = text_of(result_of(charts=(chart,)), glyphs=ASCII)
    assert ascii_lines.isascii()
    assert "# compute 60.0 %" in ascii_lines


def test_areas_over_named_steps_are_bars():
    chart = chart_of("stacked_area", ("train 1", "train 2"), {"a": (2.0, 4.0), "b": (1.0, 1.0)})
    assert text_of(result_of(charts=(chart,))).splitlines()[-3].startswith("train 1  3.00 ms  █")


def test_bars_that_are_not_drawn_are_counted():
    chart = chart_of("stacked_bar", range(30), {"a": tuple(range(30))})
    text = text_of(result_of(charts=(chart,)), top=5)
    assert "25 more; --top 0 shows all" in text
    assert "step 5" not in text


def test_pies_are_lists_with_shares():
    chart = chart_of("pie", ("read", "map", "zero", "tiny"), {"t": (3.0, 1.0, 0.0, 0.5)}, "us")
    lines = text_of(result_of(charts=(chart,)), top=2).splitlines()
    assert lines[-3].split()[:5] == ["read", "3.00", "µs", "66.7", "%"]
    assert lines[-1].split()[:5] == ["others", "500", "ns", "11.1", "%"]
    assert not any("zero" in line for line in lines)


def test_curves_are_levels():
    values = tuple(float(i) for i in range(8))
    chart = chart_of("line", range(8), {"heap": values}, "memory (bytes)", "time (ms)")
    assert text_of(result_of(charts=(chart,))).endswith("heap  ▁▂▃▄▅▆▇█  0 to 7 B")
    flat = chart_of("line", range(4), {"heap": (2.0,) * 4, "none": (0.0,) * 4})
    assert text_of(result_of(charts=(flat,))).endswith("heap  ▁▁▁▁  2.00 ms")
    area = chart_of("stacked_area", range(8), {"heap": values}, "memory (bytes)")
    assert text_of(result_of(charts=(area,)), glyphs=ASCII).isascii()


def test_numbers_that_can_not_be_drawn_count_as_nothing():
    nan, inf = float("nan"), float("inf")
    for kind in ("stacked_bar", "pie", "line"):
        chart = chart_of(kind, "12", {"a": (nan, 2.0), "b": (inf, -1.0)})
        assert "2.00 ms" in text_of(result_of(charts=(chart,))) or kind == "stacked_bar"


def test_charts_without_anything_to_draw_are_left_out():
    empty = chart_of("stacked_bar", "12", {"a": (0, 0)})
    scatter = chart_of("scatter", (1, 2), {"a": (1, 2)})
    nothing = chart_of("pie", (), {})
    assert "Chart" not in text_of(result_of(charts=(empty, scatter, nothing)))


cells = st.one_of(
    st.none(), st.booleans(), st.floats(), st.integers(-(2**63), 2**64), st.text(max_size=60)
)


@given(
    st.lists(st.tuples(cells, cells, cells), max_size=5),
    st.sampled_from(["", "us", "bytes", "fraction", "gflops_per_s", "new_unit"]),
    st.integers(30, 120),
)
def test_any_cells_are_drawn_in_the_width_and_harmless(rows, unit, width):
    columns = (NAME, Column("a", "A", unit=unit), Column("core", "Core"))
    text = text_of(result_of(Table("t", columns, rows, title="T")), width=width)
    assert escaped(text, keep="\n") == text
    grid = text.split("\nT\n")[1].split("\nall rows")[0]
    assert max(map(cell_len, grid.splitlines()), default=0) <= max(width, 90)


def test_the_same_result_gives_the_same_text():
    table = Table("ops", (NAME, SHARE, TIME), [(f"op{i}", i / 10, i) for i in range(9)])
    result = result_of(table, claims=quoted(("v",)))
    assert text_of(result) == text_of(result)
    assert text_of(result, glyphs=UNICODE) != text_of(result, glyphs=ASCII)


def test_a_single_row_without_room_is_a_list():
    columns = (NAME, TIME, SHARE, Column("idle", "Devices idle", unit="percent"),
               Column("unknown", "Unknown"), Column("empty", "Empty", "string"))  # fmt: skip
    table = Table("figures", columns, [("a/b", 1.5, 0.25, 7, None, "")], title="Figures")
    assert text_of(result_of(table), width=100).splitlines()[2:4] == [
        "Figures",
        "op      time  self share                        devices idle  unknown  empty",
    ]
    assert text_of(result_of(table), width=30).splitlines()[2:] == [
        "Figures",
        "what          value",
        "─────────────────────",
        "op            a/b",
        "time          1.50 µs",
        "self share    25.0 %",
        "devices idle  7.0 %",
    ]


@pytest.mark.parametrize("width", range(30, 60))
def test_numbers_and_their_units_stay_together(width):
    evidence = {"call_us": 1070, "peak_bytes": 1500, "wait_share": 0.311}
    advice = Advice("x/y", "It reads 1.50 kB in 1.07 ms, 31.1 % of it at 2.00 GiB/s.", evidence)
    lines = text_of(result_of(advice=(advice,)), width=width).splitlines()
    assert not [line for line in lines if re.match(r" *(ms|kB|%|GiB/s)", line)]
    assert "1.07 ms" in " ".join(lines)
