"""RE2 syntax on top of Python's re: by hand, and against google-re2 where it is installed."""

from __future__ import annotations

import copy
import doctest
import functools
import pickle
import re
import sys
import unicodedata
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfprof.errors import UsageError
from tfprof.options import regex
from tfprof.options.regex import NameMatcher, translate

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

# pattern, texts that match in full, texts that do not; verified with RE2 by the tests below.
LANGUAGE = [
    ("", [""], ["a", "\n"]),
    ("a.c", ["abc", "aéc"], ["a\nc", "abcd", "ac"]),
    ("a|ab", ["a", "ab"], ["abb"]),
    (".*", ["", "é"], ["\n", "a\n"]),
    ("(?s).*", ["", "a\nb"], []),
    ("(?s-s:.)", ["a"], ["\n"]),
    (r"\Aa\z", ["a"], ["a\n"]),
    ("^a$", ["a"], ["a\n", "\na"]),
    ("(?s)a$.?", ["a"], ["a\n"]),
    ("(?ms)a$.^b", ["a\nb"], ["ab"]),
    ("^*a$+", ["a"], [""]),
    (r"\Qa.b*\E+", ["a.b*", "a.b**"], ["axb*", "a.ba.b*"]),
    (r"\Qa\b", [r"a\b"], ["a"]),
    (r"a*\Q\E*", ["", "aa"], ["b"]),
    (r"\d\w\s", ["1_\t", "0a "], ["٣a ", "1é ", "1a\v", "1a\u00a0"]),
    (r"\D\W\S", ["٣éa", "\n!\v"], ["1éa"]),
    (r"a\b-\bb", ["a-b"], ["ab"]),
    (r"é\Bé", ["éé"], []),
    (r"\B", [""], ["a"]),
    (r"\b", [], ["", "a"]),
    (r"\pL\PL", ["é1", "日-"], ["éé", "11"]),
    (r"\p{Nl}\pN", ["Ⅷ٣"], ["aa", "1٣"]),
    (r"\p{Lu}+", ["ÀΩ"], ["abc", "ΑΒγ"]),
    (r"\p{^Lu}\P{^Lu}", ["aΩ"], ["Ωa"]),
    (r"\p{Any}", ["a", "\n"], [""]),
    (r"\P{Any}|b", ["b"], ["a"]),
    ("[[:alpha:]][[:^alpha:]]", ["a1", "Zé"], ["aa", "é1"]),
    ("[[:word:]-]+[[:space:]]", ["a-_\v"], ["a- b"]),
    ("[:alpha:]+", ["alp:h"], ["b"]),
    ("[[:alpha]+", ["[:alp"], ["b"]),
    (r"[\d-z]+", ["1-z"], ["a"]),
    ("[]a]+", ["]a"], ["b"]),
    ("[^]a]", ["b", "\n"], ["]", "a"]),
    ("[a-c-e]+", ["ab-e"], ["d"]),
    ("[[a&&b||c~~d]", ["[", "&", "|", "~"], ["e"]),
    (r"[\n\]\x41\101\x{e9}]+", ["\n]Aé"], ["é\\"]),
    (r"\x{e9}\x41\101\07\x{00000041}", ["éAA\aA"], []),
    (r"\a\f\t\n\r\v", ["\a\f\t\n\r\v"], []),
    (r"\_\-\/\ \<\@", ["_-/ <@"], []),
    (r"\777", ["\u01ff"], []),
    (r"a\Cb", ["axb", "a\nb"], ["ab"]),
    ("(?i)MatMul", ["matmul", "MATMUL"], ["matmu"]),
    ("(?i)k(?-i)k", ["kk", "Kk", "\u212ak"], ["kK"]),
    ("(?i:s)S", ["sS", "SS", "\u017fS"], ["ss"]),
    ("a(?i)b|c", ["ab", "aB", "C"], ["AB"]),
    ("(a(?i)b)c", ["aBc"], ["abC"]),
    ("(?i)straße", ["STRAẞE"], ["STRASSE"]),
    ("(?i)σ+", ["σςΣ"], ["s"]),
    ("(?i)i", ["I"], ["ı", "İ"]),
    ("(?i)[^k]", ["x"], ["k", "K", "\u212a"]),
    (r"(?i)\P{Lu}", ["1"], ["a", "A"]),
    (r"(?i)\w", ["\u017f"], ["é"]),
    (r"(?i)[\x{100}-\x{101}b]", ["ā", "Ā", "B"], ["a"]),
    ("(?U)a+(?iU-s:b*?)", ["aaB"], ["A"]),
    ("(?)(?:)(?ii)a", ["A"], []),
    ("(?P<name>a)(?P<_1é>b)(c)", ["abc"], []),
    ("(?P<n>a)(?P<n>b)", ["ab"], []),
    ("a{2}b{1,}c{0,2}?", ["aab", "aabbcc"], ["ab", "aabccc"]),
    ("a{0}b{1}", ["b"], ["ab"]),
    ("a{,2}", ["a{,2}"], ["a", "aa"]),
    ("a{01}{", ["a{01}{"], ["a{"]),
    ("a{}{ 2}{2", ["a{}{ 2}{2"], ["aa"]),
    ("{a}", ["{a}"], []),
    ("a{1234567890}", ["a{1234567890}"], []),
    ("a{1000}", ["a" * 1000], ["a" * 999]),
    ("(a{100}){10}", ["a" * 1000], ["a" * 999]),
    ("(a{1000})*", ["", "a" * 2000], ["a"]),
    ("(a+)*(b?)+(c*){2}", ["", "aabbcc"], ["ca"]),
    ("(|a)+(|b){2}", ["", "aab", "bb"], ["bbb"]),
    ("||a", ["", "a"], ["b"]),
    ("()*a", ["a"], []),
    (r"\++\.\\", ["++.\\"], []),
    ("日本{2}", ["日本本"], ["日本日本"]),
]

