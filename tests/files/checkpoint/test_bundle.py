import struct

import numpy as np
import pytest

from tests.files.checkpoint.tables import entry, strings, table, write_bundle
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, MalformedProfileError
from tfprof.files.checkpoint.bundle import Bundle
from tfprof.files.checkpoint.slices import Slice
from tfprof.files.crc32c import crc32c, masked

FLOAT, STRING, INT16, VARIANT = 1, 7, 5, 21


@pytest.fixture
def prefix(tmp_path):
    return tmp_path / "model"


def read(prefix, name, verify=True):
    return Bundle(prefix).read(name, verify=verify)


def test_values_are_found_in_their_shards(prefix):
    data = struct.pack("<4f", 1, 2, 3, 4), struct.pack("<xx2h", 5, -6)
    write_bundle(
        prefix,
        {"a": entry(FLOAT, [2, 2], data[0]), "b": entry(INT16, [2], data[1][2:], 2, shard=1)},
        *data,
    )
    made = Bundle(prefix)
    assert made.format == "V2"
    assert made.tensors["a"].shape == (2, 2)
    assert made.tensors["a"].n_bytes == 16
    assert made.read("a", verify=True).tolist() == [[1, 2], [3, 4]]
    assert made.read("b", verify=True).tolist() == [5, -6]


def test_values_may_be_changed(prefix):
    data = struct.pack("<2f", 1, 2)
    write_bundle(prefix, {"a": entry(FLOAT, [2], data)}, data)
    read(prefix, "a")[0] = 7
    assert read(prefix, "a").tolist() == [1, 2]


def test_files_of_big_endian_machines(prefix):
    numbers = struct.pack(">2h", 1, -2)
    stored, checked = strings(b"ab", b"", order=">")
    header = pb.BundleHeaderProto(num_shards=1, endianness=pb.BundleHeaderProto.BIG)
    entries = {
        "n": entry(INT16, [2], numbers),
        "s": entry(STRING, [2], stored, 4, checked=checked),
    }
    write_bundle(prefix, entries, numbers + stored, header=header)
    assert read(prefix, "n").tolist() == [1, -2]
    assert read(prefix, "s").tolist() == [b"ab", b""]


def test_texts(prefix):
    stored, checked = strings(b"", b"abc", b"\xff\x00")
    write_bundle(prefix, {"s": entry(STRING, [3, 1], stored, checked=checked)}, stored)
    assert Bundle(prefix).tensors["s"].n_bytes == len(stored)
    found = read(prefix, "s")
    assert found.dtype == np.object_
    assert found.tolist() == [[b""], [b"abc"], [b"\xff\x00"]]


def test_no_texts_and_no_values(prefix):
    stored, checked = strings()
    write_bundle(
        prefix,
        {"s": entry(STRING, [0, 3], stored, checked=checked), "n": entry(FLOAT, [2, 0], b"")},
        stored,
    )
    assert read(prefix, "s").shape == (0, 3)
    assert read(prefix, "n").shape == (2, 0)


def parted(prefix, ranges, shapes):
    """A variable of shape 2x3 in parts, which are filled with 1, 2, 3 …"""
    slices = [
        pb.TensorSliceProto(extent=[{"start": s, "length": n} for s, n in part]) for part in ranges
    ]
    entries = {"v": pb.BundleEntryProto(dtype=FLOAT, slices=slices)}
    entries["v"].shape.dim.add(size=2)
    entries["v"].shape.dim.add(size=3)
    data = b""
    for number, (part, shape) in enumerate(zip(ranges, shapes, strict=True), 1):
        values = struct.pack("<f", number) * int(np.prod(shape))
        entries[Slice(part).key("v")] = entry(FLOAT, shape, values, len(data))
        data += values
    write_bundle(prefix, entries, data)


def test_parts_of_a_variable_become_one(prefix):
    parted(prefix, [((0, 2), (0, 1)), ((0, 2), (1, 2))], [(2, 1), (2, 2)])
    made = Bundle(prefix)
    assert list(made.tensors) == ["v"]
    assert made.tensors["v"].n_bytes == 24
    assert made.read("v", verify=True).tolist() == [[1, 2, 2], [1, 2, 2]]


@pytest.mark.parametrize(
    ("ranges", "shapes", "problem"),
    [
        ([((0, 2), (0, 1))], [(2, 1)], "do not make up the whole"),
        ([((0, 2), (0, 2)), ((0, 2), (1, 1))], [(2, 2), (2, 1)], "its parts overlap"),
        ([((0, 2), (0, 4))], [(2, 4)], "do not make up the whole"),
        ([((0, 2),)], [(2,)], "do not make up the whole"),
        ([((0, 2), (0, 3))] * 2, [(2, 3)] * 2, "do not make up the whole"),
        ([((0, 2), (0, 3))], [(3, 2)], "has an unexpected shape or type"),
    ],
)
def test_parts_that_do_not_fit(prefix, ranges, shapes, problem):
    parted(prefix, ranges, shapes)
    with pytest.raises(MalformedProfileError, match=rf"model: variable v: damaged: .*{problem}"):
        read(prefix, "v")


