"""Levels that are known: none where there is none, the right place where there is one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.insight.history.runs import stepped
from tfprof.insight.history.change_points import (
    FEWEST,
    _confirmed,
    _correlation,
    _ratios,
    _split,
    _test,
    _windows,
    change_points,
    exact_changes,
    likely_places,
    scored,
    without_outliers,
)


def noise(kind, rng, n=100):
    normal = rng.normal(size=n)
    return {
        "normal": normal,
        "lognormal": np.exp(0.6 * normal),
        "outliers": normal + np.where(rng.random(n) < 0.05, 20.0, 0.0),
        "two modes": 0.5 * normal + np.where(rng.random(n) < 0.3, 2.0, 0.0),
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "lognormal", "outliers", "two modes"])
def test_a_hundred_runs_without_a_change_have_at_most_one(kind):
    rng = np.random.default_rng(5)
    counts = [len(change_points(100 + noise(kind, rng))) for _ in range(10)]
    assert max(counts) <= 1
    assert sum(counts) <= 1


def test_a_step_of_three_percent_is_found_within_five_runs():
    found = [change_points(stepped(30, 5, 0.03, seed=seed)) for seed in range(20)]
    near = [any(abs(place - 30) <= 2 for place in places) for places in found]
    assert sum(near) >= 17


def test_ten_percent_are_found_at_once_and_at_the_right_place():
    for seed in range(5):
        assert change_points(stepped(30, 4, 0.10, seed=seed)) == [30]
        assert change_points(stepped(30, 4, -0.10, seed=seed)) == [30]


def test_a_level_that_comes_and_goes_has_two_changes():
    values = [*stepped(40, 15, 0.08), *stepped(45, 0, 0.0, seed=9)]
    assert change_points(values) == [40, 55]


def test_chance_alone_makes_no_change():
    assert change_points([]) == change_points([1.0]) == change_points([7.0] * 200) == []
    assert change_points(stepped(5, 5, 0.5)[: FEWEST - 1]) == []
    one_bad = stepped(60, 0, 0.0)
    one_bad[30] = 1000.0
    assert change_points(one_bad) == []
    one_bad[31] = 1000.0
    assert change_points(one_bad) == []


def test_numbers_without_noise_change_wherever_they_differ():
    assert exact_changes([5, 5, 6, 6, 5]) == [2, 4]
    assert exact_changes([5, 6]) == [1]
    assert exact_changes([5]) == exact_changes([]) == []
    assert change_points([5.0] * 20 + [6.0] * 3) == [20]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1e9), st.floats(-1e3, 1e3))
def test_the_unit_and_the_origin_of_values_do_not_matter(seed, scale, origin):
    values = np.array(stepped(20, 10, 0.10, seed=seed))
    assert change_points((values + origin) * scale) == change_points(values)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_order_of_runs_of_one_level_does_not_matter(seed, order):
    values = stepped(20, 10, 0.15, seed=seed)
    rng = np.random.default_rng(order)
    mixed = [*rng.permutation(values[:20]), *rng.permutation(values[20:])]
    assert change_points(mixed) == change_points(values) == [20]


def test_more_runs_of_a_level_move_no_clear_change():
    values = stepped(30, 60, 0.10, seed=3)
    for n in (35, 50, 75, 90):
        assert change_points(values[:n]) == [30]


def test_the_places_that_are_likely_hold_the_true_one():
    n_held, widths = 0, []
    for seed in range(100):
        values = stepped(30, 20, 0.015, seed=seed)
        first, last = likely_places(np.array(values), 0.95)
        n_held += first <= 30 <= last
        widths.append(last - first)
    assert n_held >= 88
    assert 1 <= np.median(widths) <= 15  # neither certain nor useless
    clear = np.array(stepped(30, 20, 0.30))
    assert likely_places(clear, 0.95) == (30, 30)


def test_where_nothing_differs_the_ends_are_likelier_than_the_middle():
    """Of 8 runs, the places 3, 4 and 5 count as 1/√15, 1/4 and 1/√15."""
    even = np.full(8, 5.0)
    assert [likely_places(even, share) for share in (0.33, 0.5, 0.68)] == [(3, 3), (3, 5), (3, 5)]


def test_likely_places_by_the_probability_of_each():
    """Smith's formula, a place at a time: the sum of squares within to the power -(n - 2) / 2."""
    values = np.array([0.0, 2, 0, 2, 0, 2, 1, 3, 1, 3, 1, 3])
    odds = {}
    for place in range(3, 10):
        within = sum(((part - part.mean()) ** 2).sum() for part in np.split(values, [place]))
        odds[place] = within**-5 / math.sqrt(place * (12 - place))
    likeliest_first = sorted(odds, key=lambda place: -odds[place])
    for n_kept in range(1, 6):
        kept = likeliest_first[:n_kept]
        share = sum(odds[place] for place in kept) / sum(odds.values())
        assert likely_places(values, share - 1e-9) == (min(kept), max(kept))


