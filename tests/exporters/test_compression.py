import gzip
import lzma

import pytest

from tfprof.exporters.compression import packed

CHUNKS = [b"one", b"", b"two" * 1000]


@pytest.mark.parametrize(
    ("path", "unpack"),
    [("a.json.gz", gzip.decompress), ("a.pb.xz", lzma.decompress), ("a.gz.json", bytes)],
)
def test_the_name_says_how(path, unpack):
    assert unpack(b"".join(packed(iter(CHUNKS), path))) == b"".join(CHUNKS)


def test_gzip_is_the_same_at_any_time():
    data = b"".join(packed(CHUNKS, "a.gz"))
    assert data[4:8] == bytes(4)  # no time of modification
    assert data == b"".join(packed([b"".join(CHUNKS)], "a.gz"))
