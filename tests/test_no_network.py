"""No command reaches for an address that its user has not named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tests.doc_pages import ROOT, page_commands
from tests.offline import ATTEMPT, has_namespaces

pytestmark = pytest.mark.one_engine

TUTORIALS = Path(tfprof.__file__).parent / "demo" / "tutorials"
COMMANDS = (
    ("doctor",),
    ("query", "--demo", "select count(*) from events"),
    ("export", "--demo", "-o", "steps.parquet"),
    ("report", "--demo", "-o", "report.html"),
    ("diff", str(TUTORIALS / "slow-input"), str(TUTORIALS / "faster-input")),
)
"""Beside those of the README: of packages that are not Python, and with many parts."""


def offline(module, *arguments, folder, **environment):
    """Run a module by ``tests.offline`` in a folder; returns the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "tests.offline", module, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", **environment},
    )  # fmt: skip


TRY = "import socket, subprocess\ntry: {}\nexcept OSError: pass\n"
REACHING = {
    "by_python": TRY.format("socket.create_connection(('198.51.100.1', 80), 1)"),
    "by_name": TRY.format("socket.getaddrinfo('tfprof.invalid', 80)"),
    "by_others": TRY.format("subprocess.run(['bash', '-c', 'exec 3<>/dev/udp/198.51.100.1/53'])"),
}
LOCAL = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
raise SystemExit(7)
"""


@pytest.mark.parametrize("kind", REACHING)
def test_an_attempt_is_reported(tmp_path, kind):
    if kind == "by_others" and not has_namespaces():
        pytest.skip("needs unshare and the right to make network namespaces")
    (tmp_path / "reaching.py").write_text(REACHING[kind])
    done = offline("reaching", folder=tmp_path)
    assert done.returncode == ATTEMPT, done.stderr
    assert "tests.offline: " in done.stderr


def test_this_machine_is_not_a_network(tmp_path):
    (tmp_path / "local.py").write_text(LOCAL)
    assert offline("local", folder=tmp_path).returncode == 7


@pytest.mark.thorough
def test_no_command_reaches_for_the_network(tmp_path):
    """Those of the README and some more; pages fetch nothing by their content policy."""
    (tmp_path / "run").mkdir()
    before = ["convert", "--demo", "-o", "run/profile_0"]
    commands = [before, *page_commands(ROOT / "README.md"), *COMMANDS]
    (tmp_path / "all_commands.py").write_text(
        "from click.testing import CliRunner\n"
        "from tfprof.cli.program import cli\n"
        f"for words in {commands!r}:\n"
        "    done = CliRunner().invoke(cli, words)\n"
        "    assert done.exit_code in (0, 1), (words, done.output)\n"
        "    print(words[0])\n"
    )
    done = offline("all_commands", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [words[0] for words in commands]
