"""What runs for long: each takes a number of units, and calls ``look`` after each."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any, NamedTuple

Look = Callable[..., None]
"""Called with the number of finished units, and the process that does them, by default this one."""

SNAPSHOT_SECONDS = 8
DAY = 86_400 // SNAPSHOT_SECONDS
"""Snapshots of a day at the usual interval."""
_EACH_SLOW = 75
"""Every so many snapshots one has a slow step: ten minutes."""
_KEPT_RUNS = 10
_EACH_TRACED = 1000


def profiler_steps(count: int, look: Look) -> None:
    """Adds steps to one ``Profiler``, which keeps them all."""
    from tfprof import Profiler
    from tfprof.testing.builders import graph, op, run, stat

    names = [f"layer_{number}/op" for number in range(100)]
    profiler = Profiler(graph(*(op(name, "MatMul") for name in names)))
    for step in range(count):
        took = {name: stat(step % 7 + 1, start=1000 + 10 * at) for at, name in enumerate(names)}
        profiler.add_step(step, run(took))
        look(step + 1)


def session_runs(count: int, look: Look) -> None:
    """Runs of a TF1 session under ``ProfileContext``, one of a thousand traced."""
    import tensorflow as tf

    import tfprof

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        product = tf.matmul(v1.placeholder_with_default(tf.ones([2, 2]), [2, 2]), tf.ones([2, 2]))
        with tfprof.ProfileContext(
            tempfile.mkdtemp(), trace_steps=range(0, count, _EACH_TRACED), dump_steps=[]
        ):
            for number in range(count):
                session.run(product)
                look(number + 1)


def recorder_day(count: int, look: Look) -> None:
    """A flight recorder, snapshot by snapshot, against a server in a process of its own."""
    from tfprof.remote.flight import FlightRecorder
    from tfprof.remote.flight.limits import Limits

    with (
        subprocess.Popen(
            [sys.executable, "-m", "fuzz.endurance.fake_program"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as server,
        tempfile.TemporaryDirectory() as logs,
    ):  # fmt: skip
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        seen, all_seen = 0, threading.Event()

        def count_one(_: Any) -> None:
            nonlocal seen
            seen += 1
            look(seen)
            if seen >= count:
                all_seen.set()

        with FlightRecorder(
            address, logs, when="step_time > 3 * median", interval_seconds=0.05, most_runs=None,
            cooldown_seconds=0.0, retain=Limits(runs=_KEPT_RUNS), watch=count_one,
        ) as recorder:  # fmt: skip

            def stop() -> None:
                all_seen.wait()
                recorder.stop()

            waiter = threading.Thread(target=stop)
            waiter.start()
            for _ in recorder.events():
                pass
            waiter.join()
        server.kill()


def opens(count: int, look: Look) -> None:
    """Opens captures, and asks every tool about each."""
    from tfprof import tools
    from tfprof.captures.all_tools import TABLE_TOOLS
    from tfprof.demo import demo_capture
    from tfprof.errors import TfprofError

    for number, name in enumerate(islice(cycle(("input-bound", "gpu")), count)):
        run = tools.open_run(demo_capture(name))
        for tool in TABLE_TOOLS:
            with contextlib.suppress(TfprofError):
                getattr(tools, tool.name.replace("-", "_"))(run).to_dict()
        look(number + 1)


def pages(count: int, look: Look) -> None:
    """Pages of one ``tfprof ui``, in turns, each with a parameter that no cache has seen."""
    import json

    command = [sys.executable, "-m", "tfprof", "ui", "--demo", "--no-browser", "--no-cache"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, cwd=os.environ["TMPDIR"]) as server:  # fmt: skip
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.search(r"(http://\S+)/\?token=(\S+)", line)
        assert found is not None, line
        home, cookies = found[1], urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(cookies)

        def get(path: str) -> bytes:
            try:
                with opener.open(f"{home}{path}", timeout=120) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:  # such a page has nothing of this run
                return error.read()

        get(f"/?token={found[2]}")
        site = json.loads(get("/api/site"))
        of_runs = [
            (run["name"], page["id"])
            for run in site["runs"]
            for page in json.loads(get(f"/api/site?run={run['name']}"))["pages"]
        ]
        for number, (run, page) in enumerate(islice(cycle(of_runs), count)):
            get(f"/api/page/{page}?run={run}&find={number}")
            look(number + 1, server.pid)
        server.terminate()


class Workload(NamedTuple):
    """A long run.

    Attributes:
        title: What it is about.
        unit: What is counted.
        n_units: How many of them.
        run: Does them.
        keeps: Whether each must be kept.
    """

    title: str
    unit: str
    n_units: int
    run: Callable[[int, Look], None]
    keeps: bool = False


WORKLOADS = {
    "steps": Workload("Profiler.add_step", "step", 10_000, profiler_steps, keeps=True),
    "sessions": Workload("Session.run under ProfileContext", "run", 100_000, session_runs),
    "recorder": Workload("tfprof record, a day", "snapshot", DAY, recorder_day),
    "opens": Workload("open a capture, all tools", "open", 1000, opens),
    # After a third of them, the 32 MiB of documents that the server keeps are full.
    "pages": Workload("pages of one tfprof ui", "page", 16_000, pages),
}