def test_outliers_are_drawn_towards_the_others():
    kept = without_outliers(np.array([10.0, 10.1, 9.9, 10.0, 99.0]))
    assert kept[:4].tolist() == [10.0, 10.1, 9.9, 10.0]
    assert 10.1 < kept[4] < 11
    assert without_outliers(np.array([3.0])).tolist() == [3.0]


@pytest.mark.parametrize("seed", range(8))
def test_a_slope_is_a_few_steps_and_comes_to_an_end(seed):
    slope = 5 * np.clip((np.arange(100) - 30) / 40, 0, 1)
    places = change_points(100 + slope + np.random.default_rng([4, seed]).normal(size=100))
    assert 1 <= len(places) <= 5
    assert all(25 <= place <= 75 for place in places)


def test_windows_overlap_by_half_and_cover_all():
    assert list(_windows(0)) == []
    assert list(_windows(50)) == [(0, 50)]
    assert list(_windows(60)) == [(0, 50), (25, 60), (0, 60)]
    assert list(_windows(450))[-3:] == [(400, 450), (0, 400), (200, 450)]


def test_scores_are_robust_deviations_from_the_median():
    """Median 3, median deviation 1: 1.4826 for normal values; 97 are cut off."""
    found = scored(np.array([1.0, 2.0, 3.0, 4.0, 100.0]))
    assert found == pytest.approx([-2 / 1.4826, -1 / 1.4826, 0, 1 / 1.4826, 3.5])
    assert scored(np.array([5.0, 5, 5, 5, 5.5, 4.5])) == pytest.approx([0, 0, 0, 0, 3, -3])
    assert scored(np.array([5.0] * 4)).tolist() == [0.0] * 4


def test_ratios_of_each_split():
    """Between the means lie 4/3 and 1, of a sum of squares of 96/7."""
    ratio, places = _ratios(np.array([[0.0, 2, 0, 2, 0, 2, 4]]))
    assert places.tolist() == [3, 4]
    assert ratio[0] == pytest.approx([7 * math.log(9 / 7), 7 * math.log(8 / 7)])
    clear, _ = _ratios(np.array([[0.0, 0, 0, 1, 1, 1], [2.0] * 6]))
    assert clear.ravel() == pytest.approx([6 * math.log1p(1e9), 0])


def test_neighbours_that_are_alike_are_correlated():
    """105 of 168 are 0.625; two biases of 2.875 / 11 are added, and 1 / √11 is taken off."""
    ramp = np.arange(-7.0, 8, 2)
    found = _correlation(np.append(ramp, np.zeros(3)), 8)
    assert found == pytest.approx(0.625 + 2 * 2.875 / 11 - 11**-0.5)
    assert _correlation(np.append(np.arange(999.0), np.zeros(3)), 999) == 0.95
    assert _correlation(np.array([0.0, 1, 0, 1, 0, 1]), 3) == 0.0
    assert _correlation(np.array([1.0] * 3 + [2.0] * 3), 3) == 0.0


def test_what_chance_does_once_in_two_hundred_changes_nothing():
    """Of 12 runs in any order, one in 495 has the four last, and one has them first."""
    noise = 0.1 * np.resize([1, -1, 2, -2, 0], 12)
    chance, place = _test(np.repeat([0.0, 3.0], [8, 4]) + noise)
    assert (chance, place) == (pytest.approx(0.0055, abs=0.002), 8)
    assert list(_split(np.repeat([0.0, 3.0], [8, 4]) + noise, 0, 12)) == []
    assert list(_split(np.repeat([0.0, 3.0], [6, 6]) + noise, 0, 12)) == [6]


def test_each_part_of_a_stretch_is_divided_again():
    rng = np.random.default_rng(2)
    levels = np.repeat([10.0, 10.5, 13.0], 12) + 0.1 * rng.normal(size=36)
    assert list(_split(levels, 0, 36)) == [24, 12]
    assert list(_split(np.append([99.0] * 5, levels), 5, 41)) == [29, 17]
    assert list(_split(levels, 0, FEWEST - 1)) == []


def test_two_hundred_runs_on_each_side_confirm_what_fifty_do_not():
    """Half a deviation: t is 5 of 200 and 200, and 2.5 of 50 and 50."""
    noise = np.random.default_rng(2).normal(size=200)
    small = np.concatenate([noise, noise[::-1] + 0.5])
    assert _confirmed(small, [200]) == [201]
    assert _confirmed(small[150:250], [50]) == []


def test_how_often_chance_divides_as_well():
    """Of 20 orders of three and three, two have all of one kind first."""
    chance, place = _test(np.array([0.0] * 3 + [9.0] * 3))
    assert (chance, place) == (pytest.approx(0.1, abs=0.03), 3)
    assert _test(np.array([0.0] * 3 + [9.0] * 2)) == (1.0, 0)
    assert _test(np.array([4.0] * 6)) == (1.0, 3)
