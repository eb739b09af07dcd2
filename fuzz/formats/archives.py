"""Packed files: gzip, xz and zstd around every other format, once or several times; and zip."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable, Sequence

import zstandard

from fuzz.case import Format
from fuzz.formats.graphs import changed_graph, graph_seeds
from fuzz.formats.sampled import FORMATS as SAMPLED
from fuzz.formats.steps import profile_seeds, run_seeds

Pack = Callable[[bytes], bytes]


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


_PACK: tuple[Pack, ...] = (_gzip, lzma.compress, zstandard.compress)


def _zip(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("graph.pb"), data)
        archive.writestr(zipfile.ZipInfo("model.weights.h5"), b"")
    return held.getvalue()


def _contents() -> Sequence[bytes]:
    others = [form.seeds()[0] for form in SAMPLED]
    return [graph_seeds()[0], run_seeds()[0], profile_seeds()[0], *others]


def _seeds() -> Sequence[bytes]:
    packed = [pack(data) for data in _contents() for pack in _PACK]
    return [*packed, _zip(graph_seeds()[0]), _gzip(lzma.compress(graph_seeds()[0]))]


def _changed(chance: random.Random, data: bytes) -> bytes:
    """Members with padding, with other ones behind them, cut, skipped, or packed twice."""
    content = chance.choice(_contents())
    if chance.random() < 0.3:
        content = changed_graph(chance, graph_seeds()[0])
    pack = chance.choice(_PACK)
    kind, half = chance.randrange(9), len(content) // 2
    if kind == 0:  # a frame that zstd skips, of any length
        size = chance.choice((0, 4, 2**31, 2**32 - 1)).to_bytes(4, "little")
        return b"\x50\x2a\x4d\x18" + size + b"skip" + zstandard.compress(content)
    made: Sequence[Callable[[], bytes]] = (
        lambda: pack(content[:half]) + bytes(chance.choice((0, 1, 5000))) + pack(content[half:]),
        lambda: pack(pack(content)),
        lambda: pack(content)[: chance.randrange(40)],
        lambda: pack(content) + chance.choice((b"\0" * 7, b"x", chance.randbytes(40), data)),
        lambda: pack(b""),
        lambda: pack(content) + chance.choice(_PACK)(content),
        lambda: _zip(content),
        lambda: pack(chance.choice((bytes(10**6), b"\n" * 10**6, content * 50))),
    )
    return made[kind - 1]()


def _of_zeros(pack: Pack, ratio: int) -> Callable[[int], bytes]:
    """So many bytes of as many zeros as they stand for, up to 4 GB."""

    def grow(n_bytes: int) -> bytes:
        member = pack(bytes(1 << 26))
        return member * max(min(n_bytes, (1 << 32) // ratio) // len(member), 1)

    return grow


def _nested(n_bytes: int) -> bytes:
    data = random.Random(n_bytes).randbytes(n_bytes)
    for _ in range(8):
        data = _gzip(data)
    return data


FORMATS = (
    Format("packed", ".gz", _seeds, _changed, {
        "zeros in gzip": _of_zeros(_gzip, 1000),
        "zeros in xz": _of_zeros(lzma.compress, 7000),
        "zeros in zstd": _of_zeros(zstandard.compress, 15_000),
        "members": lambda n: _gzip(b"") * (n // 20),
        "frames": lambda n: zstandard.compress(b"") * (n // 9),
        "streams": lambda n: lzma.compress(b"") * (n // 32),
        "skipped frames": lambda n: b"\x50\x2a\x4d\x18\0\0\0\0" * (n // 8),
        "padding": lambda n: _gzip(b"a") + bytes(n),
        "one name in a header": lambda n: _gzip(b"a")[:3] + b"\x08" + _gzip(b"a")[4:10] + b"n" * n,
        "packed in packed": _nested,
        "random bytes": lambda n: _gzip(random.Random(n).randbytes(n)),
    }),
)  # fmt: skip
