import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.files.checkpoint.tables import MAGIC, block, literal, table, varint
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError
from tfprof.files.checkpoint.table import File, Table
from tfprof.files.crc32c import crc32c, masked

ENTRIES = [(b"", b"header"), (b"layer/a", b"1"), (b"layer/b", b"22" * 500), (b"layer/bc", b""),
           *((f"layer/x{number}".encode(), bytes([number])) for number in range(40))]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


def opened(path, data):
    path.write_bytes(data)
    return Table(path)


@pytest.mark.parametrize("compress", [None, literal])
@pytest.mark.parametrize("entries_per_block", [1, 3, 100])
def test_entries_in_order_and_by_key(path, compress, entries_per_block):
    made = opened(path, table(ENTRIES, compress, entries_per_block))
    assert [tuple(entry) for entry in made] == sorted(ENTRIES)
    for key, value in ENTRIES:
        assert made.get(key) == value
    for key in (b"layer", b"layer/bb", b"z"):
        assert made.get(key) is None


@pytest.mark.parametrize("verify", [True, False])
def test_small_values_of_a_block_are_read_once(path, monkeypatch, verify):
    entries = [*ENTRIES, (b"m/large", b"3" * (1 << 18))]
    made = opened(path, table(entries, entries_per_block=100))
    reads = []
    read = File.read
    monkeypatch.setattr(File, "read", lambda *given: reads.append(given[1:]) or read(*given))
    for _ in range(2):
        assert [made.get(key, verify=verify) for key, _ in ENTRIES] == [v for _, v in ENTRIES]
    assert len(reads) == 1
    assert made.get(b"m/large", verify=verify) == entries[-1][1]
    assert len(reads) == 2


def test_values_read_unverified_are_verified_on_request(path):
    data = bytearray(table(ENTRIES, entries_per_block=100))
    data[data.index(b"22" * 9)] ^= 1
    made = opened(path, bytes(data))
    assert made.get(b"layer/a", verify=False) == b"1"
    with pytest.raises(MalformedProfileError, match="has the checksum"):
        made.get(b"layer/a", verify=True)


def test_a_table_of_nothing(path):
    assert list(opened(path, table([]))) == []


def test_a_block_by_hand():
    # shared, own, length of the value, rest of the key, value; places of whole keys; their count
    assert block([(b"ab", b"1"), (b"ac", b"22")]) == (
        b"\x00\x02\x01ab1\x01\x01\x02c22\x00\x00\x00\x00\x01\x00\x00\x00"
    )


@pytest.mark.parametrize("data", [b"", b"x", b"\x00" * 100, MAGIC, b"\x00" * 39 + MAGIC])
def test_invalid_tables(path, data):
    with pytest.raises(UnknownFormatError, match="does not end as a table does"):
        opened(path, data)


def test_no_file(path):
    with pytest.raises(InputError, match=r"table: cannot be read: No such file.*Check the path"):
        Table(path)


def test_a_checksum_that_differs_is_named(path):
    data = bytearray(table(ENTRIES))
    place = data.index(b"header")
    data[place] ^= 1
    damaged = opened(path, bytes(data))
    with pytest.raises(MalformedProfileError, match=r"table: damaged: the block at byte 0 has the "
                       r"checksum 0x[0-9a-f]{8}, not 0x[0-9a-f]{8} as was written"):  # fmt: skip
        damaged.get(b"")
    assert damaged.get(b"", verify=False) == b"ieader"


def framed(*blocks):
    """Blocks with good checksums; the last one is the index, those before it are as given."""
    out, handle = bytearray(), b""
    for data in blocks:
        handle = varint(len(out)) + varint(len(data))
        out += data + b"\x00" + masked(crc32c(data + b"\x00")).to_bytes(4, "little")
    return bytes(out) + (varint(0) * 2 + handle).ljust(40, b"\x00") + MAGIC


def test_a_block_that_the_index_names_twice(path):
    one = block([(b"a", b"1")])
    handle = varint(0) + varint(len(one))
    with pytest.raises(MalformedProfileError, match="out of order"):
        opened(path, framed(one, block([(b"a", handle), (b"b", handle)])))


def test_a_block_beyond_the_end(path):
    made = opened(path, framed(block([(b"a", varint(5000) + varint(10))])))
    with pytest.raises(MalformedProfileError, match="15 bytes wanted at byte 5000 of"):
        made.get(b"a")


def test_keys_that_grow_without_end(path):
    # Each entry of four bytes repeats a key of 60,000: 1.2 GB in all.
    entries = [b"\x00" + varint(60_000) + b"\x00" + b"k" * 60_000]
    entries += [varint(60_000) + b"\x00\x00"] * 20_000
    bomb = b"".join(entries) + b"\x00" * 4
    made = opened(path, framed(bomb, block([(b"z", varint(0) + varint(len(bomb)))])))
    with pytest.raises(MalformedProfileError, match="too long"):
        list(made)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "too short"),
        (b"\xff\xff\xff\xff", "too short"),
        (b"\x01\x01\x01ab" + b"\x00" * 4, "too long"),  # shares with no key
        (b"\x00\x05\x01ab" + b"\x00" * 4, "too long"),
        (b"\x00\x80" + b"\x00" * 4, "has no end"),
        (b"\xff" * 20 + b"\x00" * 4, "has no end"),
    ],
)
def test_entries_that_do_not_fit(path, data, problem):
    made = opened(path, framed(data, block([(b"z", varint(0) + varint(len(data)))])))
    with pytest.raises(MalformedProfileError, match=problem):
        list(made)


def test_an_unknown_compression(path):
    data = bytearray(table([(b"a", b"1")]))
    place = data.index(b"a1") + 2 + 8
    assert data[place] == 0
    data[place] = 7
    made = opened(path, bytes(data))
    with pytest.raises(MalformedProfileError, match="checksum"):
        list(made)
    with pytest.raises(MalformedProfileError, match=r"unknown way \(7\)"):
        made.get(b"a", verify=False)


def read_all(path, data, verify=True):
    try:
        made = opened(path, data)
        for entry in made:
            made.get(entry.key, verify=verify)
    except InputError as error:
        assert str(path) in str(error)
        return None
    return list(made)


def test_cut_off_anywhere_it_is_refused(path):
    data = table(ENTRIES[:8])
    for size in range(len(data)):
        assert read_all(path, data[:size]) is None


@given(st.data())
def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path_factory, data):
    whole = table(ENTRIES[:8])
    place = data.draw(st.integers(0, 8 * len(whole) - 1))
    flipped = bytearray(whole)
    flipped[place // 8] ^= 1 << place % 8
    path = tmp_path_factory.mktemp("flipped") / "table"
    assert read_all(path, bytes(flipped)) in (None, sorted(ENTRIES[:8]), [])


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_before_the_magic_are_read_or_refused(tmp_path_factory, data, verify):
    path = tmp_path_factory.mktemp("any") / "table"
    read_all(path, data + MAGIC, verify)
