import io

import pytest
from rich.console import Console

from tfprof.core.text.characters import ASCII, UNICODE
from tfprof.doctor.report import Area, Check, Report
from tfprof.doctor.text import ReportText

REPORT = Report(
    (
        Area(
            "Packages",
            (
                Check("tfprof", "ok", "tfprof 1.0"),
                Check("numpy", "error", "numpy is gone", command="pip install numpy"),
                Check("rich", "ok", "rich 14.0"),
            ),
        ),
        Area(
            "CUPTI",
            (
                Check("a", "ok", "one thing is fine"),
                Check("b", "warning", "2 × trouble – here", "Do both.", "first --thing\nsecond"),
                Check("c", "note", "by the way"),
                Check("d", "unknown", "who knows"),
                Check("e", "not_applicable", "not here"),
            ),
        ),
    )
)

TEXT = """\
Packages
  ✓ tfprof 1.0, rich 14.0
  ✗ numpy is gone
      pip install numpy

CUPTI
  ✓ one thing is fine
  ! 2 × trouble – here
    Do both.
      first --thing
      second
  i by the way
  ? who knows
  – not here

1 error and 1 warning; see the remedies above.
"""


def text_of(report, width=80, glyphs=UNICODE):
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    console.print(ReportText(report, glyphs), crop=False)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def test_every_status():
    assert text_of(REPORT) == TEXT


def test_ascii():
    text = text_of(REPORT, glyphs=ASCII)
    assert text.isascii()
    assert "  + one thing is fine\n  ! 2 x trouble - here\n" in text
    assert "  x numpy is gone\n" in text
    assert "  - not here\n" in text


@pytest.mark.parametrize("status", ["ok", "note", "unknown", "not_applicable"])
def test_all_is_well(status):
    limit = ", as far as could be checked" if status == "unknown" else ""
    text = text_of(Report((Area("A", (Check("a", status, "m"),)),)))
    assert text.endswith(f"\n\nAll is well{limit}.\n")


def test_commands_are_never_folded_and_words_are():
    command = "pip install " + " ".join(f"package-{i}" for i in range(20))
    check = Check("a", "error", "word " * 30, "remedy " * 30, command)
    lines = text_of(Report((Area("A", (check,)),)), width=40).splitlines()
    assert f"      {command}" in lines
    assert max(len(line) for line in lines if "package" not in line) <= 40


def test_names_and_their_versions_stay_together():
    checks = tuple(Check(f"p{i}", "ok", f"package{i} {i}.0") for i in range(9))
    lines = text_of(Report((Area("Packages", checks),)), width=40).splitlines()[1:-2]
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    words = " ".join(line.strip() for line in lines).removeprefix("✓ ")
    assert words == ", ".join(check.message for check in checks)
    assert all(line.endswith(".0,") for line in lines[:-1])


def test_what_could_steer_a_terminal_is_shown():
    check = Check("a", "error", "\x1b[31m", "\x07", "rm \x1b]0;x\x07")
    assert "\x1b" not in text_of(Report((Area("file\x1b", (check,)),)))


def test_rows():
    data = REPORT.to_dict()
    assert data["worst"] == "error"
    assert data["counts"] == {"error": 1, "warning": 1, "note": 1}
    assert data["rows"][1] == {
        "area": "Packages", "name": "numpy", "status": "error", "message": "numpy is gone",
        "remedy": "", "command": "pip install numpy",
    }  # fmt: skip


def test_any_number_of_remarks_of_any_length():
    """A capture may hold both; JSON has them all."""
    remarks = [Check("recorded warnings", "warning", f"w{at}") for at in range(16_000)]
    long = Check("recorded errors", "error", "x" * 900_000)
    text = text_of(
        Report((Area("a.xplane.pb", (*remarks, long, Check("capture", "ok", "sound"))),))
    )
    assert "w0\n" in text and "w19\n" in text and "sound" in text
    assert (
        "15,980 more recorded warnings; --format json has all" in text and "900,000 letters" in text
    )
    assert "1 error and 16,000 warnings" in text and len(text) < 6_000
