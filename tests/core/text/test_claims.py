"""Claims: what is stated, as data, and the sentence that is made from it."""

import math

import pytest

from tfprof.core.text.claims import Claim, number_text, quoted, scoped, unknown


@pytest.mark.parametrize(
    ("number", "unit", "form", "text"),
    [
        (0.816, "fraction", "", "81.6%"), (0.816, "fraction", "3", "82%"),
        (0.051, "fraction", "%", "5.1 %"), (0.034, "points", "", "+3.4 points"),
        (1.5, "ms", "", "1.500 ms"), (1.5, "ms", "3", "1.50 ms"), (-1.5, "ms", "+", "-1.50 ms"),
        (0.0, "ms", "+", "+0 µs"), (20665, "us", "", "20,665 µs"), (2.25, "us", ",.1f", "2.2 µs"),
        (1500, "bytes", "", "1.50 kB"),
        (12e9, "FLOPs", "", "12.0 GFLOPs"), (1, "count", "host", "1 host"),
        (3000, "count", "other clock", "3,000 other clocks"), (25.6e6, "count", "3", "25.6 M"),
        (9833, "count", "3", "9,833"), (2.5, "times", ".2f", "2.50"), (None, "ms", "", "unknown"),
        (math.inf, "bytes", "", "inf"), (math.nan, "count", "step", "nan"),
    ],
)  # fmt: skip
def test_numbers(number, unit, form, text):
    assert number_text(number, unit, form) == text


def test_a_sentence_mentions_what_the_claim_holds():
    part = Claim("Map", "self_share", 0.25, "fraction", words="{subject} {value}")
    other = Claim("{value}", "self_share", 0.5, "fraction", words="{subject} {value}")
    claim = Claim(
        "input", "self_time", 2.0, "ms", 1.0, 3.0, details={"size_bytes": 2000, "op_count": 2},
        parts=(part, other), words="{op_count:op} of {size_bytes} in {value} ({range}): {parts:; }",
    )  # fmt: skip
    assert (
        claim.text == "2 ops of 2.00 kB in 2.000 ms (1.000 to 3.000 ms): Map 25.0%; {value} 50.0%"
    )
    assert list(claim.every) == [claim, part, other]
    assert claim.to_dict()["parts"][0]["value"] == 0.25


def test_what_is_unknown_has_no_value():
    claim = unknown("step", "step_time", "No steps, so no step time.")
    assert (claim.value, claim.is_known, claim.text) == (None, False, "No steps, so no step time.")


def test_parts_have_the_scope_of_what_lists_them():
    own = Claim("a", "m", 1, scope="step 3")
    [claim] = scoped([Claim("b", "m", 1, parts=(own, Claim("c", "m", 1)))], "8 steps", "events")
    assert [one.scope for one in claim.every] == ["8 steps", "step 3", "8 steps"]
    assert {one.basis for one in claim.every} == {"events"}


def test_sentences_of_files_are_quoted_as_they_are():
    [claim] = quoted(["50% {of} 3"])
    assert (claim.text, claim.value, claim.metric) == ("50% {of} 3", None, "quotation")


def test_a_long_name_is_shortened_in_the_sentence_alone():
    name = "scope{value}/" * 20
    claim = Claim(name, "self_time", 1.0, "ms", details={"op": name},
                  words="{op:folded}; {subject:folded}; {op}")  # fmt: skip
    short, same, whole = claim.text.split("; ")
    assert (len(short), short, whole) == (80, same, name)
    assert short.startswith("scope{value}/") and "…" in short
    assert claim.details["op"] == name
