import io
import re

import pytest
from rich.console import Console

from tests.graphs.interpreter.programs import graph, placeholder
from tests.graphs.reports.programs import matmul, read, two_layers, variable
from tfprof.core.text.characters import ASCII, UNICODE
from tfprof.graphs.reports.summary import summary
from tfprof.graphs.reports.summary_text import SummaryTable, human_share_of, memory_number


def shown(found, width=140, glyphs=UNICODE, **options):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, **options)
    console.print(SummaryTable(found, glyphs), crop=False)
    text = console.file.getvalue().replace("\u00a0", " ")
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_a_small_model():
    assert (
        shown(summary(two_layers(8)), 90)
        == """\
scope                           output  params  FLOPs  MACs    share  weights  activations
──────────────────────────────────────────────────────────────────────────────────────────
total                                       23    328   144  100.0 %     92 B        224 B
├ dense1                        [8, 3]      12    216    96   65.9 %     48 B         96 B
├ dense2                        [8, 2]       6     96    48   29.3 %     24 B         64 B
└ (weights outside all layers)               5      0     0    0.0 %     20 B          0
no room for: bars, own FLOPs

23 parameters (92 B)
328 FLOPs, 144 MACs
A multiply-add is 1 MAC and 2 FLOPs. Every other operation on floats is 1 FLOP; integer
arithmetic on indices and shapes is not counted.
Coverage: 100 % of 10 ops: 4 counted, 6 without float operations."""
    )


def test_wide_terminals_show_everything():
    header = shown(summary(two_layers(8), device="a100"), 160).splitlines()[0]
    assert re.split(r"  +", header) == [
        "scope", "output", "params", "FLOPs", "MACs", "share", "own FLOPs", "least time", "weights",
        "activations",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_narrow_terminals_leave_out_columns(width):
    text = shown(summary(two_layers(), device="a100"), width)
    table = text.partition("\n\n")[0].splitlines()[:6]
    assert all("FLOPs" in line or "─" in line or "B" in line or "0" in line for line in table)
    if width >= 60:
        assert max(map(len, text.splitlines())) <= width


def test_ascii():
    text = shown(summary(two_layers(), top=1), glyphs=ASCII)
    assert "|-dense1" in text
    assert "`-... 2 more" in text
    table = text.partition("\n\n")[0]
    assert table.replace("·", "").isascii()


def test_only_marked_colours():
    text = shown(summary(two_layers()), force_terminal=True, color_system="truecolor")
    assert "\x1b[" in text
    assert "\x1b[" not in shown(summary(two_layers()))


def test_names_are_hostile():
    name = "<script>alert(1)</script>\x1b[31m&\"'"
    message = graph(
        placeholder("x", 4, 4), variable(f"{name}/w", 4, 4), read(f"{name}/read", f"{name}/w"),
        matmul(f"{name}/mm", "x", f"{name}/read"),
    )  # fmt: skip
    found = summary(message)
    assert "\x1b" not in shown(found)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.0 %"), (1e-12, "<0.1 %"), (0.0004, "<0.1 %"), (0.0006, "0.1 %"), (1, "100.0 %")],
)
def test_shares(share, text):
    assert human_share_of(share) == text


def test_bytes():
    from tfprof.graphs.model.symbolic import Symbolic

    assert memory_number(0) == "0"
    assert memory_number(93_800_000) == "93.8 MB"
    assert memory_number(40 * Symbolic.named("B")) == "40·B bytes"
