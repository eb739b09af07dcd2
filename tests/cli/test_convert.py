import gzip
import lzma
import sys

import pytest

import tfprof
from tests.files.packed import needs_zstd, zst_decompress
from tfprof.testing.xspace_builders import event, host, line, xspace


@pytest.fixture
def saved(call, graph, runs, tmp_path):
    """A saved profile of two steps."""
    path = tmp_path / "profile_1"
    assert call("convert", graph, *runs, "-o", path).exit_code == 0
    return path


def test_the_parts_of_a_run_become_a_profile(call, graph, runs, saved):
    parts = tfprof.Profiler(graph)
    for step, run in enumerate(runs):
        parts.add_step(step, run)
    assert saved.read_bytes() == parts.serialize_to_string()
    assert tfprof.load(saved).steps == [0, 1]


def test_what_was_written_is_reported(call, graph, runs, tmp_path):
    path = tmp_path / "p"
    assert call("convert", graph, runs[0], "-o", path).stderr == (
        f"note: {path}: ProfileProto of 1 step\n"
    )
    path = tmp_path / "run.pb"
    assert call("convert", runs[0], "-o", path).stderr == (
        f"note: {path}: RunMetadata, as binary\n"
    )


def test_profiles_of_workers_are_united(call, graph, runs, tmp_path):
    for place, run in enumerate(runs):
        assert call("convert", graph, run, "-o", tmp_path / f"worker{place}").exit_code == 0
    both = tmp_path / "both.pb"
    assert call("convert", tmp_path / "worker0", tmp_path / "worker1", "-o", both).exit_code == 0
    one, other = (tfprof.load(tmp_path / f"worker{place}") for place in (0, 1))
    assert both.read_bytes() == one.merge(other).serialize_to_string()


@pytest.mark.parametrize(
    ("ending", "unpack"),
    [
        ("", bytes),
        (".gz", gzip.decompress),
        (".xz", lzma.decompress),
        pytest.param(".zst", zst_decompress, marks=needs_zstd),
    ],
)
def test_messages_as_binary_and_as_text(call, graph, tmp_path, ending, unpack):
    binary, text = tmp_path / f"g.pb{ending}", tmp_path / f"g.pbtxt{ending}"
    assert call("convert", graph, "-o", binary).exit_code == 0
    assert call("convert", binary, "-o", text).exit_code == 0
    again = tmp_path / "again.pb"
    assert call("convert", text, "-o", again).exit_code == 0
    assert again.read_bytes() == unpack(binary.read_bytes())
    assert 'name: "layer/y"' in unpack(text.read_bytes()).decode()
    names = [op.name for op in tfprof.Profiler(str(again)).view("scope").root.children]
    assert sorted(names) == ["layer", "w", "x"]


@needs_zstd
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd")
def test_without_the_package_for_zstd_the_extra_is_named(call, graph, tmp_path, monkeypatch):
    path = tmp_path / "g.pb.zst"
    assert call("convert", graph, "-o", path).exit_code == 0
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for words in (["op", path], ["convert", graph, "-o", tmp_path / "other.zst"]):
        done = call(*words)
        assert done.exit_code == 5
        assert "pip install 'tfprof[zstd]'" in done.stderr
    assert not (tmp_path / "other.zst").exists()


def test_a_profile_as_text_says_what_it_leaves_out(call, saved, tmp_path):
    text = tmp_path / "p.pbtxt"
    done = call("convert", saved, "-o", text)
    assert "such as single executions. The binary file keeps them" in done.stderr
    assert tfprof.load(text).view("op").root.total_exec_micros == 20


def test_constants_can_be_left_out(call, tmp_path):
    sizes = []
    for words in ([], ["--no-constants"]):
        path = tmp_path / f"p{len(sizes)}"
        assert call("convert", "--demo", *words, "-o", path).exit_code == 0
        sizes.append(path.stat().st_size)
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--demo"], 2, "--outfile"),
        (["--demo", "--to", "text", "-o", "x"], 2, "name one file"),
        (["GRAPH", "RUN", "--to", "binary", "-o", "x"], 2, "name one file"),
        ([".", "--to", "text", "-o", "x"], 2, "name one file"),
        (["SAVED", "SAVED", "GRAPH", "-o", "x"], 2, "is not a profile; profiles can"),
        (["SAVED", "GRAPH", "-o", "x"], 2, "is a saved profile"),
        (["no/such", "-o", "x"], 3, "no/such: cannot be read"),
    ],
)
def test_what_can_not_be_converted(
    call, graph, runs, saved, tmp_path, monkeypatch, words, code, message
):
    monkeypatch.chdir(tmp_path)
    names = {"GRAPH": graph, "RUN": runs[0], "SAVED": saved}
    done = call("convert", *(names.get(word, word) for word in words))
    assert done.exit_code == code
    assert message in done.stderr
    assert not (tmp_path / "x").exists()


def test_files_of_no_kind_are_named(call, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing to profile here, only words")
    done = call("convert", tmp_path / "notes.txt", "-o", tmp_path / "x.pb")
    assert done.exit_code == 3
    assert "notes.txt: no graph, run metadata, op log or profile" in done.stderr


def test_nothing_is_overwritten_without_force(call, graph, tmp_path):
    path = tmp_path / "mine.pb"
    path.write_text("mine")
    assert call("convert", graph, "-o", path).exit_code == 2
    assert path.read_text() == "mine"
    assert call("convert", graph, "-o", path, "--force").exit_code == 0


def test_one_file_stays_what_it_is_however_it_is_named(call, graph, tmp_path):
    assert call("convert", graph, "-o", tmp_path / "a.pb").exit_code == 0
    done = call("convert", "--graph_path", graph, "-o", tmp_path / "b.pb")
    assert done.stderr == f"note: {tmp_path / 'b.pb'}: GraphDef, as binary\n"
    assert (tmp_path / "b.pb").read_bytes() == (tmp_path / "a.pb").read_bytes()


def test_no_file_that_an_option_names_is_left_out(call, graph, runs, tmp_path):
    for words in ([graph, runs[0]], [runs[0], "--graph_path", graph]):
        assert call("convert", *words, "-o", tmp_path / f"p{words[0] == graph}").exit_code == 0
    assert (tmp_path / "pTrue").read_bytes() == (tmp_path / "pFalse").read_bytes()


def test_the_file_of_a_capture_becomes_a_profile(call, tmp_path):
    spent = line(event("train", 0, 100, step_num=1, _r=1), event("y:MatMul", 10, 30))
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(xspace(host(spent)).SerializeToString())
    done = call("convert", path, "-o", tmp_path / "p")
    assert done.stderr == f"note: {tmp_path / 'p'}: ProfileProto of 1 step\n"
    assert tfprof.load(tmp_path / "p").steps == [1]


def test_what_is_written_can_be_piped(call, graph, runs, tmp_path):
    for words in ([graph], [graph, "--to", "text"], [graph, *runs]):
        path = tmp_path / "file"
        assert call("convert", *words, "-o", path, "--force").exit_code == 0
        piped = call("convert", *words, "-o", "-")
        assert (piped.exit_code, piped.stderr) == (0, "")
        assert piped.stdout_bytes == path.read_bytes()


def test_what_is_left_of_a_profile_can_be_saved(call, saved, tmp_path):
    damaged = tmp_path / "damaged"
    damaged.write_bytes(saved.read_bytes()[:-3])
    assert call("convert", damaged, "-o", tmp_path / "rest", "--recover").exit_code == 0
    assert tfprof.load(tmp_path / "rest").steps == tfprof.load(damaged, recover=True).steps
