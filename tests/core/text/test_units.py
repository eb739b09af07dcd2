"""Times in sentences: the unit shows the value."""

import pytest

from tfprof.core.text.units import bytes_of, milliseconds, milliseconds_between
from tfprof.errors import UsageError


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [
        (0, "0 ms"),
        (1234.5, "1,234.500 ms"),
        (0.125, "0.125 ms"),
        (0.1, "0.100 ms"),
        (0.09999, "0.100 ms"),
        (0.0873, "87.3 µs"),
        (0.001, "1.00 µs"),
        (0.0009996, "1.00 µs"),
        (0.00045, "450 ns"),
        (1e-6, "1.00 ns"),
        (2e-7, "200 ps"),
        (-0.00045, "-450 ns"),
        (float("nan"), "nan ms"),
    ],
)
def test_a_time_has_the_unit_that_shows_it(value_ms, text):
    assert milliseconds(value_ms) == text


def test_a_range_names_its_unit_once_if_both_ends_have_it():
    assert milliseconds_between(1, 2.5) == "1.000 to 2.500 ms"
    assert milliseconds_between(0.00045, 1) == "450 ns to 1.000 ms"


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("4G", 4 << 30), ("512M", 512 << 20), ("2.5GB", 2_500_000_000), (" 1 KiB ", 1024), ("7", 7)],
)
def test_sizes_as_people_write_them(text, n_bytes):
    assert bytes_of(text) == n_bytes


@pytest.mark.parametrize("text", ["", "lots", "4X", "-1G", "0", "0.1", "4 G B", "1e9"])
def test_an_invalid_size_is_named(text):
    with pytest.raises(UsageError, match="is not a size of memory; write it as 4G"):
        bytes_of(text)
