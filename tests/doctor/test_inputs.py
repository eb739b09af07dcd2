import gzip
import json
import lzma
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.doctor.hosts import HOST
from tests.files.checkpoint.tables import entry, write_bundle
from tfprof.captures.run.result import Note
from tfprof.core.wire import messages as pb
from tfprof.doctor import inputs
from tfprof.doctor.inputs import check_paths
from tfprof.testing.builders import graph, op, op_log, run, traced

RUN = run({"a": 3}).SerializeToString()
GRAPH = graph(op("a", "Relu"), op("b", "MatMul", "a")).SerializeToString()
CAPTURE = pb.XSpace(planes=[HOST], hostnames=["worker0"]).SerializeToString()
EMPTY_CAPTURE = pb.XSpace(hostnames=["worker0"]).SerializeToString()


def only(*paths):
    """The only check of the only area."""
    (area,) = check_paths(paths)
    (check,) = area.checks
    return check


def messages(path):
    return {area.title: [check.message for check in area.checks] for area in check_paths([path])}


@pytest.fixture
def write(tmp_path):
    def write(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    return write


def test_files_and_what_they_are_together(write):
    paths = [
        write("graph.pb", GRAPH),
        write("run_meta.pb.gz", gzip.compress(RUN)),
        write("op_log.xz", lzma.compress(op_log(traced("a", "x.py:1:f")).SerializeToString())),
    ]
    areas = list(check_paths(paths))
    assert [area.title for area in areas] == [*map(str, paths), "These files together"]
    assert areas[-1].checks[0].message == "1 of the graph's 2 ops ran"


def test_text_form(write):
    assert only(write("graph.pbtxt", b"node { name: 'a' op: 'NoOp' }")).message == "GraphDef: 1 op"


def test_a_profile(write):
    data = tfprof.Profiler(GRAPH).serialize_to_string()
    (area,) = check_paths([write("profile_1", data)])
    assert area.checks[0].message == "ProfileProto: 2 ops, 0 steps"


def test_a_file_with_an_error_is_left_out_of_the_comparison(write):
    untraced = pb.RunMetadata(partition_graphs=[graph(op("a"))]).SerializeToString()
    areas = list(check_paths([write("graph.pb", GRAPH), write("run_meta.pb", untraced)]))
    assert [area.checks[0].status for area in areas] == ["ok", "error"]


def test_a_file_that_is_not_there(tmp_path):
    check = only(tmp_path / "nothing")
    assert check.status == "error"
    assert check.message == "cannot be read: No such file or directory"
    assert only("null\0byte").status == "error"


def test_an_empty_file(write):
    assert only(write("run_meta.pb", b"")).message == "the file is empty"


def test_a_file_that_may_not_be_read(write, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(inputs.Path, "read_bytes", refuse)
    assert only(write("run_meta.pb", RUN)).message == "cannot be read: Permission denied"


def test_truncated_files_say_where(write):
    cut = run({f"op{i}": i for i in range(50)}).SerializeToString()[:-2]
    check = only(write("run_meta.pb", cut))
    assert check.status == "error"
    assert check.message.startswith("truncated RunMetadata message: ")
    assert "step_stats" in check.message


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_damaged_archives(write, compress):
    check = only(write("run_meta.pb.gz", compress(RUN * 100)[:-9]))
    assert check.status == "error"
    assert check.message.startswith("the compressed data are damaged")


@pytest.mark.parametrize(
    ("name", "data", "status", "words"),
    [
        (
            "a.h5",
            b"\x89HDF\r\n\x1a\n" + bytes(9),
            "warning",
            "It looks like an HDF5 file; load it with",
        ),
        ("a.zip", b"PK\x03\x04" + bytes(30), "warning", "It looks like a zip file; unpack it"),
        (
            "trace.json",
            b'{"traceEvents": []}',
            "warning",
            "It looks like a Chrome trace; tfprof ui",
        ),
        ("page", b"<!DOCTYPE html><html>", "warning", "It looks like an HTML page; if it"),
        ("notes", b"hello, world", "error", "its format is unknown (12 bytes, text file)"),
        ("noise", b"\xff\xfe\xfd" * 9, "error", "its format is unknown (27 bytes, unknown"),
    ],
)
def test_other_files(write, name, data, status, words):
    check = only(write(name, data))
    assert check.status == status
    assert check.message.startswith(words)


def test_a_folder_of_recorded_files(write, tmp_path):
    write("run/graph.pb", GRAPH)
    write("run/run_meta.pb", RUN)
    write("run/run_meta_2.pb", b"")
    write("run/run_meta_3.pb.gz", gzip.compress(RUN)[:-5])
    write("run/README", b"hello, world")
    write("run/log", b"")
    found = messages(tmp_path / "run")
    assert list(found) == [
        str(tmp_path / "run/graph.pb"), str(tmp_path / "run/run_meta.pb"),
        str(tmp_path / "run/run_meta_2.pb"), str(tmp_path / "run/run_meta_3.pb.gz"),
        "These files together",
    ]  # fmt: skip


def test_a_large_folder(write, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "_MAX_FILES", 2)
    for place in range(3):
        write(f"run_meta_{place}.pb", RUN)
    last = list(check_paths([tmp_path]))[-1].checks[0]
    assert (last.status, last.message) == ("note", "only the first 2 of 3 files were checked")


def test_a_saved_model_folder(write, tmp_path):
    model = pb.SavedModel(saved_model_schema_version=1)
    model.meta_graphs.add().graph_def.node.add(name="x", op="NoOp")
    path = write("model/saved_model.pb", model.SerializeToString())
    write("model/keras_metadata.pb", b"")
    assert messages(tmp_path / "model") == {str(path): ["SavedModel: 1 op"]}


@pytest.mark.parametrize(
    ("names", "holds"),
    [
        ([], "it is empty"),
        (["a.txt"], "it holds a.txt (text file)"),
        (
            [f"{letter}.txt" for letter in "abcdefg"],
            "it holds a.txt (text file), b.txt (text file), c.txt (text file), d.txt (text file), "
            "e.txt (text file) and 2 more",
        ),
    ],
)
def test_a_wrong_folder(write, tmp_path, names, holds):
    for name in names:
        write(name, b"hello, world")
    check = only(tmp_path)
    assert check.status == "error"
    assert check.message.endswith(f"is in this folder: {holds}")


def test_a_checkpoint(tmp_path):
    write_bundle(tmp_path / "m-1", {"v": entry(1, [500], bytes(2000))}, bytes(2000))
    shard = tmp_path / "m-1.data-00000-of-00001"
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "m-1"')
    said = "TensorFlow checkpoint m-1: 1 variable, 2.00 kB"
    names = ("", "m-1", "m-1.index", shard.name, "checkpoint")
    for path in (tmp_path / name for name in names):
        assert messages(path) == {str(path): [said]}
    shard.unlink()
    (area,) = check_paths([tmp_path])
    assert [(check.status, check.message) for check in area.checks] == [
        ("ok", said),
        ("error", f"1 file missing: {shard.name}; some values cannot be read"),
    ]
    (tmp_path / "m-1.index").write_bytes(bytes(100))
    assert only(tmp_path / "m-1").status == "error"
    assert "does not end as a table" in only(tmp_path / "m-1").message


def test_a_checkpoint_beside_its_graph(write, tmp_path):
    write("graph.pb", GRAPH)
    write_bundle(tmp_path / "m-1", {"v": entry(1, [2], bytes(8))}, bytes(8))
    titles = [area.title for area in check_paths([tmp_path])]
    assert titles == [str(tmp_path), str(tmp_path / "graph.pb")]


def test_checkpoints_of_which_none_is_the_newest(tmp_path):
    for name in ("a", "b"):
        write_bundle(tmp_path / name, {"v": entry(1, [2], bytes(8))}, bytes(8))
    found = only(tmp_path)
    assert found.status == "note"
    assert found.message.startswith(
        "there are several checkpoints in this folder; give one of a, b"
    )


def test_a_checkpoint_of_nothing(tmp_path):
    write_bundle(tmp_path / "m", {}, b"")
    found = only(tmp_path / "m")
    assert (found.status, found.message) == ("note", "TensorFlow checkpoint m: 0 variables")


def test_the_variables_of_a_saved_model(write, tmp_path):
    model = pb.SavedModel(meta_graphs=[pb.MetaGraphDef(graph_def=pb.GraphDef.FromString(GRAPH))])
    write("model/saved_model.pb", model.SerializeToString())
    prefix = tmp_path / "model" / "variables" / "variables"
    prefix.parent.mkdir()
    write_bundle(prefix, {"v": entry(1, [2], bytes(8))}, bytes(8))
    prefix.with_name("variables.data-00000-of-00001").unlink()
    found = [[check.status for check in area.checks] for area in check_paths([tmp_path / "model"])]
    assert found == [["ok"], ["ok", "error"]]


@pytest.mark.parametrize("logdir", ["log", "log/train/.."])
def test_a_log_folder(write, tmp_path, logdir):
    below = "log/train" if "train" in logdir else "log"
    write(f"{below}/plugins/profile/2026_01_01/worker0.xplane.pb", CAPTURE)
    write(f"{below}/plugins/profile/2026_01_02/worker0.xplane.pb.gz", gzip.compress(CAPTURE))
    (tmp_path / below / "plugins/profile/2026_01_03").mkdir()
    areas = list(check_paths([tmp_path / "log"]))
    runs, newest = areas
    assert [check.status for check in runs.checks] == ["ok", "warning"]
    assert runs.checks[0].message == "2 captured runs; the newest is 2026_01_02"
    assert runs.checks[1].message == "2026_01_03: the run is empty: nothing was captured"
    assert newest.title.endswith("2026_01_02/worker0.xplane.pb.gz")
    assert newest.checks[0].message.startswith("XSpace of worker0: 3 events, no device, ")
    for inside in ("plugins", "plugins/profile"):
        assert list(check_paths([tmp_path / below / inside])) == areas


def test_an_empty_run(tmp_path):
    run_folder = tmp_path / "plugins/profile/2026_01_03"
    run_folder.mkdir(parents=True)
    check = only(run_folder)
    assert (check.status, check.message) == ("error", "the run is empty: nothing was captured")
    assert "Capture longer" in check.remedy
    assert only(tmp_path / "plugins/profile").message == (
        "2026_01_03: the run is empty: nothing was captured"
    )
    run_folder.rmdir()
    assert only(tmp_path).message == "no run was captured here"


def test_a_run_of_an_old_tensorflow(write, tmp_path):
    write("plugins/profile/run/host.overview_page.pb", b"\x0a\x00")
    assert only(tmp_path / "plugins/profile/run").status == "note"


def test_a_run_folder(write, tmp_path):
    write("plugins/profile/run/a.xplane.pb", CAPTURE)
    write("plugins/profile/run/b.xplane.pb", EMPTY_CAPTURE)
    first, second = check_paths([tmp_path / "plugins/profile/run"])
    assert first.checks[0].status == "ok"
    assert second.checks[0].message.startswith("holds no events")


def test_runs_without_a_log_folder(write, tmp_path):
    paths = [write(f"{name}/host.xplane.pb", CAPTURE) for name in ("a", "b")]
    assert [area.title for area in check_paths([tmp_path])] == [*map(str, paths)]


def test_what_was_missing_when_a_host_was_captured(write, tmp_path):
    """From ``capture.json``: notes that the file itself shows are not repeated."""
    write("plugins/profile/run/b.xplane.pb", EMPTY_CAPTURE)
    (area,) = check_paths([tmp_path / "plugins/profile/run"])
    known = Note("warning", f"{area.checks[0].message}. {area.checks[0].remedy}", "b")
    cut = Note("warning", "the training ended after batch 3", "b")
    notes = [asdict(note) for note in (known, cut, Note("error", "of another", "a"))]
    write("plugins/profile/run/capture.json", json.dumps({"missing": notes}).encode())
    (area,) = check_paths([tmp_path / "plugins/profile/run"])
    assert [(check.status, check.message) for check in area.checks[1:]] == [
        ("warning", "when it was captured: the training ended after batch 3")
    ]
    for damaged in (b"{", b"[1]", b'{"missing": 3}', b'{"missing": [{"severity": [], "x": 1}]}',
                    b'{"missing": [{"severity": [], "message": 1, "host": "b"}]}'):  # fmt: skip
        write("plugins/profile/run/capture.json", damaged)
        (area,) = check_paths([tmp_path / "plugins/profile/run"])
        assert len(area.checks) == 1


SOUND = [RUN, GRAPH, CAPTURE, tfprof.Profiler(GRAPH).serialize_to_string()]


@given(
    st.sampled_from(SOUND),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
    st.integers(0, 10**6),
)
def test_whatever_a_file_holds_it_is_a_finding(tmp_path_factory, data, changes, length):
    damaged = bytearray(data)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(damaged[: length % (len(damaged) + 1) or None])
    (area,) = check_paths([path])
    assert area.checks
