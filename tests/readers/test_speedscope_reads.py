"""speedscope's page reads all weights of what is written for it."""

from collections import Counter

import pytest

from tests.readers.conftest import opened
from tfprof.export.profiles import stacks_of_profile
from tfprof.export.stacks import stacks_of_trace

pytestmark = pytest.mark.readers


def stacks_of(name):
    one = opened(name)
    if name == "profile":
        return stacks_of_profile(one.profiler())
    return stacks_of_trace(one.events(), one.name)


def own_weights(saved, profile):
    """Self weight of each name, of what the page has read."""
    names = [frame["name"] for frame in saved["shared"]["frames"]]
    weights, stack, last = Counter(), [], profile["startValue"]
    assert profile["type"] == "evented"
    for event in profile["events"]:
        if stack:
            weights[names[stack[-1]]] += event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack
    return Counter({name: weight for name, weight in weights.items() if weight})


def expected(stacks, kind):
    weights = Counter()
    for path, weight in zip(
        stacks.paths(stacks.nodes.tolist()), stacks.values[kind].tolist(), strict=True
    ):
        weights[stacks.frames[path[-1]].name] += weight
    return Counter({name: weight for name, weight in weights.items() if weight > 0})


@pytest.mark.parametrize("name", ["profile", "cpu-jax-steps", "gpu-synthetic"])
def test_its_own_format(speedscope, converted, name):
    stacks = stacks_of(name)
    saved = speedscope(converted(name, "speedscope"))
    assert len(saved["profiles"]) == len(stacks.types)
    assert saved["activeProfileIndex"] == stacks.default
    for kind, profile in enumerate(saved["profiles"]):
        found = own_weights(saved, profile)
        assert found == expected(stacks, kind)
        assert profile["endValue"] == found.total()
    assert expected(stacks, stacks.default).total() > 0


@pytest.mark.parametrize("form", ["pprof", "collapsed"])
def test_formats_that_it_takes(speedscope, converted, form):
    stacks = stacks_of("gpu-synthetic")
    saved = speedscope(converted("gpu-synthetic", form))
    [profile] = saved["profiles"]
    found = own_weights(saved, profile)
    assert found.total() == expected(stacks, stacks.default).total()
    assert len(found) == len(expected(stacks, stacks.default))
