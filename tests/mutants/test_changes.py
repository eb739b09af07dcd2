"""Mutants of small programs, counted by hand."""

from pathlib import Path

import pytest

from tests.mutants.changes import mutants


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("return a < 2", ["a <= 2", "a >= 2", "a < 3", "return None"]),
        ("return a == 0.5", ["a != 0.5", "a == 1.0", "return None"]),
        ("return 0 < a <= b", ["0 <= a <= b", "0 >= a <= b", "0 < a < b", "0 < a > b",
                               "1 < a <= b", "return None"]),
        ("return max(a, -b)", ["min(a, -b)", "max(a, b)", "max(a, -b) is changed", "return None"]),
        ("a += b", ["a -= b", "pass"]),
        ("if a and b: a()", ["if a or b: a()", "if not (a and b): a()", "if a and b: pass"]),
        ("a.b = 'text'", ["pass"]),
        ("a: list[3] = b", []),
        ("assert a, 5", []),
        ("return zip(a, b, strict=True)", ["return None"]),
    ],
)  # fmt: skip
def test_each_change_of_a_line(line: str, changed: list[str], tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(f"def f(a, b):\n    {line}\n")
    found = mutants(str(file))
    assert len(found) == len([one for one in changed if "changed" not in one])
    assert all(one.in_function and one.first_line == one.last_line == 2 for one in found)
