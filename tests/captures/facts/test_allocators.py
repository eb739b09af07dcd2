"""How full allocators were at most, without a look at what they held."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.captures.facts.allocators import most_used_share, told_allocators

WITH_MEMORY = ("cpu-memory-bfc", "gpu-synthetic", "gpu-v100-bert-tf23", "gpu-rocm-jax-conv")


@pytest.mark.parametrize("name", WITH_MEMORY)
def test_the_bound_is_the_part_of_the_fullest_allocator(name):
    (host,) = tools.open_run(str(folder(name))).hosts
    shares = [one.used_bytes / one.capacity_bytes for one in told_allocators(host)
              if one.capacity_bytes]  # fmt: skip
    assert most_used_share(host) == pytest.approx(max(shares))


def test_without_events_of_allocators_it_is_0():
    (host,) = tools.open_run(str(folder("cpu-no-steps"))).hosts
    assert most_used_share(host) == 0.0
