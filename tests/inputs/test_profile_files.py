import gzip
import os
import threading
from dataclasses import replace
from unittest import mock

import pytest

import tfprof
from tests.files.checkpoint.recorded.make import FOLDER
from tests.files.event_files import event_file, graph_event
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, MalformedProfileError, UnknownFormatError, UsageError
from tfprof.inputs import profile_files
from tfprof.inputs.profile_files import open_profile, profiler_of
from tfprof.inputs.resolve import RunFile, look_at, resolve
from tfprof.inputs.run_files import RunFiles, find_run_files


def test_the_same_as_from_its_parts(run):
    profiler = tfprof.Profiler(run / "graph.pbtxt", run / "tfprof_log")
    profiler.add_step(9, run / "run_meta_9")
    profiler.add_step(10, run / "run_meta_10")
    assert open_profile(run).serialize_to_string() == profiler.serialize_to_string()
    assert open_profile(run).steps == [9, 10]


def test_a_profile_beside_its_parts_is_refused(run):
    open_profile(run).save(run / "saved")
    with pytest.raises(UsageError, match=r"saved is a saved profile.*together with .*graph\.pbtxt"):
        open_profile(run)
    assert open_profile(run / "saved").steps == [9, 10]


def saved_profiles(run, folder, numbers):
    """A folder as ``ProfileContext`` leaves it beside a Saver's and a FileWriter's files."""
    folder.mkdir()
    for number in numbers:
        profiler = tfprof.Profiler(run / "graph.pbtxt")
        profiler.add_step(number, run / "run_meta_9")
        profiler.save(folder / f"profile_{number}")
    meta = pb.MetaGraphDef(graph_def=profiler_graph()).SerializeToString()
    for name in ("model.ckpt-8.meta", "model.ckpt-16.meta"):
        (folder / name).write_bytes(meta)
    (folder / "graph.pbtxt").write_text((run / "graph.pbtxt").read_text())
    events = event_file(graph_event(profiler_graph().SerializeToString()))
    (folder / "events.out.tfevents.1.host").write_bytes(events)


def profiler_graph():
    return pb.GraphDef(node=[pb.NodeDef(name="a", op="MatMul"), pb.NodeDef(name="b", op="Relu")])


def test_profiles_beside_what_a_saver_writes(run, tmp_path):
    """The one that was saved last is opened, and the others are named."""
    folder = tmp_path / "train"
    saved_profiles(run, folder, [8, 100, 16])
    for path in folder.glob("profile_*"):
        os.utime(path, (1, 1))  # copied: the time says nothing
    profiler = open_profile(folder)
    assert profiler.steps == [100]
    (notice,) = profiler.notices
    assert (notice.code, notice.count) == ("other-profiles", 2)
    assert "profile_8, profile_16; give the file" in notice.text
    assert open_profile(folder / "profile_8").steps == [8]
    assert open_profile(folder / "profile_8").notices == ()


def test_one_profile_beside_what_a_saver_writes(run, tmp_path):
    saved_profiles(run, tmp_path / "train", [8])
    profiler = open_profile(tmp_path / "train")
    assert (profiler.steps, profiler.notices) == ([8], ())


def test_of_profiles_without_numbers_the_last_one_written_is_opened(run, tmp_path):
    saved_profiles(run, tmp_path / "train", [8, 16])
    for number, name in ((8, "late"), (16, "early")):
        (tmp_path / "train" / f"profile_{number}").rename(tmp_path / "train" / name)
        os.utime(tmp_path / "train" / name, (30 - number, 30 - number))
    assert open_profile(tmp_path / "train").steps == [8]


def test_an_op_log_alone_says_nothing(run):
    with pytest.raises(UsageError, match=r"nothing to profile in .*tfprof_log"):
        open_profile(run / "tfprof_log")
    with pytest.raises(UsageError, match="nothing to read"):
        open_profile()


def test_a_checkpoint_alone_has_a_command_of_its_own():
    said = r"nothing to profile in .*objects: .* beside it; tfprof checkpoint shows a checkpoint"
    with pytest.raises(UsageError, match=said):
        open_profile(FOLDER / "objects")


