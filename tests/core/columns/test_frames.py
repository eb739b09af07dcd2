import pytest

from tfprof.core.columns.frames import EMPTY_STACK, Frame, StackTable


@pytest.mark.parametrize(
    ("file", "function", "label"),
    [
        ("/a/b/foo.py", "main", "foo.py:3:main"),
        ("foo.py", "a_function_19_chars", "foo.py:3:a_function_19_chars"),
        ("foo.py", "a_function_of_20char", "foo.py:3:a_function_of_20c..."),
        ("folder/", "f", ":3:f"),
        ("", "", ":3:"),
    ],
)
def test_label(file, function, label):
    assert Frame(file, function, 3).label == label


def test_function_names_are_cut_by_bytes_but_never_inside_a_character():
    # 10 characters of 2 bytes are 20 bytes; 17 bytes end inside the ninth.
    assert Frame("f.py", "\u00f6" * 10, 1).label == "f.py:1:" + "\u00f6" * 8 + "..."


def test_stacks_share_their_outer_frames():
    table = StackTable()
    main, left, right = Frame("f", "main", 1), Frame("f", "left", 2), Frame("f", "right", 3)
    a = table.intern([main, left])
    b = table.intern([main, right])
    assert table.intern([main, left]) == a
    assert len(table.rows) == 4  # the empty stack, main, main > left, main > right
    assert [table.frames[frame].function for frame in table.frame_ids(a)] == ["main", "left"]
    assert [table.frames[frame].function for frame in table.frame_ids(b)] == ["main", "right"]


def test_no_frames_are_the_empty_stack():
    table = StackTable()
    assert table.intern([]) == EMPTY_STACK
    assert table.frame_ids(EMPTY_STACK) == []


def test_recursion_is_not_folded():
    table = StackTable()
    frame = Frame("f", "again", 1)
    assert table.frame_ids(table.intern([frame] * 3)) == [0, 0, 0]
