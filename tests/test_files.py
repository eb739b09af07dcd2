from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tfprof import files
from tfprof.errors import InputError, UsageError
from tfprof.files import read_file, write_file


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


@pytest.fixture
def files_of_1000_bytes_at_most() -> Iterator[None]:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("files_of_1000_bytes_at_most")
def test_a_file_that_can_not_grow_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match=r"there: cannot be written: File too large"):
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
def test_a_file_is_read_and_whoever_watches_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    watch = Watching()
    assert read_file(path, watch) == data
    assert watch.n_bytes == len(data)
    assert read_file(path) == data


def test_large_files_are_mapped_and_small_ones_are_not(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(LARGE)
    (tmp_path / "small").write_bytes(b"small")
    assert type(read_file(tmp_path / "small")) is bytes
    content = read_file(tmp_path / "large")
    assert isinstance(content, memoryview)
    assert (content.readonly, content.format, content.c_contiguous) == (True, "B", True)


def test_a_map_outlives_that_its_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(LARGE)
    content = read_file(path)
    write_file(path, [b"new"], overwrite=True)
    assert content == LARGE
    assert path.read_bytes() == b"new"


def test_a_file_of_more_than_2_gib_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        stream.truncate(3 << 30)
    assert len(read_file(path)) == 3 << 30


def test_a_pipe_without_end_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_HELD_BYTES", 1 << 24)
    with pytest.raises(InputError, match=r"/dev/zero: no ordinary file.* write them to a file"):
        read_file("/dev/zero")


@pytest.mark.parametrize("name", ["missing", "a\0b", "."])
def test_what_can_not_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read: .*\. Check the path"):
        read_file(tmp_path / name)
