"""Progress and answers of a fleet, also after Ctrl-C."""

import pytest

from tests.captures.parts.recorded_files import files
from tfprof import tools
from tfprof.captures.hosts.asked import Fleet, fleet_of
from tfprof.captures.hosts.engines import OneProcess
from tfprof.errors import UsageError


class Interrupted(OneProcess):
    """Ctrl-C comes after the first file."""

    def parts(self, files, wanted):
        yield from super().parts(files[:1], wanted)
        raise KeyboardInterrupt


class Seen:
    def __init__(self):
        self.stages, self.expected, self.done = [], 0, 0

    def stage(self, what):
        self.stages.append(what)

    def expect(self, n_bytes):
        self.expected += n_bytes

    def advance(self, n_bytes):
        self.done += n_bytes


HOSTS = ("cpu-multi-worker", "cpu-no-steps", "cpu-while-steps")


def test_after_ctrl_c_the_answer_is_of_what_was_read():
    listed = files(*HOSTS)
    fleet = Fleet("", listed, engine=Interrupted())
    answer = fleet.ask(tools.op_stats)
    assert fleet.n_missing == len(listed) - 2
    (note, *_) = answer.notes
    assert note.message.startswith(f"interrupted: this is the answer of 2 of {len(listed)} hosts")
    assert listed[-1].label in note.message
    of_two = tools.op_stats(tools.open_run([file.path for file in listed[:2]]))
    assert answer.to_rows() == of_two.to_rows()


def test_progress_counts_every_byte():
    listed, seen = files(*HOSTS), Seen()
    Fleet("", listed, watch=seen).ask(tools.op_stats)
    assert seen.done == seen.expected == sum(file.n_bytes for file in listed)
    assert seen.stages[-1] == f"reading hosts: {len(listed)} of {len(listed)}"


def test_only_paths_are_read_by_several_processes():
    with pytest.raises(UsageError, match=r"bytes: several processes read paths"):
        fleet_of([b"", b""])
