"""Make the recorded ResNet-50 step N times as large.

Every replica is a full copy of the recorded graph, run metadata and op log whose node names start
with ``rep_<i>/`` and whose step began later. One replica is written after the other and the bytes
are concatenated, which for repeated fields of a message is the same as appending: memory stays
near one replica for the graph and the op log, and near the file's size for the run metadata.

    python benchmarks/generate.py --scale 10 --cache FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "tfprof" / "demo"
PARTS = ("graph", "run_meta", "op_log")
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
STEP_MICROS = 10_000_000  # how much later each replica's step began
START_MICROS, START_NANOS = {2, 9}, {13, 17}  # NodeExecStats: all_start_*, scheduled_*

Field = tuple[int, int, int | bytes]


@dataclass(frozen=True)
class Step:
    """Where the three files of a generated step lie."""

    graph: Path
    run_meta: Path
    op_log: Path


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a serialised message, in order: number, wire type, value."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
            yield number, kind, value
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(kind)
        if size is None:
            size, at = read_varint(data, at)
        yield number, kind, data[at : at + size]
        at += size


def encode(number: int, kind: int, value: int | bytes) -> bytes:
    key = varint(number << 3 | kind)
    if isinstance(value, int):
        return key + varint(value)
    return key + (varint(len(value)) if kind == BYTES else b"") + value


def rewrite(data: bytes, *rules: tuple[int, Callable[[bytes], bytes]]) -> bytes:
    """The message with the given length-delimited fields passed through functions."""
    table = dict(rules)
    out = bytearray()
    for number, kind, value in fields(data):
        if number in table and isinstance(value, bytes):
            value = table[number](value)
        out += encode(number, kind, value)
    return bytes(out)


class Renamer:
    """Puts a prefix before node names wherever a message of the step holds one."""

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix

    def name(self, name: bytes) -> bytes:
        return self.prefix + name

    def input(self, name: bytes) -> bytes:
        return b"^" + self.prefix + name[1:] if name[:1] == b"^" else self.prefix + name

    def attribute(self, entry: bytes) -> bytes:
        """Colocation (``_class: ["loc:@name"]``) is the one attribute that holds node names."""
        if not entry.startswith(encode(1, BYTES, b"_class")):
            return entry

        def colocation(value: bytes) -> bytes:
            return value.replace(b"loc:@", b"loc:@" + self.prefix)

        return rewrite(entry, (2, lambda value: rewrite(value, (1, self._list(colocation)))))

    @staticmethod
    def _list(function: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        return lambda value: rewrite(value, (2, function))

    def node(self, node: bytes) -> bytes:
        return rewrite(node, (1, self.name), (3, self.input), (5, self.attribute))

    def label(self, label: bytes) -> bytes:
        """``name = Type(input, input)``; control inputs are written with ``^`` here too."""
        match = re.fullmatch(rb"(\[.*\] )?(\S+) = (\w+)\((.*)\)", label, re.DOTALL)
        if match is None:
            return label
        memory, name, kind, inputs = match.groups()
        renamed = b", ".join(self.input(item) for item in inputs.split(b", ") if item)
        return (memory or b"") + self.name(name) + b" = " + kind + b"(" + renamed + b")"

    def stat(self, stat: bytes) -> bytes:
        return rewrite(stat, (1, self.name), (8, self.label))

    def entry(self, entry: bytes) -> bytes:
        return rewrite(entry, (1, self.name))


class Template:
    """The repeated part of a message with a placeholder prefix; each replica is a substitution."""

    def __init__(self, items: list[bytes], number: int, convert: str, digits: int) -> None:
        self.mark = b"rep_" + b"?" * digits + b"/"
        self.digits = digits
        if any(self.mark in item for item in items):
            raise ValueError(f"the recording holds the placeholder {self.mark!r}")
        function = getattr(Renamer(self.mark), convert)
        self.data = b"".join(encode(number, BYTES, function(item)) for item in items)

    def replica(self, index: int) -> bytes:
        return self.data.replace(self.mark, b"rep_%0*d/" % (self.digits, index))


def split(data: bytes, number: int) -> tuple[list[bytes], bytes]:
    """The values of a repeated message field, and the encoded rest of the message."""
    items: list[bytes] = []
    rest = bytearray()
    for found, kind, value in fields(data):
        if found == number and isinstance(value, bytes):
            items.append(value)
        else:
            rest += encode(found, kind, value)
    return items, bytes(rest)


def replicas(data: bytes, convert: str, scale: int, path: Path) -> None:
    """Write a message whose field 1 is repeated N times over (GraphDef, OpLogProto)."""
    items, rest = split(data, 1)
    template = Template(items, 1, convert, len(str(scale - 1)))
    with path.open("wb") as file:
        for index in range(scale):
            file.write(template.replica(index))
        file.write(rest)


def time_stamps(data: bytes, number: int) -> list[tuple[int, int, int]]:
    """Position, value and unit per microsecond of each time stamp in encoded node stats."""
    found = []
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key != number << 3 | BYTES:
            raise ValueError("only node stats are expected here")
        size, at = read_varint(data, at)
        end = at + size
        while at < end:
            key, at = read_varint(data, at)
            if key & 7 == BYTES:
                size, at = read_varint(data, at)
                at += size
                continue
            value, after = read_varint(data, at)
            if key >> 3 in START_MICROS | START_NANOS:
                found.append((at, value, 1 if key >> 3 in START_MICROS else 1000))
            at = after
    return found


def device_stats(data: bytes, scale: int) -> bytes:
    """A DeviceStepStats message with its node stats repeated N times, each replica later."""
    stats, rest = split(data, 2)
    template = Template(stats, 2, "stat", len(str(scale - 1)))
    stamps = time_stamps(template.data, 2)
    out = bytearray(rest)
    for index in range(scale):
        replica = bytearray(template.replica(index))
        for at, value, unit in stamps:
            shifted = varint(value + index * STEP_MICROS * unit)
            replica[at : at + len(shifted)] = shifted
        if len(replica) != len(template.data):
            raise ValueError("a shifted time stamp takes more bytes than the recorded one")
        out += replica
    return bytes(out)


def run_metadata(data: bytes, scale: int, path: Path) -> None:
    (step_stats,), rest = split(data, 1)
    devices, step_rest = split(step_stats, 1)
    grown = b"".join(encode(1, BYTES, device_stats(device, scale)) for device in devices)
    path.write_bytes(encode(1, BYTES, grown + step_rest) + rest)


def generate(scale: int, cache: Path) -> Step:
    """The recorded step × ``scale`` as plain files under ``cache``; made only if missing."""
    recorded = {part: gzip.decompress((DEMO / f"{part}.pb.gz").read_bytes()) for part in PARTS}
    digest = hashlib.sha256(Path(__file__).read_bytes() + b"".join(recorded.values()))
    folder = cache / f"resnet50-{digest.hexdigest()[:12]}-x{scale}"
    step = Step(*(folder / f"{part}.pb" for part in PARTS))
    if folder.is_dir():
        return step
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        made = Path(scratch) / "step"
        made.mkdir()
        if scale == 1:
            for part, data in recorded.items():
                (made / f"{part}.pb").write_bytes(data)
        else:
            replicas(recorded["graph"], "node", scale, made / "graph.pb")
            run_metadata(recorded["run_meta"], scale, made / "run_meta.pb")
            replicas(recorded["op_log"], "entry", scale, made / "op_log.pb")
        made.replace(folder)
    return step


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scale", type=int, default=10, help="copies of the step (default 10)")
    parser.add_argument("--cache", type=Path, help="folder to write to (default: a temporary one)")
    args = parser.parse_args()
    step = generate(args.scale, args.cache or Path(tempfile.gettempdir()) / "tfprof-benchmarks")
    for part in PARTS:
        path = getattr(step, part)
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
