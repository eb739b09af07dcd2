import pytest

import tfprof
from tfprof.cli.commands.shell import NOT_IN_A_SHELL
from tfprof.cli.registry import find_command, sections
from tfprof.cli.shell.shell import Shell

from ..conftest import GRAPH, RUN


@pytest.fixture(scope="module")
def small_profiler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "graph.pbtxt").write_text(GRAPH)
    for step, micros in enumerate((10, 30)):
        (folder / f"run_meta_{step}.pbtxt").write_text(RUN % (micros, micros))
    return tfprof.open_profile(folder)


@pytest.fixture
def shell(small_profiler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Shell(lambda: small_profiler, sections(without=NOT_IN_A_SHELL), find_command)


@pytest.fixture
def told(shell, capfd):
    """What a line prints to stdout and stderr, and its exit code."""

    def told(line):
        code = shell.run(line)
        printed = capfd.readouterr()
        return printed.out, printed.err, code

    return told
