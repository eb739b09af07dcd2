import numpy as np
import pytest

from tfprof.files.checkpoint.value_statistics import ValueStatistics, statistics_of


def test_by_hand():
    # Mean 2; squares of differences 4 + 1 + 1 + 4.
    values = np.array([[0.0, 1.0], [3.0, 4.0]], np.float32)
    assert statistics_of(values) == ValueStatistics(4, 1, 0, 0, 0.0, 4.0, 2.0, 2.5**0.5)


def test_what_is_not_finite_is_counted_and_left_out():
    values = np.array([np.nan, 1.0, -np.inf, np.inf, np.nan, -0.0, 5.0])
    found = statistics_of(values)
    assert (found.n_values, found.n_zeros, found.n_nan, found.n_infinite) == (7, 1, 2, 2)
    assert (found.minimum, found.maximum, found.mean) == (0.0, 5.0, 2.0)


@pytest.mark.parametrize("values", [np.zeros(0), np.array([np.nan, np.inf])])
def test_without_finite_numbers_only_counts_are_known(values):
    found = statistics_of(values)
    assert found.minimum is found.maximum is found.mean is found.standard_deviation is None


def test_whole_numbers_stay_exact():
    found = statistics_of(np.array([2**62, 2**62 + 1, -(2**63)]))
    assert (found.minimum, found.maximum) == (-(2**63), 2**62 + 1)
    assert statistics_of(np.array([2**64 - 1], np.uint64)).maximum == 2**64 - 1


def test_truth_counts_as_0_and_1():
    found = statistics_of(np.array([True, False, True, True]))
    assert (found.minimum, found.maximum, found.mean, found.n_zeros) == (0, 1, 0.75, 1)


def test_values_other_than_real_numbers_have_no_statistics():
    assert statistics_of(np.array([1j])) is None
    assert statistics_of(np.array([b"a"], np.object_)) is None


def test_sums_that_are_too_large_are_not_known():
    found = statistics_of(np.array([1.5e308, 1.5e308]))
    assert (found.maximum, found.mean, found.standard_deviation) == (1.5e308, None, None)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint32])
def test_many_values_as_numpy_counts_them(dtype):
    values = np.random.default_rng(0).normal(30, 9, (700, 300)).astype(dtype)
    found = statistics_of(values)
    exact = values.astype(np.float64)
    assert found.mean == pytest.approx(exact.mean(), rel=1e-12)
    assert found.standard_deviation == pytest.approx(exact.std(), rel=1e-12)
    assert (found.minimum, found.maximum) == (exact.min(), exact.max())
    assert found.n_zeros == (exact == 0).sum()


def test_a_large_mean_takes_no_digits_from_the_deviation():
    values = np.tile([1e9, 1e9 + 1], 100_000)
    assert statistics_of(values).standard_deviation == pytest.approx(0.5, rel=1e-9)
