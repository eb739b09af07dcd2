import stat
import sys
from pathlib import Path

import pytest

from tfprof.cli.shell.history import history_file
from tfprof.cli.shell.prompt import open_history
from tfprof.errors import UsageError


@pytest.mark.skipif(sys.platform == "win32", reason="the folders of POSIX")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "/home/me/.local/state/tfprof/history"),
        ({"XDG_STATE_HOME": "/state"}, "/state/tfprof/history"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/tfprof/history"),
        ({"TFPROF_HISTORY": "/tmp/h"}, "/tmp/h"),
        ({"TFPROF_HISTORY": ""}, None),
    ],
)
def test_where_lines_are_remembered(environ, expected):
    found = history_file(environ, Path("/home/me"))
    assert found == (None if expected is None else Path(expected))


def test_only_the_user_may_read_it(tmp_path):
    path = tmp_path / "state" / "tfprof" / "history"
    history = open_history(path)
    history.store_string("op -max_depth 3")
    assert "+op -max_depth 3" in path.read_text()
    assert list(open_history(path).load_history_strings()) == ["op -max_depth 3"]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_place_that_can_not_be_written_is_none(tmp_path):
    (tmp_path / "file").touch()
    assert open_history(tmp_path / "file" / "history") is None


@pytest.mark.skipif(sys.platform == "win32", reason="the homes of POSIX")
def test_a_home_that_does_not_exist_is_reported():
    with pytest.raises(UsageError, match="TFPROF_HISTORY=~no_such_user_/h: there is no such home"):
        history_file({"TFPROF_HISTORY": "~no_such_user_/h"})
