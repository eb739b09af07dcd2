import json
import os
import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from tfprof.errors import InputError
from tfprof.files.hooked_processes import (
    STATE_FOLDER,
    HookedProcess,
    file_name,
    processes,
    stacks_of,
    start_ticks,
    write_process,
)

HOST = socket.gethostname()
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="real-time signals and /proc")


def own(**more):
    return HookedProcess(os.getpid(), HOST, ticks=start_ticks(os.getpid()), **more)


def program(text, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


WAITS = """
    import sys, threading
    from pathlib import Path
    from tfprof.capture.launched.state import State

    state = State(Path(sys.argv[1]), "jax", "a_run")

    def waits_for_a_line():
        print("ready", flush=True)
        return sys.stdin.readline().strip()

    word = waits_for_a_line()
    if word == "kill":
        import os
        os._exit(3)
    if word == "exec":
        import os
        os.execv(sys.executable, [sys.executable, "-c", "print('new', flush=True); input()"])
    state.remove()
"""


def test_what_is_written_is_read(tmp_path):
    process = own(rank=3, port=6009, framework="jax", argv=("train.py", "--a b"), run="r")
    path = write_process(tmp_path, process)
    assert path.name == file_name(HOST, os.getpid())
    assert processes(tmp_path) == (process,)
    assert process.is_here and process.is_alive and process.address == f"{HOST}:6009"
    assert str(process) == f"rank 3, process {os.getpid()} on {HOST}"


def test_the_log_folder_stands_for_its_state_folder(tmp_path):
    (tmp_path / STATE_FOLDER).mkdir()
    write_process(tmp_path / STATE_FOLDER, own())
    assert processes(tmp_path) == processes(tmp_path / STATE_FOLDER) != ()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b"{}", b'{"pid": 1}',
        b'{"pid": true, "host": "a"}', b'{"pid": -4, "host": "a"}', b'{"pid": 1, "host": 2}',
        b'{"pid": 1, "host": "a", "port": "x"}', b'{"pid": 1, "host": "a", "argv": 5}',
        b'{"pid": 1, "host": "a", "argv": [5]}', b'{"pid": 1, "host": "a", "started_at": "x"}',
    ],
)  # fmt: skip
def test_damaged_and_foreign_files_are_left_out(tmp_path, content):
    (tmp_path / "foreign.json").write_bytes(content)
    (tmp_path / "torn.tmp").write_bytes(content)
    write_process(tmp_path, own())
    assert [each.pid for each in processes(tmp_path)] == [os.getpid()]


def test_fields_of_later_releases_are_left_out(tmp_path):
    text = json.dumps({"pid": 5, "host": "elsewhere", "a_later_field": [1]})
    (tmp_path / "elsewhere-5.json").write_text(text)
    (process,) = processes(tmp_path)
    assert process.is_alive is None and not process.is_here and process.address == ""
    with pytest.raises(InputError, match="no file is named"):
        stacks_of(process)


def test_ranks_come_first_and_in_order(tmp_path):
    for pid, rank in ((1, None), (2, 10), (3, 2)):
        write_process(tmp_path, HookedProcess(pid, "elsewhere", rank))
    assert [each.pid for each in processes(tmp_path)] == [3, 2, 1]


def test_a_folder_that_is_not_there_is_an_error_with_a_remedy(tmp_path):
    with pytest.raises(InputError, match="Give the state folder"):
        processes(tmp_path / "none")


@on_linux
def test_stacks_name_the_waiting_line_and_the_file_goes_at_the_end(tmp_path):
    with program(WAITS, str(tmp_path)) as child:
        assert child.stdout.readline() == "ready\n"
        (process,) = processes(tmp_path)
        assert process.pid == child.pid and process.is_alive and process.run == "a_run"
        for _ in range(2):
            text = stacks_of(process, 20)
            assert text.count("waits_for_a_line") == 1
        child.communicate("\n", timeout=30)
    assert list(tmp_path.iterdir()) == []


@on_linux
def test_a_killed_process_leaves_its_file_and_is_dead(tmp_path):
    with program(WAITS, str(tmp_path)) as child:
        child.communicate("kill\n", timeout=30)
    (process,) = processes(tmp_path)
    assert process.is_alive is False
    with pytest.raises(InputError, match="is gone"):
        stacks_of(process)


@on_linux
def test_a_program_that_replaced_itself_is_not_killed_by_the_signal(tmp_path):
    with program(WAITS, str(tmp_path)) as child:
        assert child.stdout.readline() == "ready\n"
        (process,) = processes(tmp_path)
        child.stdin.write("exec\n")
        child.stdin.flush()
        assert child.stdout.readline() == "new\n"
        with pytest.raises(InputError, match=r"os\.exec"):
            stacks_of(process)
        child.communicate("\n", timeout=30)
        assert child.returncode == 0


@on_linux
def test_a_file_with_another_signal_ends_no_process(tmp_path):
    text = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.default_int_handler); "
        "print('ready', flush=True); time.sleep(30)"
    )
    with program(text) as child:
        assert child.stdout.readline() == "ready\n"
        (tmp_path / "any.stacks").touch()
        process = HookedProcess(
            child.pid, HOST, stacks=str(tmp_path / "any.stacks"), signal=int(signal.SIGTERM),
            ticks=start_ticks(child.pid),
        )  # fmt: skip
        with pytest.raises(InputError, match="is not one for stacks"):
            stacks_of(process)
        assert child.poll() is None
        child.kill()


@on_linux
def test_a_process_that_is_stopped_gives_no_stacks_in_time(tmp_path):
    with program(WAITS, str(tmp_path)) as child:
        assert child.stdout.readline() == "ready\n"
        (process,) = processes(tmp_path)
        os.kill(child.pid, signal.SIGSTOP)
        with pytest.raises(InputError, match=r"wrote nothing within 0\.1 s"):
            stacks_of(process, 0.1)
        os.kill(child.pid, signal.SIGCONT)
        child.communicate("\n", timeout=30)


def test_a_file_that_cannot_be_written_leaves_no_part(tmp_path):
    taken = tmp_path / file_name(own().host, own().pid)
    taken.mkdir()
    with pytest.raises(OSError):
        write_process(tmp_path, own())
    assert list(tmp_path.iterdir()) == [taken]
