"""Columns that do not fit into a budget of memory lie in files without a name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from tfprof.errors import InputError
from tfprof.files.disk import forget, read_file
from tfprof.files.spill import Room

LONG = 1 << 16


def test_without_a_budget_all_is_in_memory() -> None:
    room, column = Room(), np.arange(LONG)
    assert room.kept(column) is column
    assert room.empty(LONG, np.int64).base is None
    assert room.bytes(1 << 40) is None
    assert room.n_spilled_bytes == 0


def test_a_column_in_a_file_is_the_same_and_the_file_has_no_name(tmp_path: Path) -> None:
    room = Room(0, tmp_path)
    column = room.kept(np.arange(3 * LONG).reshape(LONG, 3))
    assert (column == np.arange(3 * LONG).reshape(LONG, 3)).all()
    empty = room.empty(LONG, np.int16)
    empty[:] = 7
    assert (empty.dtype, int(empty.sum())) == (np.int16, 7 * LONG)
    content = room.bytes(LONG)
    assert content is not None
    assert bytes(content[:3]) == b"\0\0\0"
    assert room.n_spilled_bytes == 3 * 8 * LONG + 2 * LONG + LONG
    assert list(tmp_path.iterdir()) == []
    assert room.kept(column) is column
    assert room.n_spilled_bytes == 3 * 8 * LONG + 2 * LONG + LONG


def test_small_columns_stay_in_memory(tmp_path: Path) -> None:
    room = Room(0, tmp_path)
    assert room.empty(10, np.int64).base is None
    assert room.n_spilled_bytes == 0


def test_a_third_of_the_budget_is_for_columns_and_they_give_it_back() -> None:
    room = Room(3 * 8 * LONG)
    first = room.empty(LONG, np.int64)
    assert room.n_spilled_bytes == 0
    second = room.kept(np.zeros(LONG))
    assert room.n_spilled_bytes == 8 * LONG
    part = first[5:]
    del first
    room.empty(LONG, np.int64)
    assert room.n_spilled_bytes == 16 * LONG  # a part of the first is still there
    del part, second
    room.empty(LONG, np.int64)
    assert room.n_spilled_bytes == 16 * LONG


def test_a_full_disk_is_named_with_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, start: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(InputError) as caught:
        Room(0, tmp_path).empty(1 << 20, np.int64)
    assert str(caught.value).startswith(f"{tmp_path}: no room for 8.39 MB of columns")
    assert "No space left on device; " in str(caught.value)
    assert str(caught.value).endswith(
        " are free there. Set TMPDIR to a folder on a disk with more room, or give more memory"
    )


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, None])
def test_room_is_taken_by_writing_where_it_cannot_be_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    def refuse(file: int, start: int, size: int) -> None:
        if number is None:
            raise AttributeError
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    column = Room(0, tmp_path).empty((1 << 18) + 5, np.int64)
    assert (len(column), int(column.sum())) == ((1 << 18) + 5, 0)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    with pytest.raises(InputError, match=r"gone: no room for 8\.39 MB .*No such file or directory"):
        Room(0, folder).empty(1 << 20, np.int64)


@pytest.mark.parametrize("memory_bytes", [None, 0])
def test_parts_of_a_file_that_was_read_can_be_forgotten(
    tmp_path: Path, memory_bytes: int | None
) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * (3 << 20))
    content = read_file(path, room=Room(memory_bytes, tmp_path))
    assert isinstance(content, memoryview)
    forget(content, (1 << 20) + 1, (2 << 20) - 1)
    assert bytes(content[: (1 << 20) + 1]) == b"x" * ((1 << 20) + 1)
    assert bytes(content[(2 << 20) - 1 :]) == b"x" * ((1 << 20) + 1)
    forget(content, 5, 7)
    forget(memoryview(b"an own map"), 0, 5)
    assert content[5] == ord("x")
    assert list(tmp_path.iterdir()) == [path]
