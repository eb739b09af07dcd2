import gzip
import lzma
import shutil

import pytest

import tfprof
from tests.files.event_files import event_file, graph_event, meta_graph_event, run_event
from tests.files.packed import zst_compress
from tests.inputs.conftest import GRAPH, RUN
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, InputError, UnknownFormatError, UsageError
from tfprof.files.numbered_names import step_in_name
from tfprof.files.sniff import Format
from tfprof.inputs.resolve import look_at, resolve
from tfprof.inputs.run_files import find_run_files


def names(files):
    return {
        "graph": files.graph and files.graph.path.rpartition("/")[2],
        "runs": {step: file.path.rpartition("/")[2] for step, file in files.runs.items()},
        "op_log": files.op_log and files.op_log.path.rpartition("/")[2],
        "profile": files.profile and files.profile.path.rpartition("/")[2],
    }


def test_a_folder(run):
    assert names(find_run_files(resolve([run]))) == {
        "graph": "graph.pbtxt",
        "runs": {9: "run_meta_9", 10: "run_meta_10"},
        "op_log": "tfprof_log",
        "profile": None,
    }


def test_files_in_any_order(run):
    paths = [run / name for name in ("tfprof_log", "run_meta_9", "graph.pbtxt")]
    assert names(find_run_files(resolve(paths)))["runs"] == {9: "run_meta_9"}
    assert names(find_run_files(resolve(paths))) == names(find_run_files(resolve(reversed(paths))))


def test_steps_count_from_0_where_names_do_not_tell_them_apart(run):
    (run / "run_meta_9").rename(run / "z_run")
    assert names(find_run_files(resolve([run])))["runs"] == {0: "run_meta_10", 1: "z_run"}
    (run / "z_run").rename(run / "again_10")
    assert names(find_run_files(resolve([run])))["runs"] == {0: "again_10", 1: "run_meta_10"}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("run_meta_100", 100), ("a/run-7.pb", 7), ("x/step3.pbtxt.gz", 3), ("12.pb.xz", 12),
        ("run/meta_4.zst", 4), ("run_5.pb.zst", 5),
        ("resnet50.pb", None), ("run_meta", None), ("profile_100/run.pb", None),
        ("r_1234567890123456789", None),
    ],
)  # fmt: skip
def test_step_in_name(name, step):
    assert step_in_name(name) == step


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zst_compress}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("n_nodes", [2, 60_000])
def test_packed_files_are_looked_into(run, ending, n_nodes):
    (run / "graph.pbtxt").unlink()
    text = b"".join(b'node { name: "%d" op: "Relu" }\n' % i for i in range(n_nodes))
    (run / f"g.{ending}").write_bytes(PACKERS[ending](text))
    found = find_run_files(resolve([run])).graph
    assert (found.found.format, found.load().data) == (Format.GRAPH_DEF, text)


@pytest.mark.parametrize("ending", PACKERS)
def test_of_a_large_packed_file_only_the_beginning_is_looked_at(tmp_path, ending):
    text = GRAPH.encode() * 40_000
    packed = PACKERS[ending](text)
    path = tmp_path / f"graph.pbtxt.{ending}"
    path.write_bytes(packed)
    found = look_at(str(path))
    assert (found.found.format, found.data) == (Format.GRAPH_DEF, None)
    assert found.n_bytes == len(packed)
    assert found.load().data == text


def test_a_plain_file_is_not_held(run):
    found = look_at(str(run / "graph.pbtxt"))
    assert found.data is None
    assert found.load().data == GRAPH.encode()


def test_a_saved_profile(run, tmp_path):
    path = tmp_path / "p_1"
    tfprof.open_profile(run).save(path)
    assert names(find_run_files(resolve([path])))["profile"] == "p_1"
    assert tfprof.open_profile(path).steps == [9, 10]


def test_the_demo_is_a_run():
    files = tfprof.demo_files()
    found = find_run_files(resolve([files.graph.parent]))
    assert names(found)["graph"] == "graph.pb.gz"
    assert sorted(file.path.rpartition("/")[2] for file in found.unused) == [
        "README.md",
        "__init__.py",
        "gpu.xplane.pb.xz",  # captures are runs of their own
        "input_bound.xplane.pb.xz",
    ]


def test_two_graphs_are_one_too_many(run):
    shutil.copy(run / "graph.pbtxt", run / "other.pbtxt")
    with pytest.raises(UsageError) as caught:
        find_run_files(resolve([run]))
    for part in ("graph.pbtxt (a GraphDef)", "other.pbtxt (a GraphDef)", "--graph_path"):
        assert part in str(caught.value)
    chosen = look_at(str(run / "other.pbtxt"))
    assert find_run_files(resolve([run]), [chosen]).graph is chosen
    with pytest.raises(UsageError, match=r"graph\.pbtxt and an option both name the graph"):
        find_run_files(resolve([run / "graph.pbtxt"]), [chosen])


def test_meta_graphs_beside_a_graph_are_not_used(run):
    (run / "model.ckpt-5.meta").write_text('meta_info_def { tags: "x" } graph_def { node { } }')
    found = find_run_files(resolve([run]))
    assert names(found)["graph"] == "graph.pbtxt"
    assert [file.found.format for file in found.unused] == [Format.META_GRAPH_DEF]