def test_run_metadata_without_stats_are_named(run):
    (run / "run_meta_9").write_text('partition_graphs { node { name: "a" } }')
    (run / "run_meta_10").unlink()
    with pytest.raises(EmptyProfileError, match=r"run_meta_9: step 9: .*no step_stats"):
        open_profile(run / "graph.pbtxt", run / "run_meta_9")


class Watching:
    def __init__(self):
        self.stages, self.expected, self.read = [], 0, 0

    def stage(self, what):
        self.stages.append(what.replace(self.folder, ""))

    def expect(self, n_bytes):
        self.expected += n_bytes

    def advance(self, n_bytes):
        self.read += n_bytes


def test_progress_covers_the_whole_file(run):
    watch = Watching()
    watch.folder = f"{run}/"
    profiler_of(find_run_files(resolve([run])), watch=watch)
    assert watch.read == watch.expected > 0
    assert watch.stages == [
        "reading graph.pbtxt", "decoding graph.pbtxt",
        "reading tfprof_log", "decoding tfprof_log",
        "reading run_meta_9 (1 of 2 steps)", "decoding run_meta_9 (1 of 2 steps)",
        "reading run_meta_10 (2 of 2 steps)", "decoding run_meta_10 (2 of 2 steps)",
    ]  # fmt: skip


@pytest.fixture
def many(tmp_path):
    """Ten steps, packed one like the other."""
    graph = 'node { name: "a" op: "MatMul" }'
    (tmp_path / "graph.pbtxt").write_text(graph)
    for step in range(10):
        stats = f'node_stats {{ node_name: "a" all_start_micros: {step + 1} op_end_rel_micros: 2 }}'
        text = f'step_stats {{ dev_stats {{ device: "/cpu:0" {stats} }} }}'
        (tmp_path / f"run_meta_{step}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.mark.parametrize("threads", ["2", "3", "20"])
def test_threads_change_nothing(many, monkeypatch, threads):
    def read():
        watch = Watching()
        watch.folder = f"{many}/"
        files = find_run_files(resolve([many]))
        # As if they were large: what is small is not read again.
        files = replace(files, runs={n: replace(f, data=None) for n, f in files.runs.items()})
        return profiler_of(files, watch=watch).serialize_to_string(), watch.stages, watch.read

    monkeypatch.setenv("TFPROF_THREADS", "1")
    alone = read()
    monkeypatch.setenv("TFPROF_THREADS", threads)
    assert read() == alone
    assert len(open_profile(many).steps) == 10


@pytest.mark.parametrize("threads", ["1", "2", "20"])
def test_the_first_of_several_broken_files_is_named(many, monkeypatch, threads):
    monkeypatch.setenv("TFPROF_THREADS", threads)
    packed = (many / "run_meta_3.gz").read_bytes()
    paths = sorted(map(str, many.glob("run_meta*")))
    files = RunFiles(runs={n: RunFile(p, look_at(p).found) for n, p in enumerate(paths)})
    for step in (8, 3, 5):
        (many / f"run_meta_{step}.gz").write_bytes(packed[:-step])
    with pytest.raises(MalformedProfileError, match=r"run_meta_3\.gz: the compressed data are"):
        profiler_of(files)
    (many / "run_meta_1.gz").write_bytes(gzip.compress(b"hello there, this is not a run"))
    with pytest.raises(UnknownFormatError, match=r"run_meta_1\.gz: not a RunMetadata"):
        profiler_of(files)


def test_no_thread_waits_for_a_pipe(many, monkeypatch):
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    monkeypatch.setenv("TFPROF_THREADS", "2")
    pool = mock.Mock(side_effect=AssertionError)
    monkeypatch.setattr(profile_files, "ThreadPoolExecutor", pool)
    os.mkfifo(many / "pipe")
    paths = [str(many / "run_meta_0.gz"), str(many / "pipe")]
    found = look_at(paths[0]).found
    data = (many / "run_meta_1.gz").read_bytes()
    writer = threading.Thread(target=(many / "pipe").write_bytes, args=[data])
    writer.start()
    files = RunFiles(runs={n: RunFile(path, found) for n, path in enumerate(paths)})
    assert profiler_of(files).steps == [0, 1]
    writer.join()
