"""What metrics count and serve: snapshots given by hand, and a program of TensorFlow."""

import re
import socket
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client.openmetrics import parser

from tests.deadlines import next_line
from tests.remote.flight.snapshots import MS, snapshot
from tests.remote.programs import PROGRAM, Forked
from tfprof.capture.recorder import _served
from tfprof.remote.flight import FlightRecorder, sessions
from tfprof.remote.flight.history import History, Window
from tfprof.remote.flight.observed import Observed
from tfprof.remote.flight.overhead import Overhead
from tfprof.remote.flight.snapshots import look
from tfprof.remote.flight.watched import WatchedSnapshot
from tfprof.remote.metrics import Metrics
from tfprof.remote.metrics import metrics as metrics_module
from tfprof.remote.metrics.families import State, families
from tfprof.remote.metrics.worker_totals import OTHER_KINDS
from tfprof.testing.xspace_builders import event, host, line

pytestmark = pytest.mark.one_engine


def watched(data, address="a:1", seen=None):
    seen = seen or look(data)
    _, steps = History().after(Window(seen.steps, 0, 10**9, 0.0))
    ended = tuple(step for step in steps if not step.is_open)
    return WatchedSnapshot(address, data, seen, ended, 0, 10**9)


def of_steps(*names, took_ms=10, **fields):
    steps = [event(name, n * 20 * MS, took_ms * MS, step_num=n) for n, name in enumerate(names)]
    return watched(snapshot(host(line(*steps))), **fields)


def observed(**fields):
    known = {
        "way": "continuous", "seconds": 10.0, "percent": 75.0, "paused_seconds": 0.0,
        "gone_seconds": 0.0, "n_snapshots": 3, "n_steps": 5, "n_unclear": 0, "n_bytes": 99,
        "interval_seconds": 8.0, "program_bytes": None, "program_bytes_before": None,
        "overhead": None, "trouble": "",
    }  # fmt: skip
    return Observed(**{**known, **fields})


class Reports:
    """A recorder that reports what it is given."""

    def __init__(self, **workers):
        self.observed = {f"{name}:1": each for name, each in workers.items()}


def scraped(metrics):
    """Values by sample and labels, without those of creation."""
    accept = {"Accept": "application/openmetrics-text"}
    request = urllib.request.Request(metrics.where, headers=accept)
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read().decode()
    return {
        (one.name, *one.labels.values()): one.value
        for family in parser.text_string_to_metric_families(text)
        for one in family.samples
        if not one.name.endswith("_created")
    }


def count(values, worker="a:1", kind="train"):
    return values.get(("tfprof_step_seconds_count", worker, kind))


@pytest.fixture
def metrics():
    made = Metrics(0, has_condition=True).of(Reports(a=observed()))
    with made:
        yield made


def test_steps_add_up_by_worker_and_kind(metrics):
    metrics.watch(of_steps("train 1", "train 2", "eval 3"))
    metrics.watch(of_steps("train 1", took_ms=400))
    metrics.watch(of_steps("train 1", address="b:1"))
    values = scraped(metrics)
    assert (count(values), count(values, kind="eval"), count(values, "b:1")) == (3, 1, 1)
    assert values["tfprof_step_seconds_sum", "a:1", "train"] == pytest.approx(0.42)
    assert values["tfprof_step_seconds_bucket", "a:1", "train", "0.1"] == 2
    assert values["tfprof_step_seconds_bucket", "a:1", "train", "0.5"] == 3
    assert values["tfprof_step_number", "a:1", "train"] == 0  # of the program that came back


def test_a_step_that_ends_before_it_began_lowers_no_sum(metrics):
    metrics.watch(of_steps("train"))
    metrics.watch(of_steps("train", took_ms=-400))
    values = scraped(metrics)
    assert count(values) == 1
    assert values["tfprof_step_seconds_sum", "a:1", "train"] == pytest.approx(0.01)


def test_names_without_end_are_counted_together(metrics):
    for number in range(30):
        metrics.watch(of_steps("k" * (number + 1)))
    values = scraped(metrics)
    kinds = {key[2] for key in values if key[0] == "tfprof_step_seconds_count"}
    assert len(kinds) == 21
    assert count(values, kind=OTHER_KINDS) == 10


def test_what_is_not_known_is_absent(metrics):
    metrics.watch(watched(b""))
    names = {key[0] for key in scraped(metrics)}
    unknown = (
        "program_memory",
        "peak_memory",
        "overhead",
        "share",
        "mfu",
        "step_seconds",
        "number",
    )
    assert not [name for name in names if any(word in name for word in unknown)]
    assert {"tfprof_observed_seconds_total", "tfprof_slow_steps_total"} <= names


def test_a_damaged_snapshot_counts_and_changes_nothing_else(metrics, caplog):
    metrics.watch(of_steps("train 1"))
    metrics.watch(watched(b"\xff" * 99))
    values = scraped(metrics)
    assert count(values) == 1
    assert values["tfprof_unreadable_snapshots_total", "a:1"] == 1
    assert not caplog.records


def test_the_page_names_all_metrics():
    state = State(0.0, {}, {}, True, 0, 0, None)
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text("utf-8")
    endings = {"counter": "_total", "info": "_info"}
    names = {one.name + endings.get(one.kind, "") for one in families(state)}
    assert names == set(re.findall(r"`(tfprof_\w+)`", page))


