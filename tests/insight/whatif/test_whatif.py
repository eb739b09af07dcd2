"""The answers on the capture that comes with the package."""

import pytest

import tfprof
from tfprof.demo import demo_capture
from tfprof.errors import UsageError


@pytest.fixture(scope="module")
def run():
    return tfprof.open_run(demo_capture("input-bound"))


def means(answer):
    return answer.to_rows("step")[0]


def test_the_path_of_an_input_bound_run_is_input(run):
    answer = tfprof.whatif(run)
    assert "of its critical path is input" in answer.verdict[0]
    assert means(answer)["before_ms"] == means(answer)["after_ms"]
    assert sum(answer.table("path").column("share")) == pytest.approx(1)


def test_more_that_is_faster_takes_no_longer(run):
    questions = [{}, {"faster": {".*MapAndBatch": 2}}, {"free": "input"},
                 {"free": ["input", "copies"]}]  # fmt: skip
    times = [means(tfprof.whatif(run, **how))["after_ms"] for how in questions]
    assert times == sorted(times, reverse=True)
    assert times[2] < 0.5 * times[0]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"faster": {"layer": 2}}, "regular expression of the whole name"),
        ({"faster": {"Conv2": 2}}, "Conv2D"),
        ({"faster": {"Conv2D": 0.5}}, "a number from 1 on"),
        ({"faster": {"(": 2}}, "not a regular expression"),
        ({"free": "collectives"}, "no collectives in this run"),
    ],
)
def test_invalid_queries(run, how, words):
    with pytest.raises(UsageError, match=words):
        tfprof.whatif(run, **how)


def test_profiles_cannot_be_gone_through_again():
    with pytest.raises(UsageError, match="not a captured run"):
        tfprof.whatif(tfprof.open_profile(tfprof.demo_files().run_meta))
