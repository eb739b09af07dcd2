"""Writes tables and checkpoints by hand; nothing here uses what it tests but checksums."""

import struct

from tfprof.core.wire import messages as pb
from tfprof.files.crc32c import crc32c, masked

MAGIC = bytes.fromhex("57fb808b247547db")


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def block(entries, restart_interval=16):
    """Entries with what keys share left out, and where keys are whole."""
    out, restarts, before = bytearray(), [], b""
    for number, (key, value) in enumerate(entries):
        shared = 0
        if number % restart_interval:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        else:
            restarts.append(len(out))
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:]
        out += value
        before = key
    for number in (*restarts, len(restarts)):
        out += number.to_bytes(4, "little")
    return bytes(out)


def table(entries, compress=None, entries_per_block=3):
    """A table. ``compress`` makes what snappy could."""
    entries = sorted(entries)
    out, handles = bytearray(), []

    def add(data):
        kind = b"\x01" if compress else b"\x00"
        stored = compress(data) if compress else data
        handle = varint(len(out)) + varint(len(stored))
        checksum = masked(crc32c(stored + kind))
        out.extend(stored + kind + checksum.to_bytes(4, "little"))
        return handle

    for start in range(0, len(entries), entries_per_block):
        part = entries[start : start + entries_per_block]
        handles.append((part[-1][0], add(block(part))))
    metaindex = add(block([]))
    index = add(block(handles, restart_interval=1))
    return bytes(out) + (metaindex + index).ljust(40, b"\x00") + MAGIC


def entry(dtype, shape, data, offset=0, slices=(), shard=0, checked=None):
    """An entry of an index; ``checked`` is what the checksum is about, if not the data."""
    return pb.BundleEntryProto(
        dtype=dtype,
        shape=pb.TensorShapeProto(dim=[{"size": size} for size in shape]),
        shard_id=shard,
        offset=offset,
        size=len(data),
        crc32c=masked(crc32c(data if checked is None else checked)),
        slices=slices,
    )


def strings(*texts, order="<"):
    """Texts as they are stored, and what their checksum is about."""
    lengths = b"".join(struct.pack(order + "I", len(text)) for text in texts)
    checksum = struct.pack(order + "I", masked(crc32c(lengths)))
    return bytes(map(len, texts)) + checksum + b"".join(texts), lengths + checksum + b"".join(texts)


def write_bundle(prefix, entries, *shards, header=None):
    """Write a checkpoint of the second format: messages by key, and bytes of each shard."""
    header = header or pb.BundleHeaderProto(num_shards=len(shards))
    rows = [(b"", header.SerializeToString())]
    rows += [(key.encode() if isinstance(key, str) else key, message.SerializeToString())
             for key, message in entries.items()]  # fmt: skip
    prefix.with_name(prefix.name + ".index").write_bytes(table(rows))
    for number, data in enumerate(shards):
        name = f"{prefix.name}.data-{number:05}-of-{len(shards):05}"
        prefix.with_name(name).write_bytes(data)


def literal(data):
    """Snappy without any compression: pieces of up to 60 bytes."""
    pieces = [data[start : start + 60] for start in range(0, len(data), 60)]
    return varint(len(data)) + b"".join(bytes([len(p) - 1 << 2]) + p for p in pieces)
