"""Captures of two real programs through TensorFlow's own profiler server."""

import os
import signal
import threading
import time

import pytest

import tfprof
from tests.remote.programs import Program
from tfprof.errors import InputError
from tfprof.remote import CaptureOptions, capture, monitor, top

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.one_engine,
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
]


@pytest.fixture(scope="module")
def programs():
    started = [Program(), Program()]
    try:
        for program in started:
            program.wait_until_ready()
        yield started
    finally:
        for program in started:
            program.end()


class Session:
    """A capture in a thread; made when the server says that it is at it."""

    def __init__(self, program, tmp_path, seconds, **options):
        self.error = self.done = None
        self._thread = threading.Thread(
            target=self._capture, args=(program, tmp_path, seconds, options)
        )
        self._thread.start()
        until = time.monotonic() + 20
        while time.monotonic() < until and self._thread.is_alive():
            self._thread.join(0.05)  # a look is a session, too, which must not be in the way
            try:
                capture(program.address, 0.001, tmp_path / "other", retries=0)
            except InputError as error:
                if "another profiling session is active there" in str(error):
                    return
        raise AssertionError("no session was seen")

    def _capture(self, program, tmp_path, seconds, options):
        try:
            self.done = capture(program.address, seconds, tmp_path, **options)
        except InputError as error:
            self.error = str(error)

    def result(self):
        self._thread.join()
        return self.done


def test_two_workers(programs, tmp_path):
    addresses = [program.address for program in programs]
    options = CaptureOptions(host_tracer_level=2, python_tracer_level=1)
    start = time.monotonic()
    done = capture(addresses, 0.3, tmp_path, options)
    assert 0.3 <= time.monotonic() - start < 10  # 0.4 s where nothing else runs
    assert done.is_complete, done
    run = tfprof.open_run(tmp_path)
    assert len(run.hosts) == 2
    table = tfprof.tools.pod(run).table()
    assert len(table.rows) > 0
    ops = tfprof.tools.op_stats(run).to_dict()
    assert "MatMul" in str(ops)
    # The level of Python's tracer arrives, which TensorFlow's own client loses.
    assert b"$threading.py" in b"".join(path.read_bytes() for path in tmp_path.rglob("*.pb"))


def test_levels_are_the_requested_ones(programs, tmp_path):
    sizes = []
    for level in (0, 1, 2):
        options = CaptureOptions(host_tracer_level=level)
        try:
            (worker,) = capture(programs[0].address, 0.1, tmp_path, options, retries=0).workers
        except InputError as error:  # at level 0 there is nothing to record
            assert level == 0 and "nothing was recorded" in str(error)
            continue
        sizes.append(worker.n_bytes)
    assert sizes == sorted(sizes) and len(sizes) >= 2


@pytest.mark.parametrize("level", [1, 2])
def test_monitor(programs, level):
    addresses = [program.address for program in programs]
    (samples,) = monitor(addresses, level=level, interval_seconds=0.5, count=1)
    for sample in samples:
        assert (sample.trouble, sample.source) == ("", "capture")
        assert sample.steps > 0 and sample.step_ms_average > 0
        # The steps sleep, and no input was recorded: what they wait for is not known.
        assert sample.input_percent is None
        assert (sample.idle_percent is None) == (level == 1)


def test_top(programs):
    from tests.cli.screen import Screen

    addresses = ",".join(program.address for program in programs)
    shown = Screen("top", addresses, "--interval", "200ms", rows=24, columns=80)
    try:
        shown.wait_for("MatMul", *(f"OP of {program.address}" for program in programs))
        shown.type("\x03")
        assert shown.end() == 130
    finally:
        shown.close()
    (looks,) = top(addresses, interval_seconds=0.5, count=1)  # no session is left
    for look in looks:
        assert look.sample.trouble == ""
        # A step takes 2 ms of sleep and some work; the rate counts both, and all steps: the
        # average leaves out one that took unusually long, as on a busy machine.
        usual = 1000 / look.sample.step_ms_average
        assert 0 < look.steps_per_second <= min(500, 1.1 * usual)
        assert "MatMul" in [op.type for op in look.ops]


def test_the_server_writes_the_file(programs, tmp_path):
    done = capture(programs[1].address, 0.1, tmp_path, run="there", on_server=True)
    (path,) = tmp_path.rglob("*.xplane.pb")
    assert str(path) == done.workers[0].path
    assert len(tfprof.open_run(tmp_path).hosts) == 1


def test_the_server_cannot_write_the_file(programs, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="the server refused with INTERNAL"):
        capture(programs[1].address, 0.1, tmp_path / "file", run="there", on_server=True)


def test_another_session(programs, tmp_path):
    session = Session(programs[0], tmp_path, 0.4)
    second = capture(programs[0].address, 0.1, tmp_path / "second", retries=8)
    assert session.result().is_complete
    assert second.workers[0].attempts > 1


def test_hanging_and_killed(programs, tmp_path):
    hanging, killed = programs
    session = Session(hanging, tmp_path / "a", 1.0, answer_seconds=0.3)
    hanging.process.send_signal(signal.SIGSTOP)
    session.result()
    assert "no answer within 1.3 s. The program hangs" in session.error
    with pytest.raises(InputError, match="accepts the connection but says nothing"):
        capture(hanging.address, 0.1, tmp_path / "b", retries=1, connect_seconds=0.3)

    session = Session(killed, tmp_path / "c", 60)
    answers = top(killed.address, interval_seconds=0.05)
    (busy,) = next(answers)
    assert "another profiling session is active" in busy.sample.trouble
    killed.end()
    (gone,) = next(answers)
    assert "connection refused" in gone.sample.trouble or "was killed" in gone.sample.trouble
    answers.close()
    session.result()
    assert "was killed" in session.error or "connection refused" in session.error

    hanging.process.send_signal(signal.SIGCONT)
    done = capture([hanging.address, killed.address], 0.1, tmp_path / "d", retries=5)
    assert [worker.is_captured for worker in done.workers] == [True, False]
    assert "connection refused" in done.workers[1].trouble
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
