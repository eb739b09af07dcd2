"""Programs with continuous profiling, whose snapshots hold what a test says."""

import threading
import time

from tests.remote.flight.snapshots import snapshot
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line

MS = 1_000_000


class Fake:
    """A program with continuous profiling; ``works`` says what its snapshots hold."""

    def __init__(self):
        self.works, self.step, self.began_ns = "steps", 0, time.time_ns()
        self.over = threading.Event()

    def methods(self):
        return {
            "StartContinuousProfiling": self.start, "GetSnapshot": self.get,
            "StopContinuousProfiling": lambda data, context: b"",
        }  # fmt: skip

    def start(self, data, context):
        self.began_ns = time.time_ns()
        return b""

    def get(self, data, context):
        if self.works == "silent":
            self.over.wait(10)
        began, self.began_ns = self.began_ns, time.time_ns()
        events = []
        if self.works == "steps":
            for at in range(3):
                self.step += 1
                events.append(event("train", at * MS, MS, step_num=self.step))
        elif self.works == "ops":
            events.append(event("MatMul", 0, MS))
        data = snapshot(host(line(*events)), start_ns=began, stop_ns=self.began_ns)
        return pb.ProfileResponse(xspace=pb.XSpace.FromString(data)).SerializeToString()
