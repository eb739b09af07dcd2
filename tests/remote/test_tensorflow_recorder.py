"""The recorder, beside a real program of TensorFlow, and in one."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import tfprof
from tests.deadlines import at_most, next_line
from tests.remote.programs import PROGRAM, Forked, Program
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.read.xspace import read_xspace
from tfprof.errors import InputError
from tfprof.remote import capture
from tfprof.remote.flight import FlightRecorder, sessions
from tfprof.remote.flight.step_range import StepRange

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.one_engine,
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
]

SLEEPS = PROGRAM.replace(
    "        x = train(x)\n",
    "        x = train(x)\n"
    "        if slow.is_set():\n"
    "            slow.clear()\n"
    "            print(step, flush=True)\n"
    "            time.sleep(0.8)\n",
).replace(
    "stop = threading.Event()\n",
    "stop, slow = threading.Event(), threading.Event()\n"
    "import signal\n"
    "signal.signal(signal.SIGUSR2, lambda *_: slow.set())\n",
)

EACH_40TH_SLEEPS = PROGRAM.replace(
    'tf.profiler.experimental.Trace("train", step_num=step, _r=1)', "tfprof.capture.step(step)"
).replace(
    "        x = train(x)\n",
    "        x = train(x)\n"
    "        if step % 40 == 39:\n"
    "            time.sleep(0.15)\n",
).replace("import tensorflow as tf\n", "import tensorflow as tf\nimport tfprof\n")  # fmt: skip

IN_PROCESS = """
import re, sys, time, urllib.request
import tensorflow as tf
import tfprof

x = tf.ones((64, 64))
with tfprof.capture.Recorder(sys.argv[1], keep=30, interval=0.3, metrics=0) as recorder:
    for number in range(400):
        with tfprof.capture.step(number):
            x = tf.linalg.matmul(x, x) * 0.01
        if number == 100:
            assert recorder.save("asked").folder == recorder.runs[0].folder
            text = urllib.request.urlopen(recorder.metrics_url, timeout=10).read().decode()
            (steps,) = re.findall('_seconds_count{.*} (.*)', text)
            assert "tfprof_runs_total 1" in text and 90 < int(steps) <= 101, text
            assert "cpu_seconds" not in text  # which is the program's
    raise ValueError("a loss of nan")
