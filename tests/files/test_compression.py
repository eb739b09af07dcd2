"""Compressed data of all kinds, whole, damaged and far too large."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from tfprof.errors import MalformedProfileError, MissingDependencyError
from tfprof.files import compression
from tfprof.files.compression import decompressed, unpack, unpack_head
from tfprof.files.open import load_file
from tfprof.files.sniff import Format

from .packed import zst_compress

pytestmark = pytest.mark.slow

Pack = Callable[[bytes], bytes]

PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zst_compress}
FORMATS = {gzip.compress: Format.GZIP, lzma.compress: Format.XZ, zst_compress: Format.ZSTD}
every_packing = pytest.mark.parametrize("pack", PACKERS.values(), ids=list(PACKERS))

DATA = bytes(range(256)) * 5000


@every_packing
def test_what_was_packed_comes_back(pack: Pack) -> None:
    assert decompressed(pack(DATA), "file") == DATA
    assert decompressed(pack(b""), "file") == b""
    assert decompressed(DATA, "file") is DATA


@every_packing
def test_members_one_behind_the_other_are_one_content(pack: Pack) -> None:
    assert decompressed(pack(b"one") + pack(b"") + pack(DATA), "file") == b"one" + DATA


@every_packing
def test_zeros_behind_a_member_are_padding(pack: Pack) -> None:
    assert decompressed(pack(b"one") + bytes(8) + pack(b"two") + bytes(5000), "f") == b"onetwo"


def test_frames_that_are_to_be_skipped_are_skipped() -> None:
    skipped = b"\x5f\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert decompressed(skipped + zst_compress(b"one") + skipped, "file") == b"one"


@every_packing
@pytest.mark.parametrize("left", [1, 7, 0.5, -1])
def test_data_that_end_too_early(pack: Pack, left: float) -> None:
    whole = pack(DATA)
    n_left = int(left * len(whole)) if left == 0.5 else left
    if left == 1:
        n_left = 7  # less is not a magic number
    with pytest.raises(MalformedProfileError) as caught:
        decompressed(whole[: int(n_left)], "my.file")
    assert str(caught.value).startswith("my.file: the compressed data are damaged: they end at ")
    assert "Copy the file again" in str(caught.value)


@every_packing
def test_data_with_a_wrong_checksum(pack: Pack) -> None:
    whole = bytearray(pack(DATA[:300]))
    place = -6 if pack is gzip.compress else -len(whole) // 2 if pack is lzma.compress else -1
    whole[place] ^= 1
    with pytest.raises(MalformedProfileError, match="the compressed data are damaged: "):
        decompressed(bytes(whole), "file")


@every_packing
def test_something_else_behind_the_data(pack: Pack) -> None:
    with pytest.raises(MalformedProfileError, match="the compressed data are damaged: "):
        decompressed(pack(b"one") + b"something else", "file")


@every_packing
def test_what_unpacks_to_too_much_says_how_much_and_what_to_do(
    pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pack(bytes(40 << 20))
    monkeypatch.setattr(compression, "MAX_HELD_BYTES", 1 << 20)
    tracemalloc.start()
    with pytest.raises(MalformedProfileError) as caught:
        decompressed(data, "bomb")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = str(caught.value)
    assert text.startswith("bomb: too large to be unpacked into memory: the first ")
    assert f"bytes of this {FORMATS[pack].value} unpack to over 1048576 bytes" in text
    assert {gzip.compress: "gunzip", lzma.compress: "unxz", zst_compress: "unzstd"}[pack] in text
    assert peak < 100 << 20  # of the smallest archive, one piece is all of it


@every_packing
def test_data_for_which_there_is_no_memory(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise MemoryError

    data = pack(DATA)
    monkeypatch.setattr(compression.io, "BytesIO", Full)
    with pytest.raises(MalformedProfileError, match="for which there is no room"):
        unpack(io.BufferedReader(_Raw(data)), FORMATS[pack], "file")


class _Raw(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        part = self._data[: len(buffer)]
        buffer[: len(part)] = part
        self._data = self._data[len(part) :]
        return len(part)


@every_packing
def test_the_beginning_is_enough_to_look_at(pack: Pack) -> None:
    def head(data: bytes, size: int) -> tuple[bytes, bool]:
        return unpack_head(io.BytesIO(data), FORMATS[pack], "file", size)

    found, is_all = head(pack(DATA), 1000)
    assert (DATA.startswith(found), len(found) >= 1000, is_all) == (True, True, False)
    assert head(pack(b"abc"), 1000) == (b"abc", True)
    cut = pack(DATA * 20)
    found, is_all = head(cut[: len(cut) - 8], 1000)  # the end is not looked at
    assert (found[:1000], is_all) == (DATA[:1000], False)


@every_packing
def test_progress_counts_the_packed_bytes(pack: Pack, tmp_path: Path) -> None:
    class Watch:
        n_bytes = 0

        def stage(self, what: str) -> None: ...
        def expect(self, n_bytes: int) -> None: ...

        def advance(self, n_bytes: int) -> None:
            self.n_bytes += n_bytes

    path = tmp_path / "file"
    path.write_bytes(pack(DATA))
    watch = Watch()
    assert load_file(path, watch).data == DATA
    assert watch.n_bytes == path.stat().st_size


@every_packing
def test_a_small_archive_takes_no_more_memory_than_it_holds(pack: Pack) -> None:
    packed = pack(bytes(100))
    tracemalloc.start()
    decompressed(packed, "file")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd")
def test_without_the_package_for_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zst_compress(DATA)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[zstd\]'"):
        decompressed(data, "file")


@every_packing
def test_a_small_file_does_not_become_a_large_one(pack: Pack) -> None:
    data = pack(bytes(80 << 20))
    tracemalloc.start()
    with pytest.raises(MalformedProfileError, match="too large to be unpacked into memory"):
        decompressed(data, "file")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (48 << 20) + 1000 * len(data)
