"""What an answer states of runs whose figures are given, by hand."""

import numpy as np
import pytest

from tests.insight.diff.sides import costs, side, steady
from tfprof.insight.diff.comparable import mismatches, n_renamed
from tfprof.insight.diff.difference import difference
from tfprof.insight.diff.moments import Moments
from tfprof.insight.diff.noise import change
from tfprof.insight.diff.parts import Op, parts_of
from tfprof.insight.diff.sentence import claims_of
from tfprof.insight.diff.structure import by_name

pytestmark = pytest.mark.one_engine

UNEVEN = np.array([-3.0, 3.0, -2.0, 2.0, -1.0, 1.0])


def texts(first, second):
    return [claim.text for claim in claims_of(difference(first, second))]


def by_category(step_ms, noise=0.0, **categories_ms):
    """Steps of 100 ms or so with these categories, and an op that stays."""
    return side(
        steady(step_ms) + noise,
        {"a": ("MatMul", steady(50))},
        categories={name.title(): steady(ms) for name, ms in categories_ms.items()},
    )


def test_categories_of_a_longer_step():
    """Three are named, unless they changed by less than 1 % of the step; then the rest."""
    before = by_category(100, input=10, compile=10, output=10, other=10)
    after = by_category(140, input=30, compile=22, output=5, other=13)
    assert texts(before, after)[1] == (
        "Of the +40.0 points: +20.0 points input; +12.0 points compile; -5.0 points output; "
        "+3.0 points all else."
    )
    after = by_category(120, input=30, compile=10.9, output=10, other=9.2)
    assert texts(before, after)[1] == "Of the +20.0 points: +20.0 points input."


def test_one_hundredth_of_a_step_is_named():
    def always(step_ms, op_ms, waiting_ms, **categories_ms):
        return side(
            np.full(6, step_ms),
            {"a": ("MatMul", np.full(6, op_ms))},
            categories={name: np.full(6, ms) for name, ms in categories_ms.items()},
            other={"waiting": np.full(6, waiting_ms)},
        )

    before = always(100.0, 50.0, 50.0, Input=10.0, Compile=10.0)
    after = always(121.0, 51.0, 70.0, Input=11.0, Compile=30.0)
    assert texts(before, after)[1:3] == [
        "Of the +21.0 points: +20.0 points compile; +1.0 points input.",
        "Counting each moment once: +20.0 points waiting; +1.0 points MatMul.",
    ]


def test_parts_that_may_differ_by_chance_are_among_all_else():
    """The op takes 10 ms more; what waits varies by 3 ms, and takes 2 ms more."""
    before, after = (
        side(
            steady(100 + op_ms + waiting_ms),
            {"a": ("MatMul", steady(50 + op_ms))},
            other={"waiting": 50 + waiting_ms + UNEVEN},
        )
        for op_ms, waiting_ms in ((0, 0), (10, 2))
    )
    assert texts(before, after)[1] == (
        "Counting each moment once: +10.0 points MatMul; +2.0 points all else."
    )


def test_a_tenth_that_may_be_chance_is_worth_more_steps():
    """9 and 15 ms of 100, in steps that vary by up to 60 ms."""
    ops = {"a": ("MatMul", steady(50))}
    for more_ms, is_large in ((9, False), (15, True)):
        text = texts(side(100 + 20 * UNEVEN, ops), side(100 + more_ms + 20 * UNEVEN, ops))[0]
        assert text.startswith(f"Step time is {more_ms}.0% longer (100 ms b") == is_large
        assert text.endswith("record more of them.") == is_large


def test_categories_that_changed_in_a_step_that_did_not():
    """The step varies by 3 ms; the input of each takes 5 ms more, and 1 % of a step is named."""
    before = by_category(100, UNEVEN, input=10, compile=10, output=10)
    after = by_category(100.5, UNEVEN, input=15, compile=11.01, output=10.9)
    vars(before)["category_ms"]["Copies"] = 10 + UNEVEN  # 2 ms may be chance
    vars(after)["category_ms"]["Copies"] = 12 + UNEVEN
    assert texts(before, after)[1:] == [
        "More than their own noise changed: input +5.00 ms (+5.0 points); compile +1.01 ms "
        "(+1.0 points)."
    ]


def test_runs_with_other_categories_have_none_in_common():
    found = difference(by_category(100, input=10), by_category(120, compile=10))
    assert found.categories == {}


