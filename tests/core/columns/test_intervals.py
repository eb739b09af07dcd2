"""Intervals of means hold as often as they say."""

import numpy as np
import pytest

from tfprof.core.columns.intervals import Mean, interval_of, mean_of, t_quantile

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (9, 2.2622), (30, 2.0423), (1000, 1.9623)],
)
def test_quantiles_are_those_of_tables(freedom, quantile):
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, abs=2e-4)


def test_a_case_by_hand():
    """10, 11, 9, 10: deviation √(2/3), 3 degrees of freedom: 3.1824, 4 · 0.6/1.4 steps."""
    low, mid, high = interval_of(mean_of([10.0, 11.0, 9.0, 10.0]))
    half = 3.18245 * (2 / 3 / (4 * 0.6 / 1.4)) ** 0.5
    assert (low, mid, high) == pytest.approx((10 - half, 10, 10 + half), abs=1e-3)


def test_a_difference_by_hand():
    """Welch: variances of the means 4 and 1, with 4 and 9 degrees of freedom."""
    difference = Mean(10.0, 2.0, 4).minus(Mean(3.0, 0.5, 9), 2.0)
    assert difference.value == 4.0
    assert difference.error == pytest.approx(5**0.5)
    assert difference.freedom == pytest.approx(25 / (16 / 4 + 1 / 9))


def test_equal_steps_have_no_width():
    assert interval_of(mean_of([3.0] * 20)) == (3.0, 3.0, 3.0)


def test_one_step_has_no_interval():
    with pytest.raises(ValueError, match="2 are needed"):
        mean_of([1.0])


def steps_of(n_steps, correlation, n_runs=500, seed=18):
    """Steps that resemble their neighbours, whose true mean is 0, one run a row."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=(n_runs, n_steps + 40))
    steps = np.zeros_like(noise)
    for place in range(1, noise.shape[1]):
        steps[:, place] = correlation * steps[:, place - 1] + noise[:, place]
    return steps[:, 40:] * (1 - correlation**2) ** 0.5


def simulated(n_steps, correlation):
    """How often the interval holds the true mean."""
    intervals = [interval_of(mean_of(run)) for run in steps_of(n_steps, correlation)]
    return np.mean([low <= 0 <= high for low, _, high in intervals])


def of_two_runs(n_steps, correlation):
    """Intervals of the difference of two runs of one program, as ``tfprof diff`` takes them."""
    before, after = (
        [mean_of(run) for run in runs]
        for runs in (steps_of(n_steps, correlation), steps_of(n_steps, correlation, seed=19))
    )
    return [interval_of(b.minus(a)) for a, b in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("n_steps", "correlation", "least"),
    [(2, 0, 0.93), (5, 0, 0.93), (12, 0, 0.93), (50, 0, 0.93),
     (5, 0.3, 0.93), (12, 0.5, 0.87), (50, 0.5, 0.92), (100, 0.8, 0.91)],
)  # fmt: skip
def test_intervals_hold_as_often_as_they_say(n_steps, correlation, least):
    assert simulated(n_steps, correlation) >= least


@pytest.mark.parametrize("n_steps", [3, 5, 7, 8, 12, 20, 100])
@pytest.mark.parametrize(("correlation", "least"), [(0, 0.93), (0.3, 0.93), (0.5, 0.91)])
def test_intervals_of_two_runs_hold_as_often_as_they_say(n_steps, correlation, least):
    found = of_two_runs(n_steps, correlation)
    assert np.mean([low <= 0 <= high for low, _, high in found]) >= least


@pytest.mark.parametrize("n_steps", [8, 12, 20])
def test_a_change_of_three_deviations_is_seen_in_steps_that_resemble_each_other(n_steps):
    """Nine of ten intervals are narrower, in units of the deviation of a step."""
    widths = [(high - low) / 2 for low, _, high in of_two_runs(n_steps, 0.5)]
    assert np.quantile(widths, 0.9) < 3


def test_steps_that_took_four_times_as_long_are_more_than_noise():
    """As recorded of a program that multiplied 18 matrices instead of 6, ms."""
    before = [28.3, 34.1, 43.9, 38.3, 33.2, 32.7, 36.9, 42.6]
    after = [103.5, 114.2, 139.7, 169.7, 143.9, 156.0, 155.9, 159.9]
    difference = mean_of(after).minus(mean_of(before))
    assert interval_of(difference).low > 0


def test_intervals_of_independent_steps_are_not_too_wide():
    assert simulated(30, 0) <= 0.985
    assert simulated(50, 0) <= 0.985
