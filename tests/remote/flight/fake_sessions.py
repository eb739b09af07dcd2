"""Continuous profiling without a program, and what tests of recorders have in common."""

import threading
import time
from pathlib import Path

import grpc

from tests.remote.flight.snapshots import snapshot
from tfprof.captures.read.xspace import read_xspace
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line

S = 1_000_000_000


class FakeSession:
    """Continuous profiling as TensorFlow's server does it; each snapshot has a step of 10 ms."""

    def __init__(self, is_on=False):
        self.is_on, self.calls = is_on, []
        self.began_ns = time.time_ns()
        self.n_snapshots = 0
        self.slow = threading.Event()
        self.hang, self.late, self.n_parts = 0.0, 0.0, 1
        self.gone = self.is_silent = self.is_always_slow = False

    def methods(self):
        return {
            "StartContinuousProfiling": self.start,
            "GetSnapshot": self.get,
            "StopContinuousProfiling": self.stop,
        }

    def start(self, data, context):
        self.calls.append("start")
        if self.is_on:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "A session is already running.")
        self.is_on, self.began_ns = True, time.time_ns()
        return b""

    def stop(self, data, context):
        self.calls.append("stop")
        if not self.is_on:
            context.abort(grpc.StatusCode.NOT_FOUND, "No continuous profiling session found.")
        self.is_on = False
        return b""

    def profile(self, data, context):
        self.is_on, self.began_ns = True, time.time_ns()
        time.sleep(0.05)
        return self.get(data, context)

    def get(self, data, context):
        self.calls.append("get")
        if self.hang:
            time.sleep(self.hang)
        if self.gone:
            context.abort(self.gone, "Socket closed")
        if not self.is_on:
            context.abort(grpc.StatusCode.NOT_FOUND, "No continuous profiling session found.")
        began, self.began_ns = self.began_ns, time.time_ns()
        time.sleep(self.late)
        took = 4 * S if self.slow.is_set() or self.is_always_slow else S / 100
        self.slow.clear()
        self.n_snapshots += 1
        steps = [event("train", 0, took, step_num=self.n_snapshots)]
        if self.n_parts > 1:  # steps without time between them
            part = (self.began_ns - began) // self.n_parts
            steps = [
                event("train", part * each, part, step_num=self.n_snapshots * self.n_parts + each)
                for each in range(self.n_parts)
            ]
        if self.is_silent:
            self.n_snapshots, steps = self.n_snapshots - 1, [event("other", 0, 5)]
        # The step of 4 s reaches beyond the snapshot, which does not matter here.
        stop = max(self.began_ns, began + round(took))
        data = snapshot(host(line(*steps)), start_ns=began, stop_ns=stop)
        return pb.ProfileResponse(xspace=pb.XSpace.FromString(data)).SerializeToString()


def wait_for(holds):
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def step_numbers(saved):
    paths = sorted(Path(saved.folder).glob("*.xplane.pb"))
    assert [path.name for path in paths] == sorted(saved.files)
    return [read_xspace(p).plane("/host:CPU").stat("step_num").signed.tolist() for p in paths]
