import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from tests.graphs.interpreter.programs import graph, placeholder
from tests.graphs.reports.programs import matmul, read, two_layers, variable
from tfprof.graphs.reports.summary import summary
from tfprof.graphs.show.summary import SummaryTable, human_share_of, memory_number
from tfprof.graphs.show.summary_html import summary_html, summary_page
from tfprof.text.tables import ASCII, UNICODE


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


class Reader(HTMLParser):
    """Rows of the table, and every tag and attribute there is."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_html_holds_the_same_numbers():
    rows = Reader(summary_html(summary(two_layers(8)))).rows
    assert [cell.strip() for cell in rows[0]] == [
        "scope", "output", "params", "FLOPs", "MACs", "share", "weights", "activations",
    ]  # fmt: skip
    cells = [cell.strip() for cell in rows[2]]
    assert cells[:5] == ["dense1", "[8, 3]", "12", "216", "96"]
    assert cells[5].startswith("65.9 %")
    assert cells[6:] == ["48 B", "96 B"]
    device = Reader(summary_html(summary(two_layers(8), device=(1e12, 1e9)))).rows
    assert [row[8].split("\n")[0] for row in device[:3]] == ["least time", "840 ns", "464 ns"]


def test_html_has_nothing_that_runs_or_is_loaded():
    for text in (summary_html(summary(two_layers())), summary_page(summary(two_layers()))):
        reader = Reader(text)
        assert not {"script", "link", "img", "iframe"} & set(reader.tags)
        names = {name for name, _ in reader.attributes}
        assert not {name for name in names if name.startswith("on")} | names & {"src", "href"}
        assert "url(" not in text
        assert "http" not in text.replace("http-equiv", "")


def test_html_works_on_light_and_dark():
    style = summary_html(summary(two_layers())).partition("</style>")[0]
    assert "color:inherit" in style
    assert not re.search(r"#[0-9a-f]{3}", style)
    assert 'name="color-scheme" content="light dark"' in summary_page(summary(two_layers()))


def test_names_are_hostile():
    name = "<script>alert(1)</script>\x1b[31m&\"'"
    message = graph(
        placeholder("x", 4, 4), variable(f"{name}/w", 4, 4), read(f"{name}/read", f"{name}/w"),
        matmul(f"{name}/mm", "x", f"{name}/read"),
    )  # fmt: skip
    found = summary(message)
    assert "\x1b" not in shown(found)
    text = summary_page(found)
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "script" not in Reader(text).tags


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


def test_the_page_says_what_it_is():
    page = summary_page(summary(two_layers()))
    assert "<h1>Model summary</h1>" in page
    assert "memory of each layer" in page or "memory of each scope" in page
    assert "<h1>" not in summary_html(summary(two_layers()))