"""


@pytest.fixture(scope="module")
def program():
    started = Program(SLEEPS)
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.end()


@pytest.fixture
def command(program, tmp_path):
    """Starts ``tfprof record`` and waits until it records."""
    started = []

    def start(*more):
        arguments = ["record", program.address, "--logdir", str(tmp_path), "--interval", "300ms",
                     "--overhead-check", "0s", *more]  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-m", "tfprof", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        with at_most(process):
            assert "the last 60s are kept" in process.stderr.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def steps_of(run):
    (row,) = tfprof.tools.monitor(run).table().to_rows()
    return row["steps"]


@pytest.fixture(autouse=True)
def short_patience(monkeypatch):
    monkeypatch.setattr(sessions, "LIVING_SECONDS", 0.3)


def test_a_step_that_sleeps(program, tmp_path):
    recorder = FlightRecorder(
        program.address, tmp_path, when="step_time > 500ms", interval_seconds=0.3, count=1,
        after_seconds=0.3, for_seconds=20,
    )  # fmt: skip
    with recorder:
        while recorder.observed[program.address].n_steps < 50:
            time.sleep(0.05)
        program.process.send_signal(signal.SIGUSR2)
        slept = int(next_line(program.process))
        (saved,) = recorder.events()
    told = list(map(int, re.findall(r"\d+", saved.reason.split(" took")[0].split(" has")[0])))
    assert told[0] <= slept <= told[-1] or ("from" in saved.reason and told[0] <= slept)
    run = tfprof.open_run(tmp_path)
    assert steps_of(run) > 50
    times = run.hosts[0].space.plane("Task Environment").own_stats()
    lasted = (times["profile_stop_time"] - times["profile_start_time"]) / 1e9
    assert lasted == pytest.approx(saved.seconds, abs=0.1)
    # One line of each thread, with events from the start to the end.
    plane = run.hosts[0].space.plane("/host:CPU")
    assert len(set(plane.lines.ids.tolist())) == len(plane.lines)
    starts = plane.starts_ps(0)
    assert starts.min() < 0.3e12 and starts.max() > (lasted - 0.5) * 1e12
    marks = plane.stat("step_num")
    numbers = sorted(marks.signed[marks.present].tolist())
    assert len(set(numbers)) == len(numbers) and len(numbers) > 0.5 * (numbers[-1] - numbers[0])
    assert recorder.observed[program.address].percent > 80
    done = capture(program.address, 0.05, tmp_path / "later", retries=2)  # the session is free
    assert done.is_complete


def test_steps_that_snapshots_cut_are_known(tmp_path):
    """Each slow step is reported once with its time, and has its mark in a run."""
    planting, runs, planted = Program(EACH_40TH_SLEEPS), [], []
    try:
        planting.wait_until_ready()
        with FlightRecorder(
            planting.address, tmp_path, when="step_time > 140ms", interval_seconds=0.2,
            cooldown_seconds=1, for_seconds=40,
        ) as recorder:  # fmt: skip
            for saved in recorder.events():
                runs.append(saved)
                told = [held for run in runs for held in run.steps if not held.step.is_open]
                planted = sorted({held.step.first for held in told if held.step.first % 40 == 39})
                if len(planted) > 5 and not all(held.step.is_whole for held in told):
                    break
    finally:
        planting.end()
    going_on = [held for run in runs for held in run.steps if held.step.is_open]
    missing = set(range(planted[0], planted[-1], 40)) - set(planted)
    assert len(planted) > 5 and len(missing) <= len(going_on)
    assert len({held.step.first for held in told}) == len(told)
    assert all(held.step.seconds > 0.14 and held.step.is_exact for held in told)
    n_cut = 0
    for run in runs:
        plane = read_xspace(next(Path(run.folder).glob("*.xplane.pb"))).plane("/host:CPU")
        marks = plane.stat("step_num")
        seconds = dict(
            zip(marks.signed[marks.present], plane.events.durations_ps[marks.present] / 1e12,
                strict=True)
        )  # fmt: skip
        for held in run.steps:
            if held.has_mark:
                assert seconds[held.step.first] == pytest.approx(held.step.seconds, abs=0.001)
                n_cut += not held.step.is_whole
    assert n_cut


def test_a_run_of_certain_steps(program, tmp_path):
    """Exactly those, as tools find them, although snapshots are taken all the time."""
    with FlightRecorder(program.address, tmp_path / "look", interval_seconds=0.3) as recorder:
        while recorder.observed[program.address].n_steps < 20:
            time.sleep(0.02)
        recorder.save("where it is")
        saved = next(recorder.events())
    plane = read_xspace(next(Path(saved.folder).glob("*.xplane.pb"))).plane("/host:CPU")
    first = int(plane.stat("step_num").signed.max()) + 700
    with FlightRecorder(
        program.address, tmp_path / "steps", interval_seconds=0.5, for_seconds=60,
        steps=StepRange(first, first + 99),
    ) as recorder:  # fmt: skip
        (saved,) = recorder.events()
    assert not saved.notes and not saved.trouble
    run = tfprof.open_run(tmp_path / "steps")
    marks = run.hosts[0].space.plane("/host:CPU").stat("step_num")
    numbers = sorted(marks.signed[marks.present].tolist())
    assert numbers == list(range(first, first + 100)) and len(run_steps(run).names) == 100


def test_signals(program, command):
    process = command()
    n_steps = 0
    while not n_steps:  # it may have begun a moment ago
        process.send_signal(signal.SIGUSR1)
        assert "signal SIGUSR1" in next_line(process)
        said = next_line(process)
        if "next: tfprof overview" in said:
            n_steps = steps_of(tfprof.open_run(said.split()[-1]))
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0 and "% of one CPU core" in said


def test_metrics_while_it_records(program, command):
    process = command("--metrics", "0")
    said = ""
    with at_most(process):
        while "metrics: http://127.0.0.1:" not in said:
            said = process.stderr.readline()
            assert said
        steps = 0
        while steps < 20:
            with urllib.request.urlopen(said.split()[-1], timeout=10) as answer:
                text = answer.read().decode()
            counted = re.search(rf'_count{{worker="{program.address}",kind="train"}} (\d+)', text)
            steps = int(counted[1]) if counted else 0
            time.sleep(0.05)
    process.send_signal(signal.SIGUSR1)
    next_line(process)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0 and "Traceback" not in said


def test_ctrl_c_twice(program, command, tmp_path):
    process = command()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert capture(program.address, 0.05, tmp_path, retries=0).is_complete


def test_a_killed_recorder(program, command, tmp_path):
    process = command()
    process.kill()
    process.communicate()
    with pytest.raises(InputError, match="another profiling session is active"):
        capture(program.address, 0.05, tmp_path, retries=0)
    with FlightRecorder(program.address, tmp_path, retries=0) as recorder:
        assert "a recorder that is gone" in recorder.remarks[0]
    assert capture(program.address, 0.05, tmp_path, retries=0).is_complete


def test_in_the_program(tmp_path):
    _, said = Forked(IN_PROCESS, str(tmp_path)).communicate()
    assert b"ValueError: a loss of nan: " in said, said
    runs = sorted((tmp_path / "plugins" / "profile").iterdir())
    assert len(runs) == 2
    assert steps_of(tfprof.open_run(runs[1])) > 200


def test_a_killed_program(program, tmp_path):
    with FlightRecorder(program.address, tmp_path, interval_seconds=0.1) as recorder:
        while recorder.observed[program.address].n_steps < 60:
            time.sleep(0.01)
        program.process.kill()
        (saved,) = recorder.events()
    assert "the program ended or was killed" in saved.reason
    assert steps_of(tfprof.open_run(tmp_path)) > 50
