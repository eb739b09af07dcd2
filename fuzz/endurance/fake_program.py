"""A program under continuous profiling whose time goes by faster: each snapshot has 8 s of it.

It prints its address, and ends when nobody holds its standard input any more.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import grpc

from fuzz.endurance.workloads import _EACH_SLOW, SNAPSHOT_SECONDS
from tests.remote.conftest import FakeServer
from tests.remote.flight.snapshots import S, snapshot
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import event, host, line

STEPS = 40
"""Of a snapshot: 0.2 s each, with ten ops."""


class FastProgram:
    """Continuous profiling of a program with a clock of its own."""

    def __init__(self) -> None:
        self._is_on = False
        self._number, self._now_ns = 0, time.time_ns()

    def start(self, data: bytes, context: Any) -> bytes:
        """Begin a session."""
        self._is_on = True
        return b""

    def stop(self, data: bytes, context: Any) -> bytes:
        """End it."""
        self._is_on = False
        return b""

    def get(self, data: bytes, context: Any) -> bytes:
        """The next 8 s."""
        if not self._is_on:
            context.abort(grpc.StatusCode.NOT_FOUND, "No continuous profiling session found.")
        self._number += 1
        begin, each = self._now_ns, SNAPSHOT_SECONDS * S // STEPS
        self._now_ns += SNAPSHOT_SECONDS * S
        slow = self._number % STEPS if self._number % _EACH_SLOW == 0 else -1
        events = []
        for at in range(STEPS):
            took = each if at == slow else each // 5
            number = self._number * STEPS + at
            events.append(event("train", at * each, took, step_num=number, _r=1))
            events += [
                event(f"layer_{op}/MatMul:MatMul", at * each + op * took // 10, took // 10)
                for op in range(10)
            ]
        made = snapshot(host(line(*events)), start_ns=begin, stop_ns=self._now_ns)
        return bytes(pb.ProfileResponse(xspace=pb.XSpace.FromString(made)).SerializeToString())


if __name__ == "__main__":
    program = FastProgram()
    server = FakeServer(
        StartContinuousProfiling=program.start, GetSnapshot=program.get,
        StopContinuousProfiling=program.stop,
    )  # fmt: skip
    print(server.address, flush=True)
    sys.stdin.read()
    server.close()
