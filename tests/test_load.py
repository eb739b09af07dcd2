"""The figures of ``python -m fuzz.load``: what grows is found, and what does not is not."""

import os
import sys

import pytest

from fuzz.load.curve import Curve, Sample, bars, is_flat, sample_of

pytestmark = pytest.mark.one_engine


def test_caches_may_fill_but_nothing_may_grow_on():
    assert is_flat([50, 90, 100, 100, 100, 101, 100, 104], 1.0)
    assert not is_flat([50, 90, 100, 100, 110, 120, 130, 140], 1.0)
    assert not is_flat([10, 10, 10, 10, 11, 12, 13, 20], 1.0)
    assert is_flat([10, 10, 10, 10, 11, 12, 13, 17], 8.0)  # fewer than may be open at the moment


def test_what_grows_is_named():
    curve = Curve(0, [Sample(at, 100.0 + 2 * at, 9, 4, 0) for at in range(40)])
    assert curve.growing() == ["memory, MiB grows"]
    [memory, descriptors, *_] = curve.lines()
    assert "least 100, most 178" in memory and memory.endswith("GROWS")
    assert descriptors.endswith("flat")


def test_a_curve_is_a_line_from_0():
    assert bars([0.0, 1.0, 7.0]) == "▁▂█"
    assert len(bars([3.0] * 1000)) == 40
    assert bars([0.0, 0.0]) == "▁▁"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_sample_of_this_process():
    before = sample_of(os.getpid())
    files = [open(os.devnull) for _ in range(5)]  # noqa: PTH123, SIM115
    after = sample_of(os.getpid(), 3)
    for file in files:
        file.close()
    assert after.n_descriptors == before.n_descriptors + 5
    assert after.n_requests == 3 and after.memory_mib > 10 and after.n_threads >= 1