# pattern, offending construct, position, part of the remedy
REFUSED = [
    ("a(?=b)", "(?=", 1, "lookaround"),
    ("(?!b)", "(?!", 0, "hide_name_regexes"),
    ("(?<=b)", "(?<=", 0, "lookaround"),
    ("(?<!b)", "(?<!", 0, "lookaround"),
    (r"(a)\1", r"\1", 3, "backreferences"),
    ("(?P<n>a)(?P=n)", "(?P=", 8, "backreferences"),
    (r"\k<n>", r"\k", 0, "backreferences"),
    ("(?>a)", "(?>", 0, "(?:...)"),
    ("a(?#b)", "(?#", 1, "comments"),
    ("(?|a)", "(?|", 0, "(?:...)"),
    ("(?(1)a)", "(?(", 0, "conditionals"),
    ("(?x)a", "(?x", 0, "i, m, s and U"),
    ("(?i-)a", "(?i-)", 0, "i, m, s and U"),
    ("(?i--s)a", "(?i--", 0, "i, m, s and U"),
    ("(?i", "(?i", 0, "i, m, s and U"),
    ("(?", "(?", 0, "i, m, s and U"),
    ("(?<n>a)", "(?<", 0, "(?P<name>...)"),
    ("(?P'n'a)", "(?P", 0, "(?P<name>...)"),
    ("(?P<n-m>a)", "(?P<n-m>", 0, "letters"),
    ("(?P<>a)", "(?P<>", 0, "letters"),
    ("(?P<n", "(?P<n", 0, "letters"),
    (r"a\Z", r"\Z", 1, r"\z"),
    (r"\u0041", r"\u", 0, r"\x{e9}"),
    (r"\N{DIGIT ONE}", r"\N", 0, r"\x{e9}"),
    (r"\x4", r"\x", 0, "two hexadecimal digits"),
    (r"\x{110000}", r"\x{110000}", 0, "10ffff"),
    (r"\x{}", r"\x", 0, "two hexadecimal digits"),
    (r"\h", r"\h", 0, r"[\t ]"),
    (r"\q", r"\q", 0, "without the backslash"),
    (r"\é", r"\é", 0, "without the backslash"),
    (r"a\E", r"\E", 1, r"\Q"),
    (r"[\b]", r"\b", 1, "in a class"),
    (r"[a-\d]", r"\d", 3, "without the backslash"),
    ("a\\", "\\", 1, r"\\"),
    (r"\p{Foo}", r"\p{Foo}", 0, r"\pL"),
    (r"\p{greek}", r"\p{greek}", 0, r"\pL"),
    (r"\p{Greek", r"\p{Greek", 0, r"\pL"),
    (r"\p{Cn}", r"\p{Cn}", 0, r"\pL"),
    (r"\pX", r"\pX", 0, r"\pL"),
    (r"\p", r"\p", 0, r"\pL"),
    ("[[:foo:]]", "[:foo:]", 1, "alpha"),
    ("x[a", "[a", 1, "close the class"),
    ("[]", "[]", 0, "close the class"),
    ("[a-", "[a-", 0, "close the class"),
    ("[z-a]", "z-a", 1, "lower character first"),
    ("a(b", "(", 1, "close the group"),
    ("ab)", ")", 2, "remove it"),
    ("*", "*", 0, "put something before it"),
    ("a|+", "+", 2, "put something before it"),
    ("(?i)?", "?", 4, "put something before it"),
    (r"\Q\E*", "*", 4, "put something before it"),
    ("{2}", "{2}", 0, r"\{"),
    ("a**", "**", 1, "stacked"),
    ("a++", "++", 1, "possessive"),
    ("a*??", "*??", 1, "stacked"),
    ("a{2}{3}", "{2}{3}", 1, "stacked"),
    ("a{1001}", "{1001}", 1, "1000"),
    ("a{1001,}", "{1001,}", 1, "1000"),
    ("a{2,1}", "{2,1}", 1, "low <= high"),
    ("(a{100}){11}", "{11}", 8, "1000"),
    ("(b|(^{600})*){2}", "{2}", 13, "1000"),
    ("(a{500,}){3}", "{3}", 9, "1000"),
    ("a\ud800", "\ud800", 1, "remove it"),
]