def test_the_report_of_the_recorder(metrics):
    cost = Overhead(1.5, 0.5, 100)
    seen = observed(overhead=cost, program_bytes=7, n_slow=2)
    metrics.of(Reports(a=seen, b=observed(trouble="x")))
    metrics.saved(type("Saved", (), {"folder": "run", "trouble": ""}))
    metrics.saved(type("Saved", (), {"folder": "", "trouble": "disk full"}))
    values = scraped(metrics)
    assert values["tfprof_overhead", "a:1"] == 0.015
    assert values["tfprof_overhead_plus_minus", "a:1"] == 0.005
    assert values["tfprof_program_memory_bytes", "a:1"] == 7
    assert values["tfprof_slow_steps_total", "a:1"] == 2
    assert values["tfprof_observed_seconds_total", "a:1"] == 7.5
    assert values["tfprof_unobserved_seconds_total", "a:1"] == 2.5
    assert (values["tfprof_recorded", "a:1"], values["tfprof_recorded", "b:1"]) == (1, 0)
    assert values["tfprof_runs_total",] == values["tfprof_failed_runs_total",] == 1
    assert values["tfprof_recorder_cpu_seconds_total",] > 0


def test_counters_never_fall_by_rounding_or_when_a_clock_is_set_back(metrics):
    samples = []
    for seconds in (10.0, 10.1, 10.3, 12.7, 9.0, 13.1):  # 7.5 s of them observed
        metrics.of(Reports(a=observed(seconds=seconds, percent=100 * 7.5 / seconds)))
        samples.append(scraped(metrics))
    for name in ("tfprof_observed_seconds_total", "tfprof_unobserved_seconds_total"):
        values = [each[name, "a:1"] for each in samples]
        assert values == sorted(values), name
    assert values[-1] == pytest.approx(5.6)


def examined(metrics, worker="a:1"):
    until = time.monotonic() + 20
    while ("tfprof_figures_timestamp_seconds", worker) not in (values := scraped(metrics)):
        assert time.monotonic() < until
        time.sleep(0.02)
    return values


def test_figures_rest_so_that_they_cost_little_and_workers_take_turns(metrics, monkeypatch):
    monkeypatch.setattr(metrics_module, "_REST", 0.0)
    metrics.of(Reports(a=observed(), b=observed()))
    seen = []
    figures_of = metrics_module.figures_of
    monkeypatch.setattr(
        metrics_module, "figures_of", lambda data: seen.append(data) or figures_of(data)
    )
    first, second = of_steps("train"), of_steps("train", "train", address="b:1")
    metrics.watch(first)
    examined(metrics)
    metrics.watch(second)
    examined(metrics, "b:1")
    metrics.watch(second)  # not its turn
    monkeypatch.setattr(metrics_module, "_REST", 1e9)
    metrics.watch(first)
    until = time.monotonic() + 20
    while len(seen) < 3:
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.05)
    metrics.watch(second)  # its turn, but figures rest
    assert seen == [first.data, second.data, first.data]


def test_a_snapshot_that_cannot_be_examined_is_logged_and_others_are(metrics, monkeypatch, caplog):
    figures_of = metrics_module.figures_of

    def fail(data):
        monkeypatch.setattr(metrics_module, "figures_of", figures_of)
        raise ZeroDivisionError("no time")

    monkeypatch.setattr(metrics_module, "figures_of", fail)
    monkeypatch.setattr(metrics_module, "_REST", 0.0)
    metrics.watch(of_steps("train"))
    until = time.monotonic() + 20
    while not caplog.records:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert "a snapshot of a:1 has no figures" in caplog.text
    time.sleep(0.05)
    metrics.watch(of_steps("train"))
    examined(metrics)


def test_a_program_goes_on_without_metrics_if_their_address_is_in_use(metrics, caplog):
    busy = Metrics(metrics.url.split("/")[2])
    with ExitStack() as ending:
        assert _served(busy, ending) is None
    assert "there are no metrics" in caplog.text and "cannot be used" in caplog.text


RESTARTED = PROGRAM.replace(
    'tf.profiler.experimental.Trace("train", step_num=step, _r=1)', "tfprof.capture.step(step)"
).replace("import tensorflow as tf\n", "import tensorflow as tf\nimport tfprof\n").replace(
    "    step += 1\n",
    "    step += 1\n    if step == 200: print('begun', flush=True)\n",
)  # fmt: skip


@pytest.mark.tensorflow
@pytest.mark.slow
def test_counters_go_on_when_a_program_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "LIVING_SECONDS", 0.3)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    address = f"localhost:{port}"
    program = Forked(RESTARTED, str(port))
    assert next_line(program) == b"ready\n"
    metrics = Metrics(0)
    recorder = FlightRecorder(
        address, tmp_path, interval_seconds=0.3, watch=metrics.watch, restart_seconds=60
    )
    samples = []
    try:
        with metrics.of(recorder), recorder:
            assert next_line(program) == b"begun\n"
            samples.append(examined(metrics, address))
            program.kill()
            program.communicate()
            until = time.monotonic() + 30
            while samples[-1]["tfprof_recorded", address]:
                assert time.monotonic() < until
                samples.append(scraped(metrics))
            assert ("tfprof_idle_share", address) not in samples[-1]
            program = Forked(RESTARTED, str(port))
            assert next_line(program) == b"ready\n"
            assert next_line(program) == b"begun\n"
            before = count(samples[-1], address)
            while count(samples[-1], address) < before + 50:
                assert time.monotonic() < until + 60
                samples.append(scraped(metrics))
    finally:
        program.kill()
        program.communicate()
    latest = samples[-1]
    for key in latest:
        if key[0].endswith(("_total", "_count", "_sum", "_bucket")):
            values = [each[key] for each in samples if key in each]
            assert values == sorted(values), key
    assert latest["tfprof_step_number", address, "train"] < count(latest, address)
    assert latest["tfprof_unobserved_seconds_total", address] > 0
