"""``tfprof ui``: a server that starts, says where it is, and ends."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.deadlines import next_line
from tfprof.cli.commands.ui import has_display, holds_home

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

pytestmark = pytest.mark.one_engine


@pytest.fixture
def start():
    processes = []

    def start(*words, **extra):
        process = subprocess.Popen(
            [sys.executable, "-m", "tfprof", "ui", *map(str, words)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**extra),
        )  # fmt: skip
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is not a signal there")
def test_it_prints_its_address_serves_and_ends_with_one_line(start):
    process = start("--demo", "--no-browser")
    address = next_line(process).strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
    with httpx.Client(follow_redirects=True) as client:
        home = client.get(address)
        assert home.status_code == 200
        assert "token" not in str(home.url)
        site = client.get(f"{home.url}api/site?run=gpu").json()
        assert [run["name"] for run in site["runs"]] == ["resnet50", "input-bound", "gpu"]
        page = client.get(f"{home.url}api/page/kernel-stats?run=gpu").json()
        assert "synthetic" in str(page["blocks"])
        assert httpx.get(f"{home.url}api/site").status_code == 403
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest, errors) == (0, "", "note: tfprof ui has ended\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "nothing to open"),
        (["none"], 3, "none"),
        (["--demo", "--host", "0.0.0.0"], 2, "tfprof ui serves this machine only"),
        (["--demo", "--port", "99999"], 2, "--port 99999"),
        (["--demo", "--run", "x"], 2, "there are: resnet50"),
    ],
)
def test_what_it_refuses(call, words, code, message):
    done = call("ui", *words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_source_lines_of_the_working_folder_unless_it_holds_the_home(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    assert not holds_home(tmp_path / "me" / "work")
    assert holds_home(tmp_path / "me") and holds_home(tmp_path)

    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert holds_home(tmp_path)


def test_a_port_that_is_in_use(call):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = call("ui", "--demo", "--port", port)
    assert done.exit_code == 2
    assert f"port {port} of 127.0.0.1 cannot be used" in done.stderr
    assert "--port 0" in done.stderr


def test_without_its_packages(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    done = call("ui", "--demo")
    assert done.exit_code == 5
    assert "pip install 'tfprof[web]'" in done.stderr


def test_a_browser_is_opened_where_there_is_a_display(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert has_display({"DISPLAY": ":0"})
    assert has_display({"WAYLAND_DISPLAY": "wayland-0"})
    assert not has_display({})
    monkeypatch.setattr(sys, "platform", "darwin")
    assert has_display({})
    assert not has_display({"SSH_CONNECTION": "x"})
