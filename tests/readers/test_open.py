import gzip
import lzma
import tracemalloc

import pytest

import tfprof
from tfprof._wire import messages as pb
from tfprof.errors import (
    EmptyProfileError,
    InputError,
    MalformedProfileError,
    UnknownFormatError,
    UsageError,
)
from tfprof.readers.graphdef import read_graph
from tfprof.readers.open import decompressed
from tfprof.readers.oplog import read_op_log
from tfprof.testing.builders import graph, op, op_log, run, traced

GRAPH = graph(op("x", "Placeholder", shape=[2]), op("y", "Relu", "x", T="float"))
RUN = run({"x": 5, "y": 7})


def read_run_metadata(source):
    tfprof.Profiler(b"").add_step(0, source)


LOG = op_log(traced("y", "train.py:3:main", float_ops=4, types=["t"]))


@pytest.mark.parametrize(
    ("read", "given", "looks_like", "remedy"),
    [
        (read_graph, RUN, "a RunMetadata", "--run_meta_path"),
        (read_graph, LOG, "an OpLogProto", "--op_log_path"),
        (read_run_metadata, GRAPH, "a GraphDef", "--graph_path"),
        (read_run_metadata, LOG, "an OpLogProto", "--op_log_path"),
        (read_op_log, GRAPH, "a GraphDef", "--graph_path"),
        (read_op_log, RUN, "a RunMetadata", "--run_meta_path"),
    ],
)
def test_a_file_of_another_format_is_named_with_a_remedy(tmp_path, read, given, looks_like, remedy):
    path = tmp_path / "some.pb"
    path.write_bytes(given.SerializeToString())
    with pytest.raises(UnknownFormatError) as caught:
        read(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert f"It looks like {looks_like}" in text
    assert remedy in text


@pytest.mark.parametrize("read", [read_run_metadata, read_op_log])
def test_a_compressed_file_of_another_format_is_named_too(tmp_path, read):
    path = tmp_path / "some.pb.gz"
    path.write_bytes(gzip.compress(GRAPH.SerializeToString()))
    with pytest.raises(UnknownFormatError, match="It looks like a GraphDef"):
        read(path)


@pytest.mark.parametrize(
    ("read", "given", "name"),
    [
        (read_graph, RUN, "tensorflow.RunMetadata"),
        (read_run_metadata, GRAPH, "tensorflow.GraphDef"),
        (read_op_log, GRAPH, "tensorflow.GraphDef"),
    ],
)
def test_a_message_of_another_type_is_named(read, given, name):
    with pytest.raises(UsageError, match=f"got a {name}"):
        read(given)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_archives(tmp_path, pack, damage):
    data = bytearray(pack(GRAPH.SerializeToString() * 20))
    if damage == "cut":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2] ^= 0xFF
        data[-6] ^= 0xFF  # gzip: the checksum, in case the flip above decodes
    path = tmp_path / "graph.pb.packed"
    path.write_bytes(data)
    with pytest.raises(MalformedProfileError) as caught:
        read_graph(path)
    assert f"{path}: the compressed data are damaged: " in str(caught.value)


def test_an_archive_in_an_archive_is_named():
    with pytest.raises(UnknownFormatError, match="gzip file"):
        read_graph(gzip.compress(gzip.compress(GRAPH.SerializeToString())))


def test_truncated_data_say_where_they_end():
    data = GRAPH.SerializeToString()
    with pytest.raises(
        MalformedProfileError, match=rf"graph: truncated .* ends at byte {len(data) - 3}"
    ):
        read_graph(data[:-3])


def test_a_folder_that_is_no_saved_model(tmp_path):
    with pytest.raises(UnknownFormatError) as caught:
        read_graph(tmp_path)
    assert f"{tmp_path}: a folder, but not a SavedModel" in str(caught.value)
    assert "saved_model.pbtxt" in str(caught.value)


@pytest.mark.parametrize("read", [read_graph, read_run_metadata, read_op_log])
def test_a_missing_file(tmp_path, read):
    path = tmp_path / "none.pb"
    with pytest.raises(InputError, match=r"none\.pb: cannot be read: .*Check the path"):
        read(path)


def test_a_path_with_a_null_byte():
    with pytest.raises(InputError, match="cannot be read"):
        read_graph("a\0b")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "secret.pb"
    path.write_bytes(b"")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match=r"secret\.pb: cannot be read: Permission denied"):
        read_graph(path)


@pytest.mark.parametrize(
    ("read", "argument"),
    [(read_graph, "graph"), (read_run_metadata, "run_meta"), (read_op_log, "op_log")],
)
@pytest.mark.parametrize("source", [3, 2.5, None, [b""], {}], ids=str)
def test_unreadable_types(read, argument, source):
    with pytest.raises(UsageError) as caught:
        read(source)
    assert str(caught.value).startswith(f"{argument} must be a")
    assert f"got {type(source).__name__}" in str(caught.value)


def test_a_broken_text_form_says_where():
    with pytest.raises(MalformedProfileError, match=r"not the text form of a GraphDef: 2:\d+"):
        read_graph(b'node { name: "a" }\nnode { name: }\n')


def test_a_text_form_may_hold_fields_of_tomorrow():
    assert read_graph(b'node { name: "a" novelty: 3 op: "Relu" }').ops == ["Relu"]


@pytest.mark.parametrize("read", [read_graph, read_run_metadata, read_op_log])
@pytest.mark.parametrize("data", [b"\xff" * 40, b"<html></html>", b'{"a": 1}', b"hello there"])
def test_garbage(read, data):
    with pytest.raises((UnknownFormatError, MalformedProfileError)):
        read(data)


def test_the_message_given_stays_as_it_is():
    before = GRAPH.SerializeToString(deterministic=True)
    read_graph(GRAPH)
    assert GRAPH.SerializeToString(deterministic=True) == before


def test_empty_messages():
    assert read_graph(pb.GraphDef()).names == []
    assert read_op_log(pb.OpLogProto()).names == []
    with pytest.raises(EmptyProfileError):
        read_run_metadata(pb.RunMetadata())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_small_archive_takes_no_more_memory_than_it_holds(pack) -> None:
    packed = pack(bytes(100))
    tracemalloc.start()
    decompressed(packed, "file")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
