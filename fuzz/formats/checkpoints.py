"""Checkpoints of both formats: folders with an index and values, and files of tables."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from fuzz.case import Format
from fuzz.formats.folders import packed, unpacked
from fuzz.formats.messages import odd_text, with_hostile_value
from tests.files.checkpoint.tables import entry, literal, strings, table, varint
from tfprof.core.wire import messages as pb
from tfprof.errors import TfprofError
from tfprof.files.checkpoint.slices import Slice
from tfprof.files.checkpoint.table import Table
from tfprof.files.crc32c import crc32c, masked

_RECORDED = Path(__file__).parents[2] / "tests/files/checkpoint/recorded"
_TYPES = (1, 2, 3, 7, 8, 9, 10, 14, 20, 21, 25, 29, 0, 77, 101)
_SIZES = (-1, 0, 1, 2, 7, 2**31, 2**62, 2**63 - 1)


@cache
def _seeds() -> Sequence[bytes]:
    """Recorded checkpoints, and what only other writers make."""
    names: dict[str, dict[str, bytes]] = {}
    for path in sorted(_RECORDED.iterdir()):
        if path.is_file() and path.suffix != ".py":
            stem = "old" if path.name.startswith("old") else path.name.partition(".")[0]
            names.setdefault(stem, {})[path.name] = path.read_bytes()
    text, checked = strings(b"a", b"two words")
    made = _bundle({
        "scope/w": (entry(1, (2, 2), bytes(16)), bytes(16)),
        "text": (entry(7, (2,), text, 16, checked=checked), text),
    })  # fmt: skip
    state = b'model_checkpoint_path: "x"\nall_model_checkpoint_paths: "x"\n'
    model = {f"variables/variables{name[1:]}": data for name, data in unpacked(made).items()}
    return (
        *(packed(files) for files in names.values()), made,
        packed({**unpacked(made), "checkpoint": state}),
        packed({**model, "saved_model.pb": b""}),
        packed({"x": table([(b"", b"")], literal)}),
    )  # fmt: skip


def _bundle(entries: Mapping[str, tuple[Any, bytes]]) -> bytes:
    """A folder with an index and one file of values."""
    rows = [(b"", pb.BundleHeaderProto(num_shards=1).SerializeToString())]
    rows += [(key.encode(), one.SerializeToString()) for key, (one, _) in entries.items()]
    values = b"".join(data for _, data in entries.values())
    return packed({"x.index": table(rows), "x.data-00000-of-00001": values})


def _changed(chance: random.Random, data: bytes) -> bytes:
    """Files with whole tables and right checksums, but odd entries."""
    files = unpacked(data)
    if not files:
        return data
    name = chance.choice(sorted(files))
    rows = _rows(files[name])
    if rows is None:
        _change_file(chance, files, name)
        return packed(files)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if rows:
            place = chance.randrange(len(rows))
            rows[place : place + 1] = _changed_row(chance, *rows[place])
    per_block = chance.choice((1, 3, 3, 16))
    files[name] = table(rows, chance.choice((None, None, literal)), per_block)
    return packed(files)


def _rows(data: bytes) -> list[tuple[bytes, bytes]] | None:
    """The entries of a table; None if it is none."""
    with _file_of(data) as path:
        try:
            return [(one.key, one.value) for one in Table(path)]
        except TfprofError:
            return None


@contextmanager
def _file_of(data: bytes) -> Iterator[Path]:
    """A file in memory, for a reader of files."""
    number = os.memfd_create("table")
    try:
        os.write(number, data)
        yield Path(f"/proc/self/fd/{number}")
    finally:
        os.close(number)


def _changed_row(chance: random.Random, key: bytes, value: bytes) -> list[tuple[bytes, bytes]]:
    kind = chance.randrange(8)
    if kind == 0:
        return []
    if kind == 1:
        odd = odd_text(chance).encode()[:300]
        other = chance.choice((odd, b"\0" + key, b"", b"\xff", key[:-1]))
        return [(key, value), (other, value)]
    if kind == 2:
        return [(key, value)] * 2
    of = pb.BundleEntryProto if key else chance.choice((pb.BundleHeaderProto, pb.SavedTensorSlices))
    try:
        message = of.FromString(value)
    except (DecodeError, RuntimeWarning):
        return [(key, chance.randbytes(len(value)))]
    if isinstance(message, pb.BundleEntryProto) and kind < 7:
        _change_entry(chance, message)
        return [(key, message.SerializePartialToString())]
    return [(key, with_hostile_value(chance, message))]


def _change_entry(chance: random.Random, one: Any) -> None:
    kind = chance.randrange(7)
    if kind == 0:
        one.dtype = chance.choice(_TYPES)
    elif kind == 1:
        one.shape.dim.add(size=chance.choice(_SIZES))
    elif kind == 2:
        one.offset = chance.choice(_SIZES)
    elif kind == 3:
        one.size = chance.choice(_SIZES)
    elif kind == 4:
        one.shard_id = chance.choice((-1, 1, 99_999, 2**31 - 1))
    elif kind == 5:
        for _ in range(chance.choice((1, 2, 50))):
            part = one.slices.add().extent.add(start=chance.choice(_SIZES))
            part.length = chance.choice(_SIZES)
    else:
        del one.shape.dim[:]
        for _ in range(chance.choice((0, 2, 33, 300))):
            one.shape.dim.add(size=chance.choice(_SIZES))


def _change_file(chance: random.Random, files: dict[str, bytes], name: str) -> None:
    kind, data = chance.randrange(6), files[name]
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[name] = data[: len(data) // 2]
    elif kind == 2:
        files["checkpoint"] = b'model_checkpoint_path: "%s"' % chance.choice(
            (b"x", b"../x", b"/etc/passwd", b"\\377", name.encode(), b"a" * 5000)
        )
    elif kind == 3:
        files[chance.choice(("x-1.index", "x.meta", "y.index", "inner/x.index"))] = data
    else:
        cut = chance.randrange(len(data) + 1)
        files[name] = data[:cut] + chance.randbytes(chance.choice((1, 4))) + data[cut:]


# What grows


def _index(make: Callable[[int], tuple[str, Any]], unit: int, values: int = 16) -> Any:
    def grow(n_bytes: int) -> bytes:
        rows = [(b"", pb.BundleHeaderProto(num_shards=1).SerializeToString())]
        made = sorted(map(make, range(max(n_bytes // unit, 1))), key=lambda pair: pair[0])
        rows += [(key.encode(), one.SerializeToString()) for key, one in made]
        return packed({"x.index": table(rows, None, 16), "x.data-00000-of-00001": bytes(values)})

    return grow


def _shared(n_bytes: int) -> bytes:
    """As many variables as there is room for, all of which have the same values."""
    values = bytes(n_bytes // 2)
    one = entry(1, (len(values) // 4,), values)
    rows = [(b"", pb.BundleHeaderProto(num_shards=1).SerializeToString())]
    rows += [(b"v%08d" % at, one.SerializeToString()) for at in range(n_bytes // 2 // 40)]
    return packed({"x.index": table(rows, None, 16), "x.data-00000-of-00001": values})


def _parts(n_bytes: int) -> bytes:
    """One variable of many parts, all of which are there."""
    count = n_bytes // 60
    whole = entry(1, (count,), b"", slices=[
        {"extent": [{"start": at, "length": 1}]} for at in range(count)
    ])  # fmt: skip
    rows = [(b"", pb.BundleHeaderProto(num_shards=1).SerializeToString()),
            (b"v", whole.SerializeToString())]  # fmt: skip
    part = entry(1, (1,), bytes(4)).SerializeToString()
    rows += [(Slice(((at, 1),)).key("v"), part) for at in range(count)]
    return packed({"x.index": table(rows, None, 16), "x.data-00000-of-00001": bytes(4)})


def _names_in_programs(n_bytes: int) -> bytes:
    objects = pb.TrackableObjectGraph()
    for at in range(n_bytes // 60):
        objects.nodes.add().attributes.add(
            name="VARIABLE_VALUE", full_name=f"dense_{at}/kernel", checkpoint_key=f"layer-{at}"
        )
    content = objects.SerializeToString()
    length = len(content).to_bytes(4, "little")
    checksum = masked(crc32c(length)).to_bytes(4, "little")
    text, checked = varint(len(content)) + checksum + content, length + checksum + content
    return _bundle({"_CHECKPOINTABLE_OBJECT_GRAPH": (entry(7, (), text, checked=checked), text)})


def _saved_slices(make: Callable[[Any, int], object], unit: int) -> Callable[[int], bytes]:
    def grow(n_bytes: int) -> bytes:
        message = pb.SavedTensorSlices()
        for at in range(max(n_bytes // unit, 1)):
            make(message.meta, at)
        return packed({"x": table([(b"", message.SerializeToString())])})

    return grow


_GROWING: Mapping[str, Callable[[int], bytes]] = {
    "variables": _index(lambda at: (f"scope/v{at}", entry(1, (4,), bytes(16))), 40),
    "variables that share values": _shared,
    "one name": lambda n: _bundle({"v" * (n // 2): (entry(1, (4,), bytes(16)), bytes(16))}),
    "names that share a start": _index(
        lambda at: ("s" * 2000 + f"{at:09}", entry(1, (4,), bytes(16))), 160
    ),
    "levels of one name": lambda n: _bundle({"v/" * (n // 4) + "w": (entry(1, (4,), bytes(16)),
                                                                    bytes(16))}),
    "dimensions": lambda n: _bundle({"v": (entry(1, [1] * (n // 4), bytes(4)), bytes(4))}),
    "values": lambda n: _bundle({"v": (entry(1, (n // 4,), bytes(n // 4 * 4)), bytes(n // 4 * 4))}),
    "small values": lambda n: _bundle({"v": (entry(10, (n,), bytes(n)), bytes(n))}),
    "parts of one variable": _parts,
    "names in programs": _names_in_programs,
    "other files": lambda n: packed({f"y{at}.txt": bytes(n // 1900) for at in range(1900)}),
    "checkpoints": lambda n: packed({f"x-{at}.index": bytes(n // 1900) for at in range(1900)}),
    "state": lambda n: packed({"checkpoint": b'all_model_checkpoint_paths: "x"\n' * (n // 32)}),
    "tensors of the first format": _saved_slices(
        lambda meta, at: meta.tensor.add(name=f"v{at}", type=1).shape.dim.add(size=4), 20
    ),
    "tensors of one name": _saved_slices(
        lambda meta, at: meta.tensor.add(name="v", type=1).shape.dim.add(size=4), 14
    ),
    "parts of one tensor": _saved_slices(
        lambda meta, at: (meta.tensor or [meta.tensor.add(name="v", type=1)])[0].slice.add()
        .extent.add(start=at, length=1), 10
    ),
    "compressed": lambda n: packed({"x": _repeated_table(n)}),
}  # fmt: skip


def _repeated_table(n_bytes: int) -> bytes:
    """A table of zeros, as short as Snappy makes it: 64 bytes in 3."""

    def squeezed(data: bytes) -> bytes:
        if len(data) < 1000:
            return literal(data)
        return varint(len(data)) + b"\0" + data[:1] + b"\xfe\1\0" * ((len(data) - 1) // 64)

    value = bytes(n_bytes * 20)
    return table([(b"v", value)], squeezed)


FORMATS = (Format("checkpoint", ".folder", _seeds, _changed, _GROWING),)
