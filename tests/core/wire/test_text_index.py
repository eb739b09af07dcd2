"""Texts by number, natively and in Python."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.wire.engines import needs_native
from tests.core.wire.texts import texts_of
from tfprof.captures.model.xspace_stats import text_at
from tfprof.core.wire.scan import Texts
from tfprof.core.wire.text_index import TextIndex, places_of, strings


@pytest.fixture(
    params=[pytest.param("", marks=needs_native, id="native"), pytest.param("1", id="pure")],
    autouse=True,
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPROF_PURE", request.param)


def test_numbers_count_from_0_in_order_of_appearance() -> None:
    index = TextIndex()
    assert index.intern(texts_of([b"b", b"a", b"b", b"", b"a"])).tolist() == [0, 1, 0, 2, 1]
    assert index.intern(texts_of([b"c", b"", b"b"])).tolist() == [3, 2, 0]
    assert len(index) == 4
    assert [index[number] for number in range(4)] == [b"b", b"a", b"", b"c"]


def test_find_adds_nothing() -> None:
    index = TextIndex()
    index.extend(["a", "", "ö"])
    assert index.find(texts_of([b"", b"b", "ö".encode(), b"\xc3", b"a"])).tolist() == [
        1,
        -1,
        2,
        -1,
        0,
    ]
    assert len(index) == 3


def test_texts_are_found_in_any_order_after_they_came_in_one() -> None:
    index = TextIndex()
    names = [f"{'scope/' * (n % 5)}op{n}" for n in range(500)]
    index.extend(names)
    order = [*range(500), *range(0, 500, 2), *range(499, -1, -1), *range(500)]
    texts = [names[n].encode() for n in order]
    assert index.find(texts_of(texts)).tolist() == order
    odd = [*texts[:600], b"unknown", *texts[600:], b"op1", b"op1", b"op"]
    expected = [*order[:600], -1, *order[600:], -1, -1, -1]
    assert index.find(texts_of(odd)).tolist() == expected
    assert index.find(texts_of(odd)).tolist() == expected
    assert index.intern(texts_of([b"op", *odd])).tolist() == [
        500, *order[:600], 501, *order[600:], 502, 502, 500,
    ]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_that_came_before_do_not_mislead(rounds: list[list[str]]) -> None:
    index = TextIndex()
    index.extend(["a", "b", "c"])
    numbers = {b"a": 0, b"b": 1, b"c": 2}
    for place, letters in enumerate(rounds):
        texts = [letter.encode() for letter in letters]
        if place % 2:
            assert index.find(texts_of(texts)).tolist() == [numbers.get(t, -1) for t in texts]
        else:
            expected = [numbers.setdefault(text, len(numbers)) for text in texts]
            assert index.intern(texts_of(texts)).tolist() == expected


def test_no_texts() -> None:
    index = TextIndex()
    assert len(index) == 0
    for found in (index.find(texts_of([])), index.intern(texts_of([]))):
        assert found.tolist() == []
        assert found.dtype == np.int64
    index.extend([])
    assert len(index) == 0
    assert index.find(texts_of([b""])).tolist() == [-1]


def test_texts_are_bytes_of_utf_8_surrogates_included() -> None:
    index = TextIndex()
    index.extend(["\ud800", "\x00", "\U0001f600"])
    assert [index[number] for number in range(3)] == [b"\xed\xa0\x80", b"\x00", b"\xf0\x9f\x98\x80"]
    assert index.intern(texts_of([b"\xed\xa0\x80", b"\xff\xfe", b"\x00\x00"])).tolist() == [0, 3, 4]
    assert index[3] == b"\xff\xfe"


@pytest.mark.parametrize("number", [-1, 1, 2**40])
def test_a_number_without_a_text(number: int) -> None:
    index = TextIndex()
    index.extend(["a"])
    with pytest.raises(IndexError):
        index[number]


@pytest.mark.parametrize(
    ("start", "length"),
    [(-1, 1), (0, 4), (3, 1), (4, 0), (0, -1), (2**63 - 1, 1), (1, 2**63 - 1), (-(2**63), 0)],
)
def test_places_outside_the_buffer_are_refused(start: int, length: int) -> None:
    index = TextIndex()
    outside = Texts(b"abc", np.array([0, start], np.int64), np.array([1, length], np.int64))
    with pytest.raises(ValueError, match="a text is not in the buffer"):
        index.find(outside)
    with pytest.raises(ValueError, match="a text is not in the buffer"):
        index.intern(outside)
    # What came before may be known or not; the index goes on.
    assert index[int(index.intern(texts_of([b"x"]))[0])] == b"x"


def test_as_many_lengths_as_starts() -> None:
    uneven = Texts(b"abc", np.zeros(2, np.int64), np.ones(1, np.int64))
    for method in (TextIndex().find, TextIndex().intern):
        with pytest.raises(ValueError, match="as many lengths as starts"):
            method(uneven)


def test_a_hundred_thousand_texts() -> None:
    words = [f"scope_{n % 317}/op_{n}".encode() for n in range(100_000)]
    index = TextIndex()
    assert (index.intern(texts_of(words, gap=b"\n")) == np.arange(100_000)).all()
    assert (index.find(texts_of(words[::-1])) == np.arange(100_000)[::-1]).all()
    assert (index.intern(texts_of([word + b":0" for word in words[:10]])) >= 100_000).all()
    assert index[99_999] == words[-1]


def test_texts_that_differ_in_one_byte_or_in_length() -> None:
    words = [bytes([0]) * n for n in range(40)]
    words += [bytes([0]) * n + b"\x01" + bytes([0]) * (20 - n) for n in range(20)]
    index = TextIndex()
    assert index.intern(texts_of(words)).tolist() == list(range(60))
    assert index.find(texts_of(words, gap=b"\x01")).tolist() == list(range(60))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.binary(max_size=20), max_size=30), max_size=4))
def test_it_is_a_dict_of_texts(batches: list[list[bytes]]) -> None:
    index, expected = TextIndex(), {}
    for batch in batches:
        known = [expected.get(text, -1) for text in batch]
        assert index.find(texts_of(batch)).tolist() == known
        numbers = [expected.setdefault(text, len(expected)) for text in batch]
        assert index.intern(texts_of(batch)).tolist() == numbers
    assert [index[number] for number in range(len(index))] == list(expected)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(), max_size=10), unique=True))
def test_extend_numbers_texts(texts: list[str]) -> None:
    index = TextIndex()
    index.extend(texts)
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    assert index.find(texts_of(encoded)).tolist() == list(range(len(texts)))


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as can be."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@needs_native
@pytest.mark.usefixtures("switching")
def test_threads_may_share_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPROF_PURE", "")
    words = texts_of([b"name/%d" % (n % 3000) for n in range(30_000)])
    index = TextIndex()
    found: list[list[int]] = []

    def work() -> None:
        for _ in range(5):
            found.append(index.intern(words).tolist())
            for number in range(0, len(index), 10):
                assert index[number] == b"name/%d" % number

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(index) == 3000
    assert found == [[n % 3000 for n in range(30_000)]] * 20


def test_texts_stand_behind_their_lengths() -> None:
    index = TextIndex()
    found = [b"", b"a", b"b" * 127, b"c" * 128, b"d" * 20_000]
    index.intern(texts_of(found))
    data, places = index.with_lengths()
    assert [text_at(data, place) for place in places.tolist()] == found
    assert len(data) == sum(map(len, found)) + 1 + 1 + 1 + 2 + 3
    assert TextIndex().with_lengths()[1].tolist() == []


def test_texts_as_str() -> None:
    words = [b"a", b"", "ö/\U0001f600".encode(), b"\x00"]
    assert strings(texts_of(words, gap=b"\xff")) == [word.decode() for word in words]
    assert strings(texts_of([])) == []
    for broken in (b"\xff", b"\xed\xa0\x80"):
        with pytest.raises(UnicodeDecodeError):
            strings(texts_of([b"a", broken]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=6)))
def test_the_first_place_of_a_byte(words: list[bytes]) -> None:
    texts = texts_of(words, gap=b"\x01:")
    assert places_of(b"\x01", texts).tolist() == [word.find(b"\x01") for word in words]


@pytest.mark.parametrize(("start", "length"), [(-1, 1), (0, 4), (4, 0), (0, -1), (2**63 - 1, 1)])
def test_texts_outside_the_buffer_are_refused(start: int, length: int) -> None:
    outside = Texts(b"abc", np.array([start], np.int64), np.array([length], np.int64))
    for read in (strings, lambda texts: places_of(b":", texts)):
        with pytest.raises(ValueError, match="a text is not in the buffer"):
            read(outside)
