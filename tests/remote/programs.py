"""Real programs with profiler servers, in processes of their own."""

import os
import socket
import subprocess
import sys

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


class Program:
    """A program with a profiler server on the port of its first argument."""

    def __init__(self, program=PROGRAM):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = free.getsockname()[1]
        self.address = f"localhost:{self.port}"
        quiet = {
            "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **quiet},
        )  # fmt: skip

    def wait_until_ready(self):
        assert self.process.stdout.readline() == b"ready\n"

    def end(self):
        self.process.kill()
        self.process.communicate()