def test_how_many_rows_share_the_chance_of_one_wrong_claim():
    """The step is one of 5; each row of a table one of 15, or of 3 once the step has changed."""
    ops = {"a": ("MatMul", steady(50)), "b": ("Relu", steady(20)), "c": ("Sum", steady(5))}
    other = {"waiting": steady(25)}
    nothing = np.zeros(6)
    first = side(steady(100), ops, categories={"I": steady(9), "C": steady(8), "O": nothing},
                 other=other)  # fmt: skip
    for step_ms, n_families in ((100.2, 15), (110, 3)):
        second = side(steady(step_ms), ops | {"b": ("Relu", steady(21))},
                      categories={"I": steady(10), "C": steady(8), "O": nothing},
                      other=other)  # fmt: skip
        found = difference(first, second)
        least_ms = 0.01 * first.step_ms.mean()
        assert found.step == change(first.step_ms, second.step_ms, 5)
        assert set(found.categories) == {"I", "C"}
        assert found.categories["I"] == change(steady(9), steady(10), 2 * n_families, least_ms)
        assert found.ops[0].name == "b"
        of_three = change(steady(20), steady(21), 3 * n_families, least_ms)
        assert (found.ops[0].time.low, found.ops[0].time.high) == pytest.approx(
            (of_three.low, of_three.high)
        )
        assert found.ops[0].time.least == pytest.approx(least_ms)
        of_four = change(steady(20), steady(21), 4 * n_families, least_ms)
        assert found.parts[0].name == "Relu"
        assert found.parts[0].time.low == pytest.approx(of_four.low)


def test_ops_without_steps():
    """All ops that changed are named, however little; the number of runs is a cause."""
    before = side([], {"a": ("MatMul", steady(50)), "b": ("Relu", steady(20))})
    after = side([], {"a": ("MatMul", steady(50)), "b": ("Relu", steady(20.5))}, runs=[1, 3])
    assert texts(before, after)[-1] == (
        "Ops that changed most: Relu b +500 µs: 3 runs a step now, 1 before."
    )


def test_ops_that_may_differ_by_chance():
    before = side(steady(100), {"a": ("MatMul", 50 + UNEVEN)})
    after = side(steady(110), {"a": ("MatMul", 52 + UNEVEN)})
    assert "Ops that differ most, perhaps by chance: MatMul a +2.00 ms (+2.0 points)." in texts(
        before, after
    )


def test_ops_that_changed_in_a_step_that_did_not():
    """The step varies by 3 ms. An op that varies as much is not named."""
    before = side(100 + UNEVEN, {"a": ("MatMul", steady(50)), "b": ("Relu", 50 + UNEVEN)})
    after = side(100.5 + UNEVEN, {"a": ("MatMul", steady(52)), "b": ("Relu", 53 + UNEVEN)})
    assert texts(before, after)[1:] == ["Ops that changed most: MatMul a +2.00 ms (+2.0 points)."]
    after = side(100.5 + UNEVEN, {"a": ("MatMul", steady(50)), "b": ("Relu", 53 + UNEVEN)})
    assert texts(before, after)[1:] == []


@pytest.mark.parametrize(
    ("more_ms", "once_ms", "is_overlap"),
    [(14, 10, True), (12, 10, False), (14, 12, False), (-14, -10, True)],
)
def test_ops_that_overlap_change_by_more_than_the_step(more_ms, once_ms, is_overlap):
    """Two ops by 14 ms each, or by 12, in a step by 20: more than 1.2 times that, or as much.

    Counted once, they change by 10 ms each, or by 12: 28 ms are more than 1.2 times 20, not of 24.
    """
    first, second = (
        side(steady(step_ms), {name: ("MatMul", steady(ms)) for name in "ab"})
        for step_ms, ms in ((100, 80), (100 + 2 * (10 if more_ms > 0 else -10), 80 + more_ms))
    )
    for one, ms in ((first, 40), (second, 40 + once_ms)):
        vars(one)["moments"] = Moments({name: steady(ms) for name in "ab"}, {})
    said = [text for text in texts(first, second) if text.startswith("Together the changed ops")]
    assert len(said) == is_overlap
    assert all(f"take {2 * more_ms:+}.0 ms, more than the step" in text for text in said)


def test_an_op_that_appeared_is_the_cause_and_overlaps_with_nothing():
    """It takes 20 ms of a step that is 20 ms longer."""
    both = {"a": ("MatMul", steady(80))}
    said = texts(side(steady(80), both), side(steady(100), both | {"b": ("Relu", steady(20))}))
    assert said[-1] == "Ops that changed most: Relu b +20.0 ms (+25.0 points), appeared."


def test_steps_with_those_that_are_left_out():
    """Six steps of 10 ms and one of 80: 20 ms on average."""
    before, after = ({"a": ("MatMul", steady(ms))} for ms in (10, 10.1))
    found = difference(side([10.0] * 6, before), side([10.0] * 6, after, left_out_ms=[80.0]))
    [claim] = [one for one in claims_of(found) if one.metric == "steps_left_out"]
    assert (claim.value, claim.details["difference_ms"]) == (1, pytest.approx(10))


def test_moments_of_ops_that_no_profile_has_are_matched_by_name():
    first, second = (side(steady(100 + more), {"a": ("MatMul", steady(50))}) for more in (0, 10))
    for one, found in ((first, {"x": 20, "gone": 15}), (second, {"x": 30, "new": 15})):
        vars(one)["moments"] = Moments({name: steady(ms) for name, ms in found.items()}, {})
    parts = {part.name: round(part.time.difference, 2) for part in difference(first, second).parts}
    assert parts == {"MatMul": 0, "x": 10, "gone": -15, "new": 15}


