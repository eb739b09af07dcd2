"""Laws over commands: the same bytes from the cache and from any engine."""

import random
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.laws import drawn
from tests.laws.commands import (
    BUDGET,
    OnlyKept,
    cache_of,
    has_engine,
    names_of_commands,
    written_by,
)
from tests.laws.files import new_folder, written
from tfprof.cli import fleet_options

pytestmark = [pytest.mark.one_engine, pytest.mark.thorough]


IN_PARTS = ["--engine", "process"]


@contextmanager
def two_runs(n_hosts):
    """Two runs and a budget in the working folder."""
    with new_folder():
        for name, seed in (("other", 3), ("run", 2)):
            written(drawn.capture(random.Random(seed), n_hosts=n_hosts), folder=name)
        Path(BUDGET).write_text("step_time = '<= 2 ms'")
        yield


@pytest.mark.parametrize(("n_hosts", "more"), [(1, []), (2, IN_PARTS)], ids=["file", "hosts"])
def test_no_cache_and_no_engine_changes_a_byte_of_a_command(n_hosts, more, monkeypatch):
    monkeypatch.setattr(fleet_options, "_LEAST_KEPT_BYTES", 1)  # each file counts as large
    for module in ("captures.hosts.kept_part", "files.watched_reads"):
        monkeypatch.setattr(f"tfprof.{module}.changed_lately", lambda *_: False)
    names = [name for name in names_of_commands() if has_engine(name) or not more]
    with two_runs(n_hosts):
        fresh = {name: written_by(name) for name in names}
        for order in (names[::-1], names):  # each question has the facts of those before it
            assert {name: written_by(name, cache_of(), more) for name in order} == fresh
        answered = {name: one for name, one in fresh.items() if one[0] == 0}
        assert {"overview", "query", "diff", "check"} <= set(answered)
        assert {name: written_by(name, cache_of(OnlyKept), more) for name in answered} == answered