def test_a_wrong_checksum_names_file_variable_and_both_sums(prefix):
    data = struct.pack("<f", 1)
    write_bundle(prefix, {"a": entry(FLOAT, [], data)}, struct.pack("<f", 2))
    found, expected = masked(crc32c(struct.pack("<f", 2))), masked(crc32c(data))
    with pytest.raises(
        MalformedProfileError,
        match=rf"model: variable a: its values in .*model.data-00000-of-00001 are damaged: their "
        rf"checksum is {found:#010x}, not {expected:#010x} as was written",
    ):
        read(prefix, "a")
    assert read(prefix, "a", verify=False) == 2


def test_a_wrong_checksum_of_lengths(prefix):
    stored, checked = strings(b"ab", b"c")
    moved = b"\x01\x02" + stored[2:]
    write_bundle(prefix, {"s": entry(STRING, [2], stored, checked=checked)}, moved)
    with pytest.raises(MalformedProfileError, match="variable s: the lengths of its texts are"):
        read(prefix, "s", verify=False)


def test_a_missing_shard_leaves_names_and_shapes(prefix):
    data = struct.pack("<f", 1)
    write_bundle(prefix, {"a": entry(FLOAT, [1], data)}, data)
    shard = prefix.with_name("model.data-00000-of-00001")
    shard.unlink()
    made = Bundle(prefix)
    assert made.missing_files() == (shard,)
    assert made.tensors["a"].shape == (1,)
    with pytest.raises(InputError, match=r"variable a: its values cannot be read: there is no file "
                       r".*00001\. Copy it, too") as caught:  # fmt: skip
        made.read("a", verify=True)
    assert not isinstance(caught.value, MalformedProfileError)


def test_values_that_only_their_writer_understands(prefix):
    write_bundle(prefix, {"v": entry(VARIANT, [], b"xyz")}, b"xyz")
    assert Bundle(prefix).tensors["v"].n_bytes == 3
    with pytest.raises(InputError, match="values of type variant cannot be read"):
        read(prefix, "v")


def test_a_part_that_is_not_there(prefix):
    whole = pb.TensorSliceProto(extent=[{"start": 0, "length": 1}])
    write_bundle(prefix, {"v": entry(FLOAT, [1], b"", slices=[whole])}, b"")
    with pytest.raises(
        MalformedProfileError, match="variable v: damaged: one of its parts is miss"
    ):
        read(prefix, "v")


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (entry(FLOAT, [3], b"12345678"), "8 bytes are not 3 of float32"),
        (entry(FLOAT, [2], b"12345678", offset=1), "cut off or damaged: 8 bytes wanted at byte 1"),
        (entry(FLOAT, [2], b"12345678", offset=-8), "wanted at byte -8"),
        (entry(STRING, [9], b"12345678"), "8 bytes are not 9 texts"),
        (entry(STRING, [1], b"12345678"), "do not add up"),
        (entry(STRING, [2], b"\x80\x80\x80"), "have no end"),
    ],
)
def test_entries_that_contradict_the_data(prefix, made, problem):
    write_bundle(prefix, {"v": made}, b"12345678" if made.size > 3 else b"\x80\x80\x80")
    with pytest.raises(MalformedProfileError, match=problem):
        read(prefix, "v")


@pytest.mark.parametrize("shape", [[-1], [2**62, 2], [1] * 255])
def test_shapes_that_no_tensor_has(prefix, shape):
    write_bundle(prefix, {"v": entry(FLOAT, shape, b"")}, b"")
    with pytest.raises(MalformedProfileError, match="no tensor has such a shape"):
        Bundle(prefix)


def test_more_dimensions_than_numpy_has(prefix):
    write_bundle(prefix, {"v": entry(FLOAT, [1] * 40, b"1234")}, b"1234")
    with pytest.raises(InputError, match="it has 40 dimensions"):
        read(prefix, "v")


def test_an_index_without_a_header(prefix):
    prefix.with_name("model.index").write_bytes(table([(b"a", b"")]))
    with pytest.raises(MalformedProfileError, match="how many shards there are"):
        Bundle(prefix)


def test_a_header_that_is_not_a_message(prefix):
    prefix.with_name("model.index").write_bytes(table([(b"", b"\x0a\xff")]))
    with pytest.raises(MalformedProfileError, match=r"model\.index"):
        Bundle(prefix)


def test_a_name_that_is_not_text(prefix):
    write_bundle(prefix, {b"\xff": entry(FLOAT, [], b"1234")}, b"1234")
    with pytest.raises(MalformedProfileError, match="is not UTF-8"):
        Bundle(prefix)


def test_variables_that_share_bytes_are_refused(tmp_path):
    data = np.arange(4, dtype=np.float32).tobytes()
    entries = {f"v{number:02}": entry(1, (4,), data) for number in range(17)}
    write_bundle(tmp_path / "x", entries, data)
    with pytest.raises(MalformedProfileError, match="share bytes"):
        Bundle(tmp_path / "x").read("v00", verify=True)
