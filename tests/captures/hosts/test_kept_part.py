"""Facts of a run are kept for further questions, and only for the same files."""

import os
import shutil

import pytest

from tests.captures.parts.recorded_files import files
from tfprof import tools
from tfprof.captures.hosts.asked import Fleet, fleet_of
from tfprof.captures.hosts.engines import OneProcess
from tfprof.captures.hosts.kept_part import KeptPart
from tfprof.errors import TfprofError
from tfprof.files.cache import Cache

LONG_AGO_NS = 10**18


class Counting(OneProcess):
    def __init__(self):
        self.n_read = 0

    def parts(self, files, wanted):
        self.n_read += len(files)
        return super().parts(files, wanted)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Three hosts in a folder; files count as changed long ago."""
    folder = tmp_path / "run"
    folder.mkdir()
    for file in files("cpu-multi-worker", "cpu-while-steps"):
        shutil.copy(file.path, folder / f"{file.place}.xplane.pb")
    monkeypatch.setattr("tfprof.captures.hosts.kept_part.changed_lately", lambda _: False)
    return folder


def asked(run, tmp_path, tool, environ=None):
    """The answer of a new fleet, and how many files were read besides the first."""
    fleet = fleet_of(str(run), engine=Counting())
    cache = Cache(tmp_path / "cache", 64 << 20)
    fleet.kept = KeptPart(cache, [file.path for file in fleet.files], environ or {})
    return fleet.ask(tool), fleet.engine.n_read


def test_a_second_question_reads_no_file(run, tmp_path):
    _, n_read = asked(run, tmp_path, tools.overview)
    assert n_read == 2
    for tool in (tools.overview, tools.op_stats):
        answer, n_read = asked(run, tmp_path, tool)
        assert n_read == 0
        assert answer.to_dict() == tool(tools.open_run(str(run))).to_dict()


def test_facts_of_several_questions_add_up(run, tmp_path):
    for tool in (tools.pod, tools.op_stats):
        assert asked(run, tmp_path, tool)[1]
    for tool in (tools.pod, tools.op_stats):
        answer, n_read = asked(run, tmp_path, tool)
        assert not n_read
        assert answer.to_dict() == tool(tools.open_run(str(run))).to_dict()


@pytest.mark.parametrize("what", ["file", "neighbour", "variable"])
def test_after_a_change_hosts_are_read_again(run, tmp_path, what):
    asked(run, tmp_path, tools.op_stats)
    environ = {"TFPROF_PEAKS": "peaks.json"} if what == "variable" else {}
    if what == "file":
        os.utime(run / "0.xplane.pb", ns=(LONG_AGO_NS, LONG_AGO_NS))
    if what == "neighbour":
        (run / "sources.txt").write_text("beside")
    assert asked(run, tmp_path, tools.op_stats, environ)[1] == 2


def test_files_that_were_just_written_are_not_kept(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for file in files("cpu-multi-worker"):
        shutil.copy(file.path, folder)
    for _ in range(2):
        assert asked(folder, tmp_path, tools.op_stats)[1] == 1


def test_a_damaged_part_is_made_again(run, tmp_path):
    asked(run, tmp_path, tools.op_stats)
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(b"TFPART" + entry.read_bytes()[7:])
    answer, n_read = asked(run, tmp_path, tools.op_stats)
    assert n_read == 2
    assert answer.to_dict() == tools.op_stats(tools.open_run(str(run))).to_dict()


def test_unreadable_hosts_stay_named(run, tmp_path):
    (run / "broken.xplane.pb").write_bytes(b"nonsense")
    first, _ = asked(run, tmp_path, tools.op_stats)
    again, n_read = asked(run, tmp_path, tools.op_stats)
    assert not n_read
    assert again.to_dict() == first.to_dict()
    assert any("broken" in str(note) for note in again.notes)


def test_one_host_alone_keeps_nothing(run, tmp_path):
    fleet = fleet_of(str(run))
    fleet.kept = KeptPart(Cache(tmp_path / "cache", 64 << 20), [str(run / "0.xplane.pb")], {})
    fleet.only("0")
    fleet.ask(tools.op_stats)
    assert not (tmp_path / "cache").exists()


def test_errors_of_a_question_are_raised_from_the_kept_part(run, tmp_path):
    asked(run, tmp_path, tools.op_stats)

    def fails(run):
        raise TfprofError("of the question")

    with pytest.raises(TfprofError, match="of the question"):
        asked(run, tmp_path, fails)


def test_a_fleet_without_a_cache_reads_every_time(run):
    fleet = Fleet("", fleet_of(str(run)).files, engine=Counting())
    for n_read in (2, 4):
        fleet.ask(tools.op_stats)
        assert fleet.engine.n_read == n_read
