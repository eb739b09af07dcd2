import io
import json

import numpy as np
import pytest
from rich.console import Console

from tfprof.advisor.findings_text import FindingsReport, findings_json, gain_text
from tfprof.core.columns.findings import Finding, Gain
from tfprof.core.columns.frames import Frame
from tfprof.core.text.characters import ASCII, UNICODE

LINK = "https://www.tensorflow.org/guide/data_performance"
SLOW = Finding(
    "InputBoundChecker",
    "critical",
    "30.0 % of the step (300 µs of 1.00 ms) is spent waiting for 'next'. Prefetch.",
    {"wait_share": 0.3, "wait_micros": 300, "step_micros": 1000},
    Frame("net/input.py", "batches", 9),
    Gain(300, "micros", "the time in which only input ops run"),
    LINK,
)
REMARK = Finding("JobChecker", "info", "Nothing.", {})
WARNING = Finding("OperationChecker", "warning", "Fuse.", {})


def shown(*findings, checkers=(), width=80, glyphs=UNICODE, **options):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False, **options)
    console.print(FindingsReport(findings, checkers, glyphs), crop=False)
    return console.file.getvalue()


def test_a_finding_with_everything():
    assert shown(SLOW, checkers=["InputBoundChecker", "OperationChecker"]) == (
        "1 critical finding\n"
        "\n"
        "critical: InputBoundChecker\n"
        "  30.0 % of the step (300 µs of 1.00 ms) is spent waiting for 'next'. Prefetch.\n"
        "  line  net/input.py:9 in batches\n"
        "  gain  up to 300 µs per step: the time in which only input ops run\n"
        f"  see   {LINK}\n"
        "\n"
        "Nothing to report: OperationChecker\n"
    )


def test_the_most_urgent_comes_first():
    text = shown(REMARK, WARNING, REMARK, SLOW)
    assert text.startswith("1 critical finding, 1 warning and 2 remarks\n")
    heads = [line for line in text.splitlines() if line.endswith("Checker")]
    assert heads == [
        "critical: InputBoundChecker", "warning: OperationChecker",
        "info: JobChecker", "info: JobChecker",
    ]  # fmt: skip


def test_nothing_found():
    assert shown(checkers=["OperationChecker"]) == (
        "Nothing found\n\nNothing to report: OperationChecker\n"
    )


def test_a_number_stays_with_its_unit_and_links_stay_whole():
    for width in range(24, 60):
        lines = shown(SLOW, width=width).splitlines()
        assert f"  see   {LINK}" in lines
        message = [line for line in lines if line.startswith("  ")]
        assert not [line for line in message if line.endswith(("300", "1.00", "30.0"))]
        assert "300 µs of 1.00 ms" in " ".join(line.strip() for line in message)


def test_no_line_ends_in_blanks_and_prose_is_not_wider_than_100():
    long = Finding("X", "info", "word " * 80, {})
    lines = shown(long, width=300).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "\u202egpj.exe", "a\nb"])
def test_names_from_a_profile_do_nothing_to_the_terminal(hostile):
    finding = Finding(hostile, "info", f"'{hostile}'", {}, Frame(hostile, hostile, 1))
    text = shown(finding, checkers=[hostile, hostile + "2"], force_terminal=False)
    assert hostile not in text
    assert text.count("\\") >= 4


def test_ascii_where_the_terminal_has_nothing_else():
    assert "(300 us of 1.00 ms)" in shown(SLOW, glyphs=ASCII)


def test_colour_by_severity():
    text = shown(SLOW, force_terminal=True, color_system="truecolor", legacy_windows=False)
    assert "\x1b[1;38;2;213;94;0mcritical: " in text


def test_gains():
    assert gain_text(Gain(1_500, "micros", "how")) == "up to 1.50 ms per step: how"
    assert gain_text(Gain(2_000_000, "bytes", "how")) == "up to 2.00 MB: how"


def test_a_long_gain_is_folded_beside_its_label():
    finding = Finding("X", "info", "Slow.", {}, gain=Gain(300, "micros", "word " * 30))
    gain = [line for line in shown(finding).splitlines() if "word" in line]
    assert gain[0].startswith("  gain  up to 300 µs per step: word")
    assert all(line.startswith(" " * 8 + "word") for line in gain[1:])
    assert max(map(len, gain)) <= 80


def test_numbers_of_numpy_become_json():
    finding = Finding("X", "info", "3 ops.", {"op_count": np.int64(3)})
    assert json.loads(findings_json([finding], []))["findings"][0]["evidence"] == {"op_count": 3}


def test_json_has_all_numbers_one_finding_a_line():
    text = findings_json([SLOW, REMARK], ["InputBoundChecker", "JobChecker"])
    data = json.loads(text)
    assert data["checkers"] == ["InputBoundChecker", "JobChecker"]
    assert data["findings"][0] == {
        "rule": "InputBoundChecker",
        "severity": "critical",
        "message": SLOW.message,
        "evidence": {"wait_share": 0.3, "wait_micros": 300, "step_micros": 1000},
        "location": {"file": "net/input.py", "line_number": 9, "function": "batches"},
        "gain": {
            "amount": 300, "unit": "micros", "how": "the time in which only input ops run",
        },
        "link": LINK,
    }  # fmt: skip
    assert data["findings"][1]["location"] is data["findings"][1]["gain"] is None
    assert len(text.splitlines()) == 4
    assert json.loads(findings_json([], [])) == {"checkers": [], "findings": []}
