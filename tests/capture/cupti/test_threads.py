"""Threads as CUPTI and the profilers name them, in a program whose threads are known."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from tests.capture.cupti.stand_in import Cupti, call, kernel
from tfprof import tools
from tfprof.capture import session
from tfprof.capture.cupti.adapter import GpuSession
from tfprof.capture.cupti.threads import _FACTOR, _START, handle_of_hash, thread_of_line
from tfprof.capture.gpu_part import GpuPart

HANDLES = st.integers(0, (1 << 64) - 1)


def hash_of_handle(handle):
    """MurmurHash64A of a thread's handle, unsigned, as the C++ library has it."""

    def mixed(value):
        value = value * _FACTOR % (1 << 64)
        return value ^ (value >> 47)

    of_handle = mixed(handle) * _FACTOR % (1 << 64)
    last = mixed(_START ^ of_handle) * _FACTOR % (1 << 64)
    return last ^ (last >> 47)


@given(HANDLES)
def test_the_hash_of_a_thread_can_be_turned_back(handle):
    number = hash_of_handle(handle)
    assert handle_of_hash(number) == handle
    signed = number - (1 << 64) if number >= 1 << 63 else number
    assert handle_of_hash(signed) == handle


def test_lines_of_old_and_new_profilers():
    assert hash_of_handle(140448857574272) == 3038512267303302136  # TensorFlow 2.21's own numbers
    assert thread_of_line(1400783582598121770) == 140447135807168 & 0xFFFFFFFF
    assert thread_of_line(1705227968) == 1705227968
    assert thread_of_line(-5) == 0xFFFFFFFB  # the same 32 bits, signed


@pytest.mark.tensorflow
def test_launches_are_found_in_a_real_capture_of_the_host(tmp_path, monkeypatch):
    """Ops that launch a kernel while they run, on threads of TensorFlow and of Python."""
    tf = pytest.importorskip("tensorflow")
    made = []
    cupti = Cupti(made)
    monkeypatch.setattr(session, "GpuPart", lambda: GpuPart(GpuSession(lambda: cupti)))
    threads = set()

    def launch(name):
        thread = threading.get_ident()
        threads.add(thread)
        now, number = time.time_ns(), 1 + len(made)
        made.append(call(now, now + 100, number, thread=thread & 0xFFFFFFFF))
        made.append(kernel(now + 200, now + 1200, number, name=name.decode()))
        return np.float32(1)

    @tf.function
    def train():
        first = tf.numpy_function(launch, ["one"], tf.float32, name="layer/first")
        with tf.control_dependencies([first]):
            return tf.numpy_function(launch, ["two"], tf.float32, name="layer/second")

    train()
    made.clear()
    options = tfprof.capture.CaptureOptions(gpu_tracer="cupti")
    with tfprof.capture(tmp_path, options) as captured:
        for step in range(3):
            with tfprof.capture.step(step):
                train()
    assert threads != {threading.get_ident()}
    run = captured.run
    kernels = {row["kernel_name"]: row["op_name"] for row in tools.kernel_stats(run).to_rows()}
    assert kernels == {"one": "layer/first", "two": "layer/second"}
    [host] = run.hosts
    timeline, groups = host.timeline, host.groups()
    events = timeline.events_of_plane(timeline.planes_of_gpus()[0])
    stepped = [groups.names.get(int(group)) for group in groups.of_event[events]]
    assert sorted(stepped, key=str) == [f"train {step}" for step in range(3) for _ in "12"]
    found_by = timeline.stat("op_found_by")
    assert set(found_by.texts) == {"thread"}