def named_parts(moved_ms, op_type="MatMul"):
    """Names of parts and numbers of ops in them, of ops whose time changes from 100 ms by this."""
    before = Moments({name: steady(100) for name in moved_ms}, {})
    after = Moments({name: steady(100 + ms) for name, ms in moved_ms.items()}, {})
    ops = [Op(name, name, op_type, "") for name in moved_ms]
    return [(part.name, part.n_ops) for part in parts_of(before, after, ops)]


def test_a_part_has_the_scope_with_most_of_the_change():
    moved = {"net/one/a": 10, "net/two/b": 60, "net/two/c": 25, "net/three/d": 5, "e": 1}
    assert named_parts(moved) == [("MatMul in net/two", 2), ("MatMul elsewhere", 3)]
    assert named_parts({"net/one/a": 10, "net/two/b": 9}) == [("MatMul in net", 2)]
    assert named_parts({"one/a": 10, "two/b": 9}) == [("MatMul", 2)]


def test_changes_that_cancel_by_more_than_half_are_two_parts():
    """Of 30 + 10 ms, 20 are left, which is half; of 29 + 11, less."""
    assert named_parts({"a": 30, "b": -10}) == [("MatMul", 2)]
    assert named_parts({"a": 29, "b": -11, "c": 0}) == [("MatMul", 1), ("MatMul", 2)]


def pairs_of(before, after):
    first, second = (
        costs(
            {f"{n}{name}": (op_type, steady(1)) for n, (name, op_type, _) in enumerate(ops)},
            shapes=tuple(shape for *_, shape in ops),
        )
        for ops in (before, after)
    )
    return first, second, by_name(first, second)


@pytest.mark.parametrize(
    ("gone", "new", "n_alike"),
    [("AA", "AA", 2), ("AA", "AB", 1), ("AA", "ABC", 0), ("ABC", "AA", 0)],
)
def test_ops_are_renamed_if_half_of_them_have_the_types_of_the_others(gone, new, n_alike):
    before, after = (
        [(name, op_type, "") for op_type in types] for name, types in (("old", gone), ("new", new))
    )
    assert n_renamed(*pairs_of(before, after)) == n_alike


@pytest.mark.parametrize(
    ("shapes", "batch"),
    [
        ("8×3>16×3 8×5>16×5 8×2>4×2 7×7>7×7", "8 in the first, 16 in the second"),  # half
        ("8×3>16×3 8×5>16×5 8×2>4×2 7×7>7×7 6×6>6×6", ""),
        ("8×3>16×3 7×7>7×7", "8 in the first, 16 in the second"),
        ("8>16 7×7>7×7", ""),  # vectors have no batch
    ],
)
def test_the_batch_is_what_changed_in_half_of_the_shapes(shapes, batch):
    rows = [one.split(">") for one in shapes.split()]
    first, second = (
        side(steady(10), {f"o{n}": ("A", steady(1)) for n in range(len(rows))},
             shapes=tuple(row[place] for row in rows))
        for place in (0, 1)
    )  # fmt: skip
    notes = [one.message for one in mismatches(first, second, by_name(first.ops, second.ops))]
    assert [f"batch: {batch}; a step" in note for note in notes] == ([True] if batch else [])


def test_programs_with_less_than_half_of_their_time_in_common():
    """An op of 5 ms, and others of 5 or 6: the warning is on the first of both alone."""
    both = {"a": ("A", steady(5))}
    for extra_ms, warns in ((5, False), (6, True)):
        sides = [side(steady(20), both | {name: ("B", steady(extra_ms))}) for name in "xy"]
        notes = mismatches(*sides, by_name(sides[0].ops, sides[1].ops))
        warnings = [one.message for one in notes if one.severity == "warning"]
        assert len(warnings) == warns
        assert all("of the time of the first" in one for one in warnings)


def test_nothing_has_a_share_of_a_step_that_took_no_time():
    before = side(np.zeros(6), {"a": ("MatMul", np.zeros(6))}, other={"waiting": np.zeros(6)})
    after = side(
        np.full(6, 5.0), {"a": ("MatMul", np.full(6, 5.0))}, other={"waiting": np.zeros(6)}
    )
    found = texts(before, after)
    assert found[0].startswith("Step time is longer: 0 µs before, 5.00 ms now;")
    assert found[-1] == "Ops that changed most: MatMul a +5.00 ms."
    assert "points" not in " ".join(found)


def test_an_op_that_changed_by_one_hundredth_is_named():
    def always(op_ms):
        return side(np.full(6, 100.0), {"a": ("MatMul", np.full(6, op_ms))})

    assert not any("No op changed" in text for text in texts(always(50.0), always(51.0)))
