"""Numbers with unknowns as text: whole, unless they are too long to be read."""

from tfprof.graphs.model.symbolic import Symbolic, shown, total

B = Symbolic.named("B")


def test_numbers_that_can_be_read_are_whole():
    assert shown(B * B - 3 * B + 7) == str(B * B - 3 * B + 7) == "B^2 - 3·B + 7"


def test_long_numbers_are_cut():
    many = total([Symbolic.named(f"n{at:03}") for at in range(500)])
    assert shown(many).startswith("n000 + n001 + ") and shown(many).endswith(" + … (500 terms)")
    assert len(shown(many)) < 400
    long = Symbolic.named("x" * 5000)
    assert shown(long) == "x" * 1000 + "… (1 term)"
