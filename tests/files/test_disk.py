from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.full_disk import files_of_at_most
from tfprof.errors import InputError, UsageError
from tfprof.files import disk as files
from tfprof.files.disk import FileParts, file_parts, read_file, write_file


def test_a_file_is_written_from_chunks_with_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_file(tmp_path / "made", [b"a", b"bc"], overwrite=False)
    assert (tmp_path / "made").read_bytes() == b"abc"
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_file(path, [b"new"], overwrite=True)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    with pytest.raises(UsageError, match="there: exists already"):
        write_file(path, [b"new"], overwrite=False)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["there"]


def test_what_fails_on_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    path = tmp_path / "there"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no more"):
        write_file(path, chunks(), overwrite=True)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["there"]


def test_a_file_that_can_not_grow_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    message = r"there: cannot be written: File too large"
    with pytest.raises(InputError, match=message), files_of_at_most(1000):
        write_file(path, [b"x" * 600] * 200, overwrite=True)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("name", ["missing/file", "a\0b", "x" * 300])
def test_what_can_not_be_a_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / name, [b""], overwrite=True)


def test_links_are_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_file(link, [b"new"], overwrite=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_to() -> None:
    write_file("/dev/null", [b"gone"], overwrite=False)
    assert Path("/dev/null").is_char_device()


LARGE = bytes(range(256)) * 8192


class Watching:
    def __init__(self) -> None:
        self.n_bytes = 0

    def stage(self, what: str) -> None: ...
    def expect(self, n_bytes: int) -> None: ...

    def advance(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes


@pytest.mark.parametrize("data", [b"", b"small", LARGE], ids=["empty", "small", "large"])
def test_reading_a_file_reports_progress(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    watch = Watching()
    assert read_file(path, watch) == data
    assert watch.n_bytes == len(data)
    assert read_file(path) == data


def test_large_files_are_views_and_small_ones_are_bytes(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(LARGE)
    (tmp_path / "small").write_bytes(b"small")
    assert type(read_file(tmp_path / "small")) is bytes
    content = read_file(tmp_path / "large")
    assert isinstance(content, memoryview)
    assert (content.readonly, content.format, content.c_contiguous) == (True, "B", True)


def test_a_file_of_more_than_2_gib_is_read_and_its_holes_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        stream.truncate(3 << 30)
        stream.seek(3 << 29)
        stream.write(b"island")
        stream.seek((3 << 30) - 3)
        stream.write(b"end")
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    watch = Watching()
    content = read_file(path, watch)
    assert (len(content), watch.n_bytes) == (3 << 30, 3 << 30)
    found = bytes(content[:2]), bytes(content[3 << 29 : (3 << 29) + 7]), bytes(content[-4:])
    assert found == (b"\0\0", b"island\0", b"\0end")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1 << 20  # kilobytes on Linux, bytes on macOS


def test_what_is_larger_than_the_memory_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        stream.truncate(1 << 43)
    with pytest.raises(InputError, match=r"sparse: its 8796093022208 bytes are more than there is"):
        read_file(path)


def test_parts_of_a_file_are_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(LARGE)
    with path.open("rb") as stream:
        parts = file_parts(stream, str(path))
        assert isinstance(parts, FileParts)
        assert len(parts) == len(LARGE)
        for place in (
            slice(5),
            slice(70_000, 70_010),
            slice(-3, None),
            slice(9, 2),
            slice(1 << 40),
        ):
            assert parts[place] == LARGE[place]
        for at in (0, -1, 65_535, 65_536, 5, len(LARGE) - 1):
            assert parts[at] == LARGE[at]
        for at in (len(LARGE), -len(LARGE) - 1):
            with pytest.raises(IndexError):
                parts[at]
    (tmp_path / "small").write_bytes(b"small")
    with (tmp_path / "small").open("rb") as stream:
        assert file_parts(stream, "small") == b"small"


def test_a_pipe_without_end_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_HELD_BYTES", 1 << 24)
    with pytest.raises(InputError, match=r"/dev/zero: no ordinary file.* write them to a file"):
        read_file("/dev/zero")


@pytest.mark.parametrize("name", ["missing", "a\0b", "."])
def test_what_can_not_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read: .*\. Check the path"):
        read_file(tmp_path / name)