def test_a_checkpoint_is_its_folder_or_its_prefix(run):
    table = bytes(40) + (0xDB4775248B80FB57).to_bytes(8, "little")
    (run / "model.ckpt-5.index").write_bytes(table)
    (run / "model.ckpt-5.data-00000-of-00001").write_bytes(b"\x01\x02")
    (run / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"')
    found = find_run_files(resolve([run]))
    assert (found.checkpoint, found.unused) == (str(run), ())
    prefix = str(run / "model.ckpt-5")
    found = find_run_files(resolve([run / "graph.pbtxt", prefix]))
    assert found.checkpoint == prefix
    with pytest.raises(UsageError, match="several checkpoints"):
        find_run_files(resolve([run, prefix]))


def test_files_of_nothing_are_named_with_what_they_look_like(run, tmp_path):
    (run / "notes.txt").write_text("hello there, this is not a profile at all")
    assert [file.path for file in find_run_files(resolve([run])).unused] == [str(run / "notes.txt")]
    with pytest.raises(UnknownFormatError, match=r"notes\.txt: no graph.*looks like a text file"):
        find_run_files(resolve([run / "notes.txt"]))
    (tmp_path / "empty.pb").touch()
    with pytest.raises(UnknownFormatError, match=r"empty\.pb: this file is empty"):
        find_run_files(resolve([tmp_path / "empty.pb"]))


def test_a_folder_without_a_run(tmp_path):
    with pytest.raises(EmptyProfileError, match="it is empty"):
        find_run_files(resolve([tmp_path]))
    (tmp_path / "page.html").write_text("<!doctype html><html></html>")
    with pytest.raises(EmptyProfileError, match=r"it holds page\.html \(HTML page\)"):
        find_run_files(resolve([tmp_path]))


@pytest.mark.parametrize("path", ["no/such/file", "a\0b"])
def test_what_is_not_there(path):
    with pytest.raises(InputError, match="cannot be read"):
        look_at(path)


def test_a_damaged_archive_in_a_folder_is_left_out_and_named_otherwise(run):
    (run / "broken.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    assert [file.path for file in find_run_files(resolve([run])).unused] == [str(run / "broken.gz")]
    with pytest.raises(InputError, match=r"broken\.gz: the compressed data are damaged"):
        find_run_files(resolve([run / "broken.gz"]))


def binary(message, text):
    from google.protobuf import text_format

    return text_format.Parse(text, message).SerializeToString()


@pytest.fixture
def logged():
    """What a FileWriter writes: a graph twice, and two traced steps."""
    graph, run = binary(pb.GraphDef(), GRAPH), binary(pb.RunMetadata(), RUN)
    meta_graph = pb.MetaGraphDef(graph_def=pb.GraphDef.FromString(graph)).SerializeToString()
    return event_file(
        graph_event(graph), meta_graph_event(meta_graph),
        run_event("step50", run, step=50), run_event("step100", run, step=100),
    )  # fmt: skip


def test_event_files_hold_a_graph_and_runs(tmp_path, logged):
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(logged)
    expected = {
        "graph": "events.out.tfevents.1#graph",
        "runs": {50: "events.out.tfevents.1#step50", 100: "events.out.tfevents.1#step100"},
        "op_log": None,
        "profile": None,
    }
    assert names(find_run_files(resolve([tmp_path]))) == expected
    assert names(find_run_files(resolve([path]))) == expected
    profiler = tfprof.open_profile(path)
    assert profiler.steps == [50, 100]
    assert profiler.view("scope").children[0].exec_micros == 2


def test_event_files_may_be_packed(tmp_path, logged):
    path = tmp_path / "events.gz"
    path.write_bytes(gzip.compress(logged))
    assert list(find_run_files(resolve([path])).runs) == [50, 100]


def test_of_several_event_files_the_last_graph_counts(tmp_path, logged):
    other = binary(pb.GraphDef(), 'node { name: "last" op: "NoOp" }')
    for name, content in (("e.1", logged), ("e.2", event_file(graph_event(other)))):
        (tmp_path / name).write_bytes(content)
    files = find_run_files(resolve([tmp_path]))
    assert files.graph.path.endswith("e.2#graph")
    assert list(files.runs) == [50, 100]


def test_files_of_their_own_count_more_than_event_files(run, logged):
    (run / "events").write_bytes(logged)
    assert names(find_run_files(resolve([run]))) == {
        "graph": "graph.pbtxt",
        "runs": {9: "run_meta_9", 10: "run_meta_10"},
        "op_log": "tfprof_log",
        "profile": None,
    }


def test_a_damaged_event_file_is_read_so_far(tmp_path, logged):
    (tmp_path / "events").write_bytes(logged[:-3])
    files = find_run_files(resolve([tmp_path]))
    assert list(files.runs) == [50]
    (file,) = files.unused
    assert file.trouble.endswith("is cut off; what comes after it was left out")


def test_an_event_file_with_nothing_to_profile(tmp_path):
    path = tmp_path / "events"
    path.write_bytes(event_file())
    with pytest.raises(EmptyProfileError, match=r"holds events \(TensorFlow events file\)"):
        find_run_files(resolve([tmp_path]))
    with pytest.raises(UnknownFormatError, match=r"looks like a TensorFlow events file; what File"):
        find_run_files(resolve([path]))
