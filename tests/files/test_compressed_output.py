import gzip
import lzma
import sys

import pytest

from tests.files.packed import needs_zstd, zst_decompress
from tfprof.errors import MissingDependencyError
from tfprof.files.compressed_output import packed

CHUNKS = [b"one", b"", b"two" * 1000]


@pytest.mark.parametrize(
    ("path", "unpack"),
    [
        ("a.json.gz", gzip.decompress),
        ("a.pb.xz", lzma.decompress),
        pytest.param("a.json.zst", zst_decompress, marks=needs_zstd),
        ("a.gz.json", bytes),
    ],
)
def test_the_name_says_how(path, unpack):
    assert unpack(b"".join(packed(iter(CHUNKS), path))) == b"".join(CHUNKS)


def test_gzip_is_the_same_at_any_time():
    data = b"".join(packed(CHUNKS, "a.gz"))
    assert data[4:8] == bytes(4)  # no time of modification
    assert data == b"".join(packed([b"".join(CHUNKS)], "a.gz"))


@needs_zstd
def test_zstd_is_the_same_however_it_comes_and_has_a_checksum():
    data = b"".join(packed(CHUNKS, "a.zst"))
    assert data == b"".join(packed([b"".join(CHUNKS)], "a.zst"))
    assert data[4] & 4  # the frame header says so


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd")
def test_without_the_package_for_zstd_nothing_is_begun(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof\[zstd\]'"):
        packed(CHUNKS, "a.zst")


def test_ctrl_c_never_waits_for_a_large_chunk(monkeypatch):
    sizes = []

    class Spy:
        def __init__(self):
            self.compressor = lzma_compressor()

        def compress(self, data):
            sizes.append(len(data))
            return self.compressor.compress(data)

        def flush(self):
            return self.compressor.flush()

    lzma_compressor = lzma.LZMACompressor
    monkeypatch.setattr(lzma, "LZMACompressor", Spy)
    content = bytes(range(256)) * 10_000
    assert lzma.decompress(b"".join(packed([content, b"end"], "a.xz"))) == content + b"end"
    assert sizes == [1 << 20, 1 << 20, 2_560_000 - (2 << 20), 3]
