"""Keys that are pressed at a terminal."""

import os
import subprocess
import sys

import pytest

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
def test_at_a_terminal():
    ours, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=theirs, stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process:  # fmt: skip
            assert process.stdout.readline() == b"True\n"
            os.write(ours, b"sq")
            assert process.stdout.read() == b"['s', 'q'] True\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with keys(lambda key: None) as are_read:
        assert not are_read
