"""Real processes: pipes, terminals and what gets imported."""

import errno
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from tfprof.cli.output import deliver_quietly
from tfprof.errors import InputError

from .conftest import environment

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
HEAVY = ("numpy", "google.protobuf", "rich", "tensorflow", "prompt_toolkit", "jinja2")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["op", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    program = (
        "import sys\nsys.argv = ['tfprof', *sys.argv[1:]]\n"
        "from tfprof.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, encoding="utf-8", env=environment(), check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"


def test_module_and_errors(process):
    assert process("--version").stdout.startswith("tfprof ")
    failed = process("op", "--graph_path", "no/such")
    assert (failed.returncode, failed.stdout) == (3, "")
    assert re.fullmatch(r"tfprof: error: no/such: [^\n]*\n", failed.stderr)


def test_no_terminal_means_text(process):
    done = process("op", "--demo")
    assert done.returncode == 0
    assert done.stdout.startswith("\nDoc:\n")
    assert "\x1b" not in done.stdout


def test_ascii_terminal_gets_ascii(process):
    done = process("demo", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "\\u" not in done.stdout


def bash(script):
    return subprocess.run(
        ["/bin/bash", "-c", script], capture_output=True, text=True, env=environment(), check=False
    )


@posix
def test_closed_pipe_is_quiet():
    done = bash(
        f"{sys.executable} -m tfprof scope --demo -max_depth 100 -order_by name | head -1; "
        'echo "${PIPESTATUS[0]}" >&2'
    )
    assert done.stderr == "0\n"


@posix
def test_another_pipe_that_breaks_is_an_error():
    def work():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(InputError, match="a pipe or a connection of this process is gone"):
        deliver_quietly(work)


@posix
def test_an_invalid_argument_is_not_taken_for_a_closed_pipe():
    def work():
        raise OSError(errno.EINVAL, "Invalid argument")

    with pytest.raises(OSError, match="Invalid argument"):
        deliver_quietly(work)


@posix
def test_a_working_folder_that_is_gone_is_named(tmp_path):
    done = bash(f"cd {tmp_path} && rmdir {tmp_path} && {sys.executable} -m tfprof ui")
    assert done.returncode == 3
    assert done.stderr == (
        "tfprof: error: the working folder: cannot be used: No such file or directory\n"
    )


@posix
def test_closed_stdout_is_an_error_without_traceback():
    done = bash(f"{sys.executable} -m tfprof op --demo >&-")
    assert done.returncode == 3
    assert done.stderr == ("tfprof: error: standard output is closed; open it, or give -o FILE\n")


@posix
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["op", "--help"]])
def test_help_into_a_closed_pipe_is_not_an_error(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tfprof", *arguments],
        stdout=writing, stderr=subprocess.PIPE, text=True, env=environment(), check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_a_pipe_may_be_named_as_the_file(process):
    named = process("export", "--demo", "--table", "steps", "-o", "/dev/stdout")
    assert (named.returncode, named.stderr) == (0, "")
    assert named.stdout == process("export", "--demo", "--table", "steps").stdout
    done = bash(
        f"{sys.executable} -m tfprof export --demo -o /dev/stdout | head -c 1; "
        'echo "${PIPESTATUS[0]}" >&2'
    )
    assert done.stderr == "0\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["op", "--demo"], ["--help"], ["op", "--help"]])
def test_full_disk_is_an_error_without_traceback(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tfprof", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("tfprof: error: standard output: cannot be written: No space")
    assert done.stderr.count("\n") == 1


def terminal(*arguments, **extra):
    """What a command writes to stdout at a pseudo-terminal; no pager waits for keys."""
    import pty

    extra = {"PAGER": "cat", **extra}

    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "tfprof", *arguments],
        stdout=follower, stderr=subprocess.DEVNULL, stdin=follower,
        env=environment(**{"TERM": "xterm-256color", **extra}),
    )  # fmt: skip
    os.close(follower)
    data = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            break
        if not chunk:
            break
        data += chunk
    os.close(leader)
    assert child.wait(30) == 0
    return data.decode()


@posix
def test_terminal_gets_a_coloured_table_of_limited_length():
    shown = terminal("scope", "--demo", COLUMNS="90")
    assert "\x1b[" in shown
    assert "16 of " in shown  # what 24 lines have room for
    assert "40 of " in terminal("scope", "--demo", COLUMNS="90", LINES="70")
    assert "12 of " in terminal("scope", "--demo", COLUMNS="90", LINES="5")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 90


@posix
def test_what_is_longer_than_the_terminal_goes_through_the_pager():
    rows = ("--demo", "--max_rows", "60")
    paged = terminal("scope", *rows, PAGER="head -n 3", COLUMNS="90").splitlines()
    assert len(paged) == 3
    assert len(terminal("scope", *rows, "--no-pager", PAGER="head -n 3").splitlines()) > 20
    assert len(terminal("scope", *rows, PAGER="head -n 3", TERM="dumb").splitlines()) > 20
    short = terminal("scope", "--demo", "--max_rows", "2", PAGER="false", COLUMNS="90")
    assert "2 of 6,667 rows" in short
    fits = terminal("scope", "--demo", PAGER="false", COLUMNS="90")
    assert "16 of 6,667 rows" in fits


@posix
@pytest.mark.parametrize(
    ("name", "extra", "says", "is_coloured"),
    [
        ("less", {}, "-R", True),
        ("less", {"LESS": None}, "-FRX", True),
        ("less", {"LESS": "-iFR"}, "-iFR", True),
        ("less", {"LESS": "-i"}, "-i", False),
        ("other", {}, "", True),
    ],
)
def test_a_pager_gets_colours_that_it_can_show(tmp_path, name, extra, says, is_coloured):
    pager = tmp_path / name
    pager.write_text('#!/bin/sh\necho "told: <$LESS>"\ncat\n')
    pager.chmod(0o755)
    around = {"COLUMNS": "90", "PAGER": str(pager), "LESS": "", **extra}
    around = {name: value for name, value in around.items() if value is not None}
    graph = tmp_path / "graph.pbtxt"
    graph.write_text("".join(f'node {{ name: "n{number}" op: "NoOp" }}' for number in range(60)))
    words = ("scope", "--graph_path", str(graph), "--max_rows", "60")
    shown = terminal(*words, **around)
    assert f"told: <{says}>" in shown
    assert ("\x1b[" in shown) is is_coloured
    if not is_coloured:
        assert "\x1b[" in terminal(*words, "--color=always", **around)


@posix
@pytest.mark.parametrize(
    ("arguments", "extra"),
    [(("op", "--demo"), {"NO_COLOR": "1"}), (("op", "--demo", "--color=never"), {})],
)
def test_terminal_without_colour(arguments, extra):
    shown = terminal(*arguments, COLUMNS="80", **extra)
    assert "\x1b" not in shown
    assert "op type" in shown


@posix
def test_names_can_not_steer_the_terminal(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text(r'node { name: "a\033[31mb\342\200\256c" op: "[red]NoOp\033]0;x\007" }')
    for chosen in ("table", "text", "csv", "json"):
        for view in ("op", "scope"):
            shown = terminal(
                view, "--graph_path", str(graph), "--format", chosen, "--color=never",
                "-select", "micros,op_types",
            )  # fmt: skip
            assert "\x1b" not in shown
            assert "\u202e" not in shown
    assert "[red]NoOp" in terminal("op", "--graph_path", str(graph), "--color=never")


def test_the_demo_names_its_files_in_full(tmp_path):
    deep = tmp_path.joinpath(*["a_folder_with_a_long_name"] * 4)
    deep.mkdir(parents=True)
    (deep / "tfprof").symlink_to(Path(tfprof.__file__).parent, target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-m", "tfprof", "demo"],
        env=environment(PYTHONPATH=str(deep)),
        cwd=deep,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"--graph_path {deep}/tfprof/demo/graph.pb.gz" in done.stdout