# Valid in RE2, but not supported here.
SCRIPTS = [
    (r"\p{Greek}", r"\p{Greek}", 0, r"[\x{370}-\x{3ff}] for Greek"),
    (r"a[^\P{^Old_Italic}]", r"\P{^Old_Italic}", 3, r"\pL"),
]

# Where this package follows TensorFlow 2.21 and not the (newer) RE2 of the google-re2 wheel.
NEWER_SYNTAX = {"(?<n>a)"}


def fully_matches(pattern, text):
    return re.fullmatch(translate(pattern), text) is not None


@pytest.fixture(scope="module")
def re2_compile():
    re2 = pytest.importorskip("re2")
    options = re2.Options()
    options.log_errors = False

    def compile_or_none(pattern):
        try:
            return re2.compile(pattern, options=options)
        except (re2.error, UnicodeEncodeError):
            return None

    return compile_or_none


@pytest.mark.parametrize(("pattern", "matching", "others"), LANGUAGE, ids=ascii)
def test_language(pattern, matching, others):
    assert [text for text in matching if not fully_matches(pattern, text)] == []
    assert [text for text in others if fully_matches(pattern, text)] == []


@pytest.mark.parametrize(
    ("pattern", "construct", "position", "remedy"), [*REFUSED, *SCRIPTS], ids=ascii
)
def test_refusal_names_pattern_construct_position_and_remedy(pattern, construct, position, remedy):
    with pytest.raises(UsageError) as caught:
        translate(pattern)
    message = str(caught.value)
    assert message.startswith(f"regular expression {pattern!r}: ")
    assert f": {construct!r} at position {position}; " in message
    assert remedy in message.partition(f"at position {position}; ")[2]


def test_tables_agree_with_re2(re2_compile):
    for pattern, matching, others in LANGUAGE:
        compiled = re2_compile(pattern)
        assert compiled is not None, pattern
        assert all(compiled.fullmatch(text) for text in matching), pattern
        assert not any(compiled.fullmatch(text) for text in others), pattern
    accepted = {pattern for pattern, *_ in REFUSED if re2_compile(pattern) is not None}
    assert accepted <= NEWER_SYNTAX
    assert all(re2_compile(pattern) is not None for pattern, *_ in SCRIPTS)


