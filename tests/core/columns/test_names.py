from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.wire.engines import needs_native
from tests.core.wire.texts import texts_of
from tfprof.core.columns.names import NameTable
from tfprof.core.columns.strings import StringTable


@pytest.fixture(
    params=[pytest.param("", marks=needs_native, id="native"), pytest.param("1", id="pure")],
    autouse=True,
)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFPROF_PURE", request.param)


def test_names_have_one_number_however_they_come() -> None:
    names = NameTable()
    assert names.intern_texts(texts_of([b"b", b"a", b"b"])).tolist() == [0, 1, 0]
    assert names.intern(["c", "a"]).tolist() == [2, 1]
    assert names.find_texts(texts_of([b"c", b"x"])).tolist() == [2, -1]
    assert names.find_all(["x", "b", ""]).tolist() == [-1, 0, -1]
    assert (names.find("c"), names.find("x"), len(names)) == (2, -1, 3)
    assert (names.add("a"), names.add("y"), len(names)) == (1, 3, 4)


def test_texts_follow_growth() -> None:
    names = NameTable()
    names.intern(["a", "ö"])
    assert names[1] == "ö"
    assert names.values == ["a", "ö"]
    names.intern(["b"])
    assert names[2] == "b"
    assert names.values == ["a", "ö", "b"]
    with pytest.raises(IndexError):
        names[3]


def test_halves_of_surrogate_pairs_are_names_too() -> None:
    names = NameTable()
    assert names.intern(["\ud800", "a"]).tolist() == [0, 1]
    assert (names[0], names.values, names.find("\ud800")) == ("\ud800", ["\ud800", "a"], 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.lists(st.text(max_size=4)), max_size=4))
def test_it_is_a_table_of_strings(batches: list[list[str]]) -> None:
    names, expected = NameTable(), StringTable()
    for batch in batches:
        assert names.find_all(batch).tolist() == [expected.ids.get(name, -1) for name in batch]
        assert names.intern(batch).tolist() == [expected.intern(name) for name in batch]
        assert names.values == expected.values
