"""A capture of a JAX program, whose profiler server is the same."""

import pytest

import tfprof
from tests.remote.programs import Program
from tfprof.remote import capture

PROGRAM = """
import sys, threading, time
import jax

jax.profiler.start_server(int(sys.argv[1]))
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
train = jax.jit(lambda x: x @ x * 0.01)
x = train(jax.numpy.ones((64, 64))).block_until_ready()
print("ready", flush=True)
while not stop.is_set():
    x = train(x).block_until_ready()
    time.sleep(0.002)
"""


@pytest.mark.jax
@pytest.mark.one_engine
def test_a_program_of_jax(tmp_path):
    program = Program(PROGRAM, has_tensorflow=False)
    try:
        program.wait_until_ready()
        done = capture(program.address, 0.3, tmp_path)
    finally:
        program.end()
    assert done.is_complete
    assert "dot_general" in str(tfprof.tools.op_stats(tfprof.open_run(tmp_path)).to_dict())
