from tfprof.core.columns.findings import Finding
from tfprof.core.columns.frames import Frame
from tfprof.core.text.wording import line_names, listing, plural, share_text

LINE = Frame("net/train.py", "dense", 7)


def test_the_text_names_the_line():
    finding = Finding("Rule", "info", "Slow.", {}, LINE)
    assert finding.text == "Slow. [net/train.py:7 in dense]"
    assert Finding("Rule", "info", "Slow.", {}).text == "Slow."


def test_lines_are_short_unless_that_is_ambiguous():
    other = Frame("old/train.py", "dense", 7)
    assert line_names([LINE]) == ["train.py:7:dense"]
    assert line_names([LINE, other]) == ["net/train.py:7:dense", "old/train.py:7:dense"]


def test_wording():
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert [plural(1, "op"), plural(0, "op"), plural(2, "copy", "copies")] == [
        "1 op", "0 ops", "2 copies",
    ]  # fmt: skip
    assert [share_text(share) for share in (0, 1e-9, 0.3034, 1)] == [
        "0.0 %", "<0.1 %", "30.3 %", "100.0 %",
    ]  # fmt: skip
