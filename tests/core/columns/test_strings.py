import pytest

from tfprof.core.columns.strings import InternTable


def test_ids_follow_first_appearance():
    table = InternTable(["b", "a", "b"])
    assert table.values == ["b", "a"]
    assert table.intern("c") == 2
    assert table.intern("a") == 1
    assert table[2] == "c"
    assert len(table) == 3


def test_any_hashable_value():
    table = InternTable([None])
    assert table.intern((1, 2)) == 1
    assert table.intern((1, 2)) == 1
    with pytest.raises(TypeError):
        table.intern([1])
