import json

import pytest

from tests.cli.conftest import call  # noqa: F401
from tests.remote.conftest import BUSY, space
from tests.remote.recorded_answers import recorded
from tfprof.core.wire import messages
from tfprof.errors import UsageError
from tfprof.remote import monitor

FIGURES = messages.ProfilerServiceMonitorResult(
    response_type=messages.ProfilerServiceMonitorResult.UTIL_IDLE_STEP,
    device_idle_time_percent=25.0,
    matrix_unit_utilization_percent=40.0,
    step_time_ms_avg=2.0,
    step_time_ms_min=1.0,
    step_time_ms_max=3.0,
    infeed_percent_avg=5.0,
)


def filled(data, context):
    request = messages.MonitorRequest.FromString(data)
    kind = messages.ProfilerServiceMonitorResult.UTIL_ONLY + request.monitoring_level
    result = messages.ProfilerServiceMonitorResult.FromString(FIGURES.SerializeToString())
    result.response_type = min(kind, 3)
    return messages.MonitorResponse(data="a\nTPU", monitor_result=result).SerializeToString()


def test_a_runtime_that_fills_in_the_call(fake_server):
    server = fake_server(Monitor=filled)
    ((sample,),) = monitor(server.address, level=2, count=1, interval_seconds=0.05)
    assert (sample.source, sample.steps, sample.text) == ("monitor", None, "a TPU")
    assert (sample.matrix_unit_percent, sample.idle_percent) == (40.0, 25.0)
    assert (sample.step_ms_average, sample.input_percent) == (2.0, 5.0)
    ((sample,),) = monitor(server.address, level=1, count=1, interval_seconds=0.05)
    assert (sample.idle_percent, sample.step_ms_average) == (25.0, None)
    assert server.requests == []


@pytest.mark.parametrize("level", [1, 2])
def test_short_captures_where_it_does_not(fake_server, level):
    server = fake_server(recorded())
    looks = list(monitor(server.address, level=level, count=2, interval_seconds=0.05))
    assert [request.opts.host_tracer_level for request in server.requests] == [level, level]
    assert server.requests[0].opts.duration_ms == 25
    ((sample,), _) = looks
    # As `tfprof monitor --demo` says.
    assert (sample.source, sample.steps) == ("capture", 8)
    assert round(sample.step_ms_average, 3) == 47.091
    assert sample.input_percent is None if level == 1 else round(sample.input_percent, 1) == 91.8


def test_without_devices_threads_idle_as_the_tool_for_ops_says(fake_server):
    import tfprof

    answer = recorded()
    ((sample,),) = monitor(fake_server(answer).address, level=2, count=1, interval_seconds=0.05)
    run = tfprof.open_run(messages.ProfileResponse.FromString(answer).xspace.SerializeToString())
    rows = tfprof.tools.op_stats(run).table("ops_with_idle").to_rows()
    (idle,) = [row for row in rows if row["operation"] == "IDLE"]
    assert sample.idle_percent == pytest.approx(100 * idle["host_total_self_time_percent"])


def test_troubles_are_samples(fake_server, absent):
    idle = messages.ProfileResponse(empty_trace=True, xspace=space()).SerializeToString()
    servers = [fake_server(BUSY), fake_server(idle), fake_server(b"\x42\x02\x0a\x05")]
    addresses = [absent, *(server.address for server in servers)]
    (samples,) = monitor(addresses, count=1, interval_seconds=0.05)
    texts = ["connection refused", "another profiling session", "nothing was recorded", "damaged"]
    for sample, text in zip(samples, texts, strict=True):
        assert text in sample.trouble


def test_a_caller_that_leaves_is_not_kept_by_a_hanging_server(mute):
    import threading
    import time

    from tfprof.remote import top
    from tfprof.remote.service import Stop

    stop = Stop()
    threading.Timer(0.05, stop.now).start()
    start = time.monotonic()
    ((look,),) = top(mute, interval_seconds=0.05, stop=stop)
    assert look.sample.trouble == "stopped"
    assert time.monotonic() - start < 4  # a server may hang for 5 s
    assert not [each for each in threading.enumerate() if each.name.startswith("tfprof-monitor")]


def test_a_hanging_worker_delays_no_other(fake_server, mute):
    import time

    server = fake_server(Monitor=filled)
    start = time.monotonic()
    looks = list(monitor([mute, server.address], count=4, interval_seconds=0.1))
    assert time.monotonic() - start < 4  # each look at the first one takes 5 s
    assert ["no answer for" in hangs.trouble for hangs, _ in looks] == [True] * 4
    assert [well.matrix_unit_percent for _, well in looks] == [40.0] * 4


@pytest.mark.parametrize("given", [{"level": 3}, {"interval_seconds": 0}, {"count": 0}])
def test_wrong_arguments(given):
    with pytest.raises(UsageError, match="must be"):
        monitor("a:1", **given)


def test_the_command(call, fake_server):  # noqa: F811
    server = fake_server(recorded())
    words = ["--interval", "50ms", "--count", "2", "--level", "2"]
    result = call("monitor", server.address, *words)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0][10:] == (
        f"{server.address}  8 steps  47.09 ms (45.76 to 48.74)  input 91.8 %  idle 65.9 %"
    )
    rows = call("monitor", server.address, *words, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(row)["steps"] for row in rows] == [8, 8]


def test_the_command_where_some_or_none_answer(call, fake_server, absent):  # noqa: F811
    server = fake_server(Monitor=filled)
    words = ["--interval", "20ms", "--count", "1"]
    result = call("monitor", f"{server.address},{absent}", *words)
    assert result.exit_code == 1
    assert "matrix units 40.0 %  a TPU\n" in result.stdout
    assert f"{absent}  no figures: connection refused" in result.stdout
    assert call("monitor", absent, *words).exit_code == 3
    for_ever = call("monitor", absent, "--interval", "20ms")
    assert for_ever.exit_code == 3 and "3 times in a row" in for_ever.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["a:1", "--step", "3"], ["a:1", "--format", "csv"], ["a:1", "-o", "x.txt"],
        ["a:1", "--interval", "x"], ["--demo", "--level", "1"], ["--demo", "--format", "jsonl"],
    ],
)  # fmt: skip
def test_options_of_the_other_kind(call, words):  # noqa: F811
    result = call("monitor", *words)
    assert (result.exit_code, result.stdout) == (2, "")


def test_captured_runs_are_read_as_before(call):  # noqa: F811
    result = call("monitor", "--demo", "--format", "csv")
    assert result.exit_code == 0 and result.stdout.startswith("device_type,")
