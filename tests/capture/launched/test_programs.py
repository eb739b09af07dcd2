"""Programs without a line of tfprof: is the step right, and the number of steps?"""

import socket

import pytest

from tests.capture.launched import programs

HOST = socket.gethostname()
WINDOW = list(range(10, 30))


@pytest.mark.jax
@pytest.mark.slow
def test_the_step_of_jax_is_the_function_of_the_main_loop(run):
    ran = run(programs.JAX, overview=True)
    assert ran.code == 0
    assert ran.steps(HOST) == WINDOW
    assert "train 10" in ran.err and "train 29" in ran.err and "(cut)" not in ran.err
    assert "next: tfprof ui logs/plugins/profile/" in ran.err
    assert [path.name for path in ran.logdir.iterdir()] == ["plugins"]


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_marks_of_the_program_are_the_steps(run):
    ran = run(programs.OWN_MARKS, "--steps", "5:8")
    assert (ran.code, ran.steps()) == (0, [104, 105, 106, 107])


@pytest.mark.jax
@pytest.mark.slow
def test_processes_become_one_run_with_ranks_in_the_names(run):
    ran = run(programs.SPAWN)
    [folder] = ran.runs
    names = sorted(path.name for path in folder.glob("*.xplane.pb"))
    assert names == [f"{HOST}_rank{rank}.xplane.pb" for rank in range(3)]
    for rank in range(3):
        assert ran.steps(f"{HOST}_rank{rank}") == WINDOW


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_crash_passes_through_and_what_there_is_is_saved(run):
    ran = run(programs.CRASH)
    assert ran.code == 1 and "ValueError: step 20 fails" in ran.err
    assert ran.steps() == list(range(10, 21))


def test_a_program_without_a_framework_runs_as_it_is(run):
    ran = run(programs.NO_FRAMEWORK)
    assert (ran.code, ran.out) == (7, "out\n")
    assert ran.err.startswith("err\nnote: no process of the program imported TensorFlow or JAX")
    assert not ran.logdir.exists()


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_program_that_ends_before_the_window_names_what_to_give(run):
    short = programs.CRASH.replace("number == 20", "number == 6")
    ran = run(short)
    assert ran.runs == [] and "steps=3:6" in ran.err and "6 steps (calls of <lambda>)" in ran.err


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_one_file_of_each_process_of_a_launcher_without_ranks(run_hooked):
    launcher = """
        import subprocess, sys
        if len(sys.argv) == 1:
            workers = [subprocess.Popen([sys.executable, __file__, "worker"]) for _ in range(2)]
            sys.exit(sum(worker.wait() for worker in workers))
    """
    import textwrap

    ran = run_hooked(textwrap.dedent(launcher) + programs.JAX, "logs;steps=5:9")
    [folder] = ran.runs
    hosts = [path.name.removesuffix(".xplane.pb") for path in folder.glob("*.xplane.pb")]
    assert ran.code == 0 and len(hosts) == 2
    for host in hosts:
        assert host.startswith(f"{HOST}_") and ran.steps(host) == [5, 6, 7, 8, 9]


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.thorough
def test_the_step_of_tensorflow_is_the_function_of_the_main_loop(run):
    ran = run(programs.TENSORFLOW, "--steps", "11:20", overview=True)
    assert ran.code == 0 and len(ran.steps()) == 10
    assert "each call of train counts as one" in " ".join(ran.err.split()), ran.err


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_batches_of_keras_are_the_steps(run, backend):
    ran = run(programs.KERAS, "--steps", "15:25", KERAS_BACKEND=backend)
    assert (ran.code, ran.steps()) == (0, list(range(15, 26)))


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.thorough
def test_a_program_that_runs_op_by_op_is_captured_by_time(run):
    ran = run(programs.EAGER, "--after", "0.5s", "--for", "1s", overview=True)
    assert ran.code == 0 and len(ran.runs) == 1
    assert "no steps were found" in " ".join(ran.err.split()), ran.err


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_steps_after_a_long_set_up_are_captured_beside_it(run):
    set_up = "import time; w.block_until_ready(); time.sleep(9)\nfor i in range(40)"
    ran = run(programs.JAX.replace("for i in range(40)", set_up), "--run", "late")
    assert [folder.name for folder in ran.runs] == ["late", "late_start"]
    assert ran.steps(run=0) == WINDOW
    assert ran.steps(run=1) == []


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_one_call_that_has_all_steps_is_captured_by_time(run):
    ran = run("""
import jax, jax.numpy as jnp, time

train = jax.jit(lambda x: jnp.tanh(x @ x))
x = train(jnp.ones((100, 100)))
end = time.monotonic() + 15
while time.monotonic() < end:
    jnp.tanh(x @ x).block_until_ready()
    time.sleep(0.01)
""")  # fmt: skip
    assert [folder.name.rpartition("_")[2] for folder in ran.runs] == ["start"]


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.thorough
def test_sessions_of_tensorflow_1_are_captured(run):
    ran = run("""
import time
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
x = tf.compat.v1.placeholder(tf.float32, [50, 50])
y = tf.tanh(tf.matmul(x, x))
end = time.monotonic() + 3
with tf.compat.v1.Session() as session:
    while time.monotonic() < end:
        session.run(y, {x: [[1.0] * 50] * 50})
""", "--after", "0.5s", "--for", "1s")  # fmt: skip
    assert len(ran.steps()) > 3


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_program_of_tensorflow_records_itself_comes_first(run):
    program = """
import os
import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.Input([16]), keras.layers.Dense(8)])
model.compile("sgd", "mse")
x, y = np.ones([16, 16], "float32"), np.ones([16, 8], "float32")
for _ in range(14):
    model.train_on_batch(x, y)
tf.profiler.experimental.server.start(PORT)
tf.profiler.experimental.start("own")
for _ in range(4):
    model.train_on_batch(x, y)
tf.profiler.experimental.stop()
print(os.path.isdir("own/plugins"))
"""
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    ran = run(program.replace("PORT", str(port)), "--server")
    assert (ran.code, ran.out) == (0, "True\n")
    assert "calls tf.profiler.experimental.start itself" in ran.err
    assert 4 <= len(ran.steps()) <= 5
