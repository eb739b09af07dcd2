"""A large file is read once for several questions, which get the answers of an open run."""

import shutil
from functools import partial

import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.captures.hosts import kept_host
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.hosts.kept_part import KeptPart
from tfprof.errors import InputError
from tfprof.files.cache import Cache

TOOLS = (
    tools.collectives, tools.input_pipeline, tools.kernel_stats, tools.memory,
    tools.op_stats, tools.pod, tools.stragglers, tools.tf_data, tools.utilization,
)  # fmt: skip
CAPTURES = ("cpu-memory-bfc", "gpu-synthetic", "tpu-synthetic")
FROM_OVERVIEW = (tools.overview, tools.op_stats, tools.kernel_stats, tools.input_pipeline)


@pytest.fixture(params=CAPTURES)
def file(request, tmp_path, monkeypatch):
    """A file in a folder of its own that counts as changed long ago."""
    (found,) = folder(request.param).glob("*.xplane.pb*")
    monkeypatch.setattr("tfprof.captures.hosts.kept_part.changed_lately", lambda _: False)
    return shutil.copy(found, tmp_path / found.name)


def asked(file, tmp_path, *questions):
    """The answers of a new run, whose new facts are kept."""
    kept = KeptPart(Cache(tmp_path.parent / f"cache of {tmp_path.name}", 64 << 20), [file], {})
    run, keep = kept_host.open_kept(fleet_of(file), kept)
    answers = [question(run).to_dict() for question in questions]
    keep()
    return answers


def no_reading(monkeypatch):
    def refused(path):
        raise InputError(f"{path}: is read again")

    monkeypatch.setattr(kept_host, "read_capture", refused)


def test_answers_are_those_of_an_open_run_and_facts_add_up(file, tmp_path, monkeypatch):
    run = tools.open_run(file)
    questions = [partial(tool, classic=classic) for tool in TOOLS for classic in (False, True)]
    expected = [question(run).to_dict() for question in questions]
    half = len(questions) // 2
    assert asked(file, tmp_path, *questions[:half]) == expected[:half]
    assert asked(file, tmp_path, *questions[half:]) == expected[half:]
    no_reading(monkeypatch)
    assert asked(file, tmp_path, *questions) == expected


def test_after_an_overview_most_questions_read_no_file(file, tmp_path, monkeypatch):
    asked(file, tmp_path, tools.overview)
    no_reading(monkeypatch)
    for tool in FROM_OVERVIEW:
        assert asked(file, tmp_path, tool)


def test_what_no_fact_holds_is_read_again(file, tmp_path):
    asked(file, tmp_path, tools.overview)
    (lines,) = asked(file, tmp_path, tools.trace)
    assert lines == tools.trace(tools.open_run(file)).to_dict()
