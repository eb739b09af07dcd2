"""Patterns that would take longer than a life on names of a hostile profile."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.core.text import matching
from tfprof.core.text.matching import compiled, matched
from tfprof.errors import UsageError
from tfprof.options.regex import NameMatcher

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

LONG = "a" * 400_000


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes for ever takes longer than any limit."""
    monkeypatch.setattr(matching, "_SECONDS", 0.6)


def test_what_takes_two_seconds_is_ended() -> None:
    with pytest.raises(UsageError, match=r"takes longer than 2 s on 2 names.*fewer repeats"):
        matched(re.compile("(?:a|a)*b"), ["x", "a" * 60], "fullmatch")


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize(("pattern", "name"), [(".*a.*b.*", LONG), ("a?" * 40 + "b", "a" * 40)])
def test_what_takes_too_long_is_ended(pattern: str, name: str) -> None:
    began, used = time.monotonic(), time.process_time()
    with pytest.raises(UsageError, match=r"takes longer than 1 s on 2 names.*fewer repeats"):
        matched(re.compile(pattern), ["x", name], "fullmatch")
    assert time.process_time() - used < 1
    assert time.monotonic() - began < 60


@pytest.mark.usefixtures("short_limit")
def test_searching_begins_anywhere() -> None:
    assert not matched(re.compile("ab"), [LONG], "search").any()
    with pytest.raises(UsageError, match="takes longer"):
        matched(re.compile("a+b"), [LONG], "search")


@pytest.mark.usefixtures("short_limit")
def test_filters_of_views_have_the_limit() -> None:
    with pytest.raises(UsageError, match="takes longer than 1 s"):
        NameMatcher(["x", ".*a.*b.*"]).mask(["x", LONG])


@settings(max_examples=30)
@given(
    st.sampled_from(["a", ".*", "(?i)a.*", "(?:a|b)*", "[^b]+", "a{2,3}", "é|\\ud800"]),
    st.lists(st.text("abAé\n\ud800\x00", max_size=5), max_size=6),
    st.sampled_from(["fullmatch", "search"]),
)
def test_another_process_matches_alike(pattern: str, names: list[str], method: str) -> None:
    compiled = re.compile(pattern)
    found = matching._matched_elsewhere(compiled, names, method)
    here = [getattr(compiled, method)(name) is not None for name in names]
    assert found.tolist() == here == matched(compiled, names, method).tolist()  # type: ignore[arg-type]
    assert found.dtype == np.bool_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "text", ["(", "(" * 5000, "a{99999999999999}", "[[a]b]", "(?P<n>a)(?P<n>b)"]
)
def test_texts_that_are_not_regular_expressions(text):
    with pytest.raises(UsageError, match="is not a regular expression"):
        compiled(text)
