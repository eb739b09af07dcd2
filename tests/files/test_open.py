import gzip
import lzma
import os
import threading

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.core.wire.compiled import is_native
from tfprof.core.wire.varints import encode_varint
from tfprof.errors import (
    EmptyProfileError,
    InputError,
    MalformedProfileError,
    UnknownFormatError,
    UsageError,
)
from tfprof.files import open as opening
from tfprof.graphs.read.graphdef import GRAPH_FORMATS, read_graph
from tfprof.profiles.read.oplog import read_op_log
from tfprof.testing.builders import graph, op, op_log, run, traced

from .packed import zst_compress

PACKERS = [gzip.compress, lzma.compress, zst_compress]

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


@pytest.mark.parametrize("pack", PACKERS, ids=["gz", "xz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_archives(tmp_path, pack, damage):
    data = bytearray(pack(GRAPH.SerializeToString() * 20))
    if damage == "cut":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2] ^= 0xFF
        data[-6] ^= 0xFF  # gzip: the checksum, in case the flip above decodes
        data[-1] ^= 0xFF  # zstd: the same
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


def test_a_folder_that_is_not_a_saved_model(tmp_path):
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
    assert read_graph(b'node { name: "a" novelty: 3 op: "Relu" }').places.op_types == ["Relu"]


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


@pytest.mark.parametrize("pack", [bytes, *PACKERS], ids=["plain", "gz", "xz", "zst"])
@pytest.mark.parametrize("name", ["graph.pb", "graph.pb.gz", "graph.zst"])
def test_compression_is_recognized_by_the_content(tmp_path, pack, name):
    path = tmp_path / name
    path.write_bytes(pack(GRAPH.SerializeToString()))
    assert read_graph(path).names == ["x", "y"]
    assert read_graph(path.read_bytes()).names == ["x", "y"]


@pytest.mark.parametrize("pack", [bytes, *PACKERS], ids=["plain", "gz", "xz", "zst"])
def test_data_from_a_pipe_are_recognized_by_their_content_too(tmp_path, pack):
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = pack(LOG.SerializeToString())
    writer = threading.Thread(target=path.write_bytes, args=[data])
    writer.start()
    assert read_op_log(path).names == ["y"]
    writer.join()


def test_a_text_over_2_gib_is_refused(monkeypatch):
    monkeypatch.setattr(opening, "MAX_MESSAGE_BYTES", 10)
    with pytest.raises(MalformedProfileError, match=r"31 bytes are too many .* the binary form"):
        read_op_log(b'log_entries { name: "entry" }  ')


def padded(path, message, n_bytes):
    """A file of a message and an unknown field, which takes no room on disk."""
    with path.open("wb") as stream:
        stream.write(message)
        for _ in range(2):
            stream.write(encode_varint(900 << 3 | 2) + encode_varint(n_bytes // 2))
            stream.seek(n_bytes // 2, os.SEEK_CUR)
        stream.truncate()
    return path


needs_native = pytest.mark.skipif(not is_native(), reason="needs the compiled scanner")


@needs_native
def test_run_metadata_over_2_gib(tmp_path):
    profiler = tfprof.Profiler(GRAPH)
    profiler.add_step(3, padded(tmp_path / "run_meta.pb", RUN.SerializeToString(), 2200 << 20))
    assert profiler.serialize_to_string() == from_parts().serialize_to_string()


@needs_native
def test_an_op_log_over_2_gib(tmp_path):
    found = read_op_log(padded(tmp_path / "log.pb", LOG.SerializeToString(), 2200 << 20))
    assert (found.names, found.float_ops, found.types) == (["y"], [4], [("t",)])


@needs_native
def test_a_profile_over_2_gib(tmp_path):
    saved = from_parts().serialize_to_string()
    path = padded(tmp_path / "profile.pb", saved, 2200 << 20)
    assert tfprof.load(path).serialize_to_string() == saved
    assert tfprof.open_profile(path).steps == [3]


def from_parts():
    profiler = tfprof.Profiler(GRAPH)
    profiler.add_step(3, RUN)
    return profiler


@pytest.mark.parametrize("form", ["GraphDef", "MetaGraphDef"])
def test_a_graph_over_2_gib_is_refused_or_read(tmp_path, form):
    message = GRAPH if form == "GraphDef" else pb.MetaGraphDef(graph_def=GRAPH)
    path = padded(tmp_path / "graph.pb", message.SerializeToString(), 2200 << 20)
    try:
        assert read_graph(path).names == ["x", "y"]
    except MalformedProfileError as error:
        assert f"too many for a {form} message" in str(error)
        assert "in a checkpoint" in str(error)


def test_large_files_may_be_cut_once_they_are_read(tmp_path):
    message, saved = pb.GraphDef(), tmp_path / "profile"
    message.CopyFrom(GRAPH)
    message.node[0].attr["value"].tensor.tensor_content = bytes(3 << 20)
    parts = {"graph": message, "run": RUN, "log": LOG}
    paths = {}
    for name, part in parts.items():
        paths[name] = padded(tmp_path / name, part.SerializeToString(), 2 << 20)
    profiler = tfprof.Profiler(paths["graph"], paths["log"])
    profiler.add_step(3, paths["run"])
    profiler.save(saved, constants=True)
    loaded = tfprof.load(saved)
    for path in (*paths.values(), saved):
        assert path.stat().st_size > 2 << 20
        os.truncate(path, 0)
    assert loaded.serialize_to_string(constants=True) == (
        profiler.serialize_to_string(constants=True)
    )
    assert len(loaded.serialize_to_string(constants=True)) > 3 << 20


def large_graph() -> pb.GraphDef:
    """A graph of a few parts of those that are checked one after the other, and a function."""
    graph = pb.GraphDef(versions={"producer": 1882})
    for place in range(40):
        node = graph.node.add(name=f"op_{place}", op="Const")
        node.attr["value"].tensor.tensor_content = b"\0" * 100_000
    graph.library.function.add().signature.name = "f"
    return graph


def test_a_large_graph_is_not_kept_as_a_message():
    graph = large_graph()
    data = graph.SerializeToString()
    opened = opening.open_message(data, GRAPH_FORMATS[:1], argument="graph")
    assert (opened.data, opened.message) == (data, graph)


def test_what_is_broken_in_a_large_graph_is_reported():
    data = large_graph().SerializeToString()
    place = data.index(b"op_30") - 2
    for broken, about in (
        (data[:-1], "truncated GraphDef message"),
        (data.replace(b"op_30", b"op_3\xff"), "not UTF-8"),
        (data[:place] + b"\x0b" + data[place + 1 :], "not a GraphDef message"),
    ):
        with pytest.raises(MalformedProfileError, match=about):
            opening.open_message(broken, GRAPH_FORMATS[:1], argument="graph")