def test_any_byte_is_any_character(re2_compile):
    # Deliberate: RE2 needs two \C for é, whose UTF-8 has two bytes.
    assert fully_matches(r"\C", "é")
    assert not re2_compile(r"\C").fullmatch("é")


def test_program_size_is_not_limited(re2_compile):
    # Deliberate: RE2 refuses what would take too much memory; here it costs nothing.
    assert fully_matches(r"\pL{1000}", "é" * 1000)
    assert re2_compile(r"\pL{1000}") is None


TOKENS = [
    *"abkKé._-1:",
    *["*", "+", "?", "|", "(", ")", "^", "$", "{", "}", "[", "]", "[^", "-", "\\", "\n"],
    *["{2}", "{0,2}", "{2,}", "{0}", "{1}", "{,3}", "{40}"],
    *["(?:", "(?i)", "(?i:", "(?m)", "(?s)", "(?-i)", "(?s-m:", "(?U)", "(?P<x>", "(?", "(?P"],
    *[r"\b", r"\B", r"\A", r"\z", r"\d", r"\W", r"\s", r"\pL", r"\PL", r"\p{Lu}", r"\p{^Lu}"],
    *["[a-b]", "[^a]", "[[:alpha:]]", "[[:^digit:]", "[:", ":]", r"\Q", r"\E", r"\n"],
    *[r"\x{e9}", r"\x41", r"\101", r"\0", r"\1", r"\x{", r"\Z", r"\."],
]


@pytest.mark.thorough
@settings(max_examples=1500, deadline=None)
@given(
    tokens=st.lists(st.sampled_from(TOKENS), max_size=10),
    texts=st.lists(st.text("abAkKé\n _1\u212a\u017fα{", max_size=5), min_size=1, max_size=8),
)
@example(tokens=[r"(?s)a$.?"], texts=["a\n"])
@example(tokens=["(|a)+", "(|b){2}"], texts=["aab"])
def test_same_language_as_re2(re2_compile, tokens, texts):
    pattern = "".join(tokens)
    expected = re2_compile(pattern)
    if expected is None:
        with pytest.raises(UsageError, match="at position"):
            translate(pattern)
        return
    ours = re.compile(translate(pattern))
    for text in ["", "a", "\n", *texts]:
        assert bool(ours.fullmatch(text)) == bool(expected.fullmatch(text)), (pattern, text)


@settings(max_examples=300, deadline=None)
@given(char=st.characters(exclude_categories=["Cs", "Cn"]), text=st.text(max_size=3))
def test_case_folding_of_any_character_as_re2(re2_compile, char, text):
    pattern = rf"(?i)\x{{{ord(char):x}}}"
    candidates = {char, *text, char.lower(), char.upper(), char.swapcase(), char.casefold()}
    for candidate in sorted(candidates):
        found = bool(re2_compile(pattern).fullmatch(candidate))
        assert fully_matches(pattern, candidate) == found, (char, candidate)


@functools.cache
def categories():
    return sorted({unicodedata.category(chr(code)) for code in range(0x110000)} - {"Cn"})


