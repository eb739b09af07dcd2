"""Numbers are formatted in two languages; they have to agree."""

import json

import pytest

from tfprof.captures.run.table import Column
from tfprof.captures.show.tool_values import cell_text
from tfprof.ui.web.scripts import joined_script

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]

UNITS = [
    "", "ps", "ns", "us", "ms", "s", "bytes", "fraction", "percent", "gflops_per_s", "gib_per_s",
    "flops_per_byte", "joules",
]  # fmt: skip
NUMBERS = [
    0, 1, 7, 12, 999, 999.4, 999.5, 1000, 1001, 12345, 999_499, 999_500, 1_234_567, 10**9, 10**13,
    0.5, 0.05, 0.0004, 0.00004, 0.126, 1.005, 9.99, 9.996, 99.94, 99.96, 3.14159, 27.208091,
    -1, -12.5, -12345, 3e20, 12.5,
]  # fmt: skip


def test_cells_read_the_same_on_pages_and_in_terminals(chromium, tmp_path):
    page = chromium.new_page()
    try:
        page.goto("about:blank")
        page.add_script_tag(
            content=f"{joined_script('format.js')}\nwindow.cellText = $format.cellText;",
            type="module",
        )
        page.wait_for_function("window.cellText")
        cases = [(number, unit) for unit in UNITS for number in NUMBERS]
        cases += [(None, ""), (True, ""), (False, ""), ("a name", "")]
        shown = page.evaluate(
            "cases => cases.map(([value, unit]) => cellText(value, { id: 'x', unit }))",
            json.loads(json.dumps(cases)),
        )
    finally:
        page.close()
    expected = [cell_text(value, Column("x", "x", unit=unit)) for value, unit in cases]
    assert dict(zip(map(str, cases), shown, strict=True)) == dict(
        zip(map(str, cases), expected, strict=True)
    )
