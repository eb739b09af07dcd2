import pytest

import tfprof
from tfprof.errors import EmptyProfileError, UsageError
from tfprof.profile_files import open_profile, profiler_of
from tfprof.readers.run_files import find_run_files

from .readers.test_run_files import run  # noqa: F401 - a fixture


def test_the_same_as_from_its_parts(run):  # noqa: F811
    profiler = tfprof.Profiler(run / "graph.pbtxt", run / "tfprof_log")
    profiler.add_step(9, run / "run_meta_9")
    profiler.add_step(10, run / "run_meta_10")
    assert open_profile(run).serialize_to_string() == profiler.serialize_to_string()
    assert open_profile(run).steps == [9, 10]


def test_a_profile_beside_its_parts_is_refused(run):  # noqa: F811
    open_profile(run).save(run / "saved")
    with pytest.raises(UsageError, match=r"saved is a saved profile.*together with .*graph\.pbtxt"):
        open_profile(run)
    assert open_profile(run / "saved").steps == [9, 10]


def test_an_op_log_alone_says_nothing(run):  # noqa: F811
    with pytest.raises(UsageError, match=r"nothing to profile in .*tfprof_log"):
        open_profile(run / "tfprof_log")
    with pytest.raises(UsageError, match="nothing to read"):
        open_profile()


def test_run_metadata_without_stats_are_named(run):  # noqa: F811
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


def test_whoever_watches_is_told_all(run):  # noqa: F811
    watch = Watching()
    watch.folder = f"{run}/"
    profiler_of(find_run_files([run]), watch=watch)
    assert watch.read == watch.expected > 0
    assert watch.stages == [
        "reading graph.pbtxt", "decoding graph.pbtxt",
        "reading tfprof_log", "decoding tfprof_log",
        "reading run_meta_9 (1 of 2 steps)", "decoding run_meta_9 (1 of 2 steps)",
        "reading run_meta_10 (2 of 2 steps)", "decoding run_meta_10 (2 of 2 steps)",
    ]  # fmt: skip
