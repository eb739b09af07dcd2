"""The memory of a program that listens on this machine."""

import os
import socket
import subprocess
import sys

import pytest

from tfprof.remote.addresses import Address
from tfprof.remote.flight.program_memory import ProgramMemory

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
    pytest.mark.one_engine,
]


def test_the_memory_of_a_killed_program_that_was_not_reaped_is_unknown():
    with socket.create_server(("127.0.0.1", 0)) as own:
        memory = ProgramMemory(Address("127.0.0.1", own.getsockname()[1]))
        assert memory.resident_bytes() > 1 << 20
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program:
        memory.process = program.pid
        assert memory.resident_bytes() > 0
        program.kill()
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        assert memory.resident_bytes() is None