def test_unicode_groups_have_the_same_characters_as_in_re2(re2_compile):
    """Of those that both know: Python and RE2 may have different versions of Unicode."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    theirs = "".join(re2_compile(r"[\pL\pM\pN\pP\pS\pZ\p{Cc}\p{Cf}]+").findall(every))
    known = "".join(char for char in theirs if unicodedata.category(char) != "Cn")
    assert len(known) > 140_000
    for name in [*categories(), *"CLMNPSZ"]:
        group = rf"\p{{{name}}}+"
        ours = re.findall(translate(group), known)
        assert "".join(ours) == "".join(re2_compile(group).findall(known)), name


def test_every_category_is_accepted_as_in_re2(re2_compile):
    assert re2_compile(r"\p{Cn}") is None
    for name in [*categories(), *"CLMNPSZ", "Any"]:
        assert re2_compile(rf"\p{{{name}}}") is not None, name
        re.compile(translate(rf"[^\p{{{name}}}]"))


@pytest.mark.parametrize("on_error", ["raise", "never_match"])
def test_scripts_are_refused_in_any_case(on_error):
    """In classic mode, too: RE2 would match, so "matches nothing" would be wrong."""
    with pytest.raises(UsageError, match=r"scripts are not supported: '.*' at position 1"):
        NameMatcher([r"a\p{Greek}"], on_error=on_error)


def test_deep_nesting_is_refused_only_if_it_can_not_be_simplified():
    assert NameMatcher(["(" * 20000 + "a" + ")" * 20000]).matches("a")
    nested = "(?:" * 5000 + "a" + "b)*" * 5000
    with pytest.raises(UsageError, match="nested too deeply"):
        NameMatcher([nested])
    assert NameMatcher([nested], on_error="never_match").errors[0].endswith("not needed")


def test_nested_quantifiers_take_no_exponential_time():
    assert not NameMatcher([r"((a+)*)+b"]).matches("a" * 5000)


def test_matcher_needs_one_full_match():
    matcher = NameMatcher(["conv", "MatMul.*"])
    assert [matcher.matches(name) for name in ("conv", "conv2", "MatMul_1", "xMatMul")] == [
        True,
        False,
        True,
        False,
    ]
    assert matcher.errors == ()
    assert not matcher.everything


def test_everything_is_the_lone_dot_star_and_includes_newlines():
    everything = NameMatcher([".*"])
    assert everything.everything
    assert everything.matches("a\nb")
    assert everything.mask(["", "a\nb"]).tolist() == [True, True]
    longer = NameMatcher([".*", ".*"])
    assert not longer.everything
    assert not longer.matches("a\nb")


def test_empty_list_matches_nothing():
    matcher = NameMatcher([])
    assert not matcher.everything
    assert not matcher.matches("")
    assert matcher.mask(["", "a"]).tolist() == [False, False]


def test_mask_has_one_element_per_name():
    names = ["a/conv", "a\n", "b", ""]
    mask = NameMatcher(["a.*", "b"]).mask(names)
    assert mask.dtype == np.bool_
    assert mask.tolist() == [True, False, True, False]
    assert NameMatcher(["a"]).mask([]).shape == (0,)


def test_invalid_pattern_raises_or_never_matches():
    with pytest.raises(UsageError, match="at position 1"):
        NameMatcher(["a", "b**"], on_error="raise")
    matcher = NameMatcher(["b**", "a", "("], on_error="never_match")
    assert matcher.matches("a")
    assert not matcher.matches("b**")
    assert len(matcher.errors) == 2
    assert "'b**'" in matcher.errors[0]
    assert "'('" in matcher.errors[1]


def test_matcher_is_an_immutable_value():
    patterns = ["a", "b"]
    matcher = NameMatcher(patterns)
    patterns.append("c")
    assert matcher.patterns == ("a", "b")
    assert not matcher.matches("c")
    assert matcher == NameMatcher(("a", "b"))
    assert hash(matcher) == hash(NameMatcher(["a", "b"]))
    assert matcher != NameMatcher(["a", "b"], on_error="never_match")
    with pytest.raises(FrozenInstanceError):
        matcher.everything = True
    for other in (copy.deepcopy(matcher), pickle.loads(pickle.dumps(matcher))):
        assert other == matcher
        assert other.matches("b")


def test_documented_examples():
    assert doctest.testmod(sys.modules[regex.__name__]).failed == 0


@pytest.mark.parametrize("pattern", ["(.*)*" * 30 + "zq", ".*.+" + ".*" * 30 + "zq"])
def test_neighbours_that_match_the_same_are_one(pattern):
    """Left apart they would take longer than a life."""
    assert not NameMatcher([pattern]).matches("a" * 200)
    assert NameMatcher([pattern]).matches("a" * 200 + "zq")
