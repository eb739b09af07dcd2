"""Profiler servers that ``tfprof.capture.serve`` starts, in processes of their own."""

import socket
import sys

import pytest

import tfprof
from tests.deadlines import next_line
from tests.remote.programs import Program
from tfprof.errors import MissingDependencyError, UsageError
from tfprof.remote import capture

TENSORFLOW = """
import logging, sys, threading
logging.basicConfig(stream=sys.stdout, format="%(message)s")
import tensorflow as tf
import tfprof

taken = int(sys.argv[1])
import socket
blocker = socket.create_server(("", taken))

def refused(*arguments):
    try:
        tfprof.capture.serve(*arguments)
    except tfprof.TfprofError as error:
        print(type(error).__name__, error)

refused(taken)
with tfprof.capture.serve(0) as server:
    print(server.port, server.can_stop, server.address)
refused(0)
try:
    server.stop()
except tfprof.UsageError as error:
    print(error)
print("ready", flush=True)
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
x = tf.ones((64, 64))
while not stop.wait(0.002):
    x = x @ x * 0.01
"""

JAX = """
import logging, sys, threading, time
logging.basicConfig(stream=sys.stdout, format="%(message)s")
import jax
import tfprof
from tfprof.remote.grpc_probe import probe

kinds = []
with tfprof.capture.serve(int(sys.argv[1])) as server:
    kinds.append(probe("localhost", server.port, 5).kind)
kinds.append(probe("localhost", server.port, 5).kind)
server.stop()
with tfprof.capture.serve(server.port) as server:
    print(server.can_stop, *kinds)
    print("ready", flush=True)
    x = jax.numpy.ones((64, 64))
    next_line = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), next_line.set()), daemon=True).start()
    while not next_line.is_set():
        x = (x @ x * 0.01).block_until_ready()
jax.profiler.start_server(server.port)
try:
    tfprof.capture.serve(0)
except tfprof.UsageError as error:
    print(error)
print("over", flush=True)
while True:
    x = (x @ x * 0.01).block_until_ready()
"""


def lines_until(program, last):
    lines = []
    while not lines or lines[-1] not in (last, ""):
        lines.append(next_line(program.process).decode().rstrip("\n"))
    return lines[:-1]


@pytest.mark.tensorflow
@pytest.mark.one_engine
def test_a_program_of_tensorflow(tmp_path):
    program = Program(TENSORFLOW)
    try:
        used, log, said, left, second, stop = lines_until(program, "ready")
        port, can_stop, address = said.split()
        done = capture(f"localhost:{port}", 0.2, tmp_path)
    finally:
        program.end()
    assert done.is_complete
    assert used.startswith(f"UsageError serve: port {program.port} cannot be taken (Address")
    assert "listens on all interfaces, without a password" in log
    assert log.endswith(f"tfprof capture {address} --logdir DIR")
    assert can_stop == "False" and address == f"{socket.gethostname()}:{port}"
    assert left == stop
    assert "cannot be stopped: TensorFlow has no way to" in stop
    assert f"TensorFlow on port {port} runs in this program already" in second


@pytest.mark.jax
@pytest.mark.one_engine
def test_a_program_of_jax(tmp_path):
    program = Program(JAX, has_tensorflow=False)
    try:
        assert lines_until(program, "ready")[-1] == "True profiler refused"
        assert capture(program.address, 0.3, tmp_path).is_complete
        program.process.stdin.write(b"\n")
        program.process.stdin.flush()
        (said,) = lines_until(program, "over")
        # Its own server now, as programs start it that do not know of us.
        assert capture(program.address, 0.2, tmp_path / "own").is_complete
    finally:
        program.end()
    assert "dot_general" in str(tfprof.tools.op_stats(tfprof.open_run(tmp_path / "own")).to_dict())
    assert "has started a server of JAX itself" in said


@pytest.mark.parametrize("port", [-1, 65536, "6009", 6009.0, None])
def test_invalid_ports(port):
    with pytest.raises(UsageError, match=r"serve: port=.* must be a whole number from 0 to 65535"):
        tfprof.capture.serve(port)


def test_frameworks_that_are_missing_or_unknown(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingDependencyError, match="pip install jax"):
        tfprof.capture.serve(0, "jax")
    with pytest.raises(UsageError, match="framework='torch' must be one of"):
        tfprof.capture.serve(0, "torch")
