"""Keys that are pressed at a terminal."""

import os
import subprocess
import sys
import time

import pytest

from tests.deadlines import next_line
from tfprof.cli.keys import keys

PROGRAM = """
import fcntl, termios, threading
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from tfprof.cli.keys import keys
got, both = [], threading.Event()
before = termios.tcgetattr(0)
def pressed(key):
    got.append(key)
    if len(got) == 2:
        both.set()
with keys(pressed) as are_read:
    print(are_read, flush=True)
    both.wait(20)
print(got, termios.tcgetattr(0) == before, flush=True)
"""


@pytest.mark.one_engine
@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize("is_continued", [False, True])
def test_at_a_terminal(is_continued):
    """After Ctrl-Z and ``fg``, too: shells leave the terminal as it is for lines."""
    import termios

    ours, theirs = os.openpty()
    of_lines = termios.tcgetattr(theirs)
    try:
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=theirs, stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process:  # fmt: skip
            assert next_line(process) == b"True\n"
            if is_continued:
                termios.tcsetattr(theirs, termios.TCSANOW, of_lines)
                end = time.monotonic() + 20
                while termios.tcgetattr(theirs) == of_lines and time.monotonic() < end:
                    time.sleep(0.01)
            os.write(ours, b"sq")
            assert process.stdout.read() == b"['s', 'q'] True\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with keys(lambda key: None) as are_read:
        assert not are_read
