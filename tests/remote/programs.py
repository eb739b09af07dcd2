"""Real programs with profiler servers, in processes of their own."""

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deadlines import SECONDS, at_most, next_line

PROGRAM = """
import sys, threading, time
import tensorflow as tf

tf.profiler.experimental.server.start(int(sys.argv[1]))
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()

@tf.function
def train(x):
    return tf.linalg.matmul(x, x) * 0.01

x = train(tf.ones((64, 64)))
print("ready", flush=True)
step = 0
while not stop.is_set():
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        x = train(x)
    step += 1
    time.sleep(0.002)
"""


QUIET = {
    "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0",
}  # fmt: skip
NURSERY = Path(__file__).with_name("nursery.py")


class Program:
    """A program with a profiler server on the port of its first argument."""

    def __init__(self, program=PROGRAM, *, has_tensorflow=True):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = free.getsockname()[1]
        self.address = f"localhost:{self.port}"
        arguments = program, str(self.port)
        self.process = Forked(*arguments) if has_tensorflow else _started(*arguments)

    def wait_until_ready(self):
        assert next_line(self.process) == b"ready\n"

    def end(self):
        self.process.kill()
        self.process.communicate()


def _started(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **QUIET},
    )  # fmt: skip


class Forked:
    """A process that has TensorFlow from the start; what tests need of ``subprocess.Popen``.

    Args:
        program: Its code.
        arguments: Its arguments.
    """

    def __init__(self, program, *arguments):
        stdin, its_input = os.pipe()
        its_output, stdout = os.pipe()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        asked = json.dumps([program, *arguments]).encode()
        calls = nursery()
        socket.send_fds(calls, [asked], [stdin, stdout, self._stderr.fileno()])
        os.close(stdin)
        os.close(stdout)
        self.pid = int(calls.recv(32))
        self.stdin, self.stdout = os.fdopen(its_input, "wb"), os.fdopen(its_output, "rb")

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)

    def communicate(self, seconds=SECONDS):
        """Wait until it ends; what it has written, also to stderr."""
        if self.stdout.closed:
            return b"", b""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        with self.stdout, self._stderr, at_most(self, seconds):
            said = self.stdout.read()
            self._stderr.seek(0)
            return said, self._stderr.read()


@functools.cache
def nursery():
    """Where programs come from; it begins with its import in the background."""
    calls, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, str(NURSERY), str(theirs.fileno())], pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **QUIET, "PYTHONPATH": str(NURSERY.parents[2])},
    )  # fmt: skip
    theirs.close()

    def end():
        calls.close()
        process.wait()

    atexit.register(end)
    return calls
