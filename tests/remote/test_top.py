import json
import os
import threading

import pytest

import tfprof
from tests.cli.conftest import call  # noqa: F401
from tests.remote.conftest import BUSY
from tests.remote.recorded_answers import recorded
from tfprof.cli.live_screen import LiveScreen
from tfprof.cli.top_view import HELP, Line, Settings, screen
from tfprof.remote import Look, OpTime, Sample, top
from tfprof.remote.ranking import steps_per_second
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

needs_a_terminal = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")


def op(name, self_ms, occurrences=1, where="host"):
    return OpTime(name, "MatMul", where, occurrences, self_ms, 25.0)


def look(address="a:1", ops=(), **figures):
    return Look(Sample(address, 0.0, **figures), ops=tuple(ops))


def texts(looks, settings=None, width=80, height=24, **options):
    lines = screen(looks, settings or Settings(), width=width, height=height, **options)
    return [line.text for line in lines]


def test_figures_of_the_recorded_program(fake_server):
    ((one,),) = top(fake_server(recorded()).address, interval_seconds=0.05, count=1)
    assert one.sample.steps == 8 and round(one.sample.step_ms_average, 2) == 47.09
    assert round(one.steps_per_second, 2) == 21.29  # steps of 47.09 ms, one after the other
    assert one.memory_bytes == 2421248  # as tfprof memory --demo says
    first = one.ops[0]
    assert (first.name, first.where) == ("Iterator::Root::MapAndBatch", "host")
    assert [each.self_ms for each in one.ops] == sorted((o.self_ms for o in one.ops), reverse=True)
    row = one.to_dict()
    assert row["address"] == one.sample.address and row["ops"][0]["name"] == first.name


@pytest.mark.parametrize(
    ("starts_ms", "rate"), [([], None), ([5], None), ([0, 10], 100.0), ([0, 10, 40], 50.0)]
)
def test_steps_per_second_counts_from_begin_to_begin(starts_ms, rate):
    steps = [
        event("train", start * 10**6, 4 * 10**6, step_num=number, _r=1)
        for number, start in enumerate(starts_ms)
    ]
    run = tfprof.open_run(xspace(host(line(*steps))))
    assert steps_per_second(run) == (None if rate is None else pytest.approx(rate))


def test_troubles_are_looks(fake_server, absent):
    ((busy, away),) = top([fake_server(BUSY).address, absent], interval_seconds=0.05, count=1)
    assert "another profiling session" in busy.sample.trouble and busy.ops == ()
    assert "connection refused" in away.sample.trouble


def test_no_line_is_wider_or_lower_than_the_screen():
    ops = [op(f"model/层/{'x' * n}", n, where="device") for n in range(60)]
    looks = [
        look("worker0.example:6009", ops, step_ms_average=12345.678, input_percent=99.9),
        look("b:2", ops),
        look("c:3", trouble="connection refused, nothing listens there. " * 3),
    ]
    from rich.cells import cell_len

    for width in (1, 20, 40, 80, 130, 300):
        for height in (1, 2, 5, 12, 24, 100):
            for settings in (Settings(), Settings(shows_help=True), Settings(is_paused=True)):
                lines = texts(looks, settings, width, height)
                assert len(lines) <= height
                assert max(map(cell_len, lines)) <= width
    assert max(map(len, HELP)) <= 80


def test_what_is_shown():
    looks = [
        look("a:1", [op("x", 3.0, 9), op("y", 5.0, 2)], step_ms_average=1.5, idle_percent=7.25)
    ]
    lines = texts(looks, width=80, height=None)
    assert lines[1].split() == ["WORKER", "STEPS/S", "STEP", "ms", "MIN", "MAX", "INPUT", "IDLE",
                                "MEMORY"]  # fmt: skip
    assert lines[2].split() == ["a:1", "-", "1.50", "-", "-", "-", "7.2", "%", "-"]
    assert [line.split()[0] for line in lines[4:]] == ["OP", "y", "x"]
    by_count = texts(looks, Settings(order="occurrences"), height=None)
    assert [line.split()[0] for line in by_count[5:]] == ["x", "y"]
    assert lines[5].split() == ["y", "MatMul", "host", "2", "5.00", "25.0", "%"]
    assert "AVG ms" in "\n".join(texts(looks, width=120))
    assert "waiting for the first capture" in texts([])[1]


def test_a_hostile_name_does_not_steer_the_terminal():
    lines = texts([look("a:1", [op("evil\x1b[2J\nname", 1.0)])])
    assert "\x1b" not in "".join(lines) and not any("\n" in line for line in lines)


def test_without_a_terminal_each_look_is_a_text(call, fake_server, absent):  # noqa: F811
    server = fake_server(recorded())
    words = ["--interval", "50ms", "--count", "2"]
    result = call("top", server.address, *words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("WORKER") == 2 and result.stdout.count("MapAndBatch") == 2
    assert "\x1b" not in result.stdout
    rows = call("top", server.address, *words, "--format", "jsonl").stdout.splitlines()
    names = json.loads(call("monitor", server.address, *words, "--format", "jsonl").stdout
                       .splitlines()[0])  # fmt: skip
    for row in map(json.loads, rows):
        assert row.keys() == names.keys() | {"steps_per_second", "memory_bytes", "ops"}
        assert row["steps"] == 8 and len(row["ops"]) == 10
    assert call("top", f"{server.address},{absent}", *words).exit_code == 1
    for_ever = call("top", absent, "--interval", "20ms")
    assert for_ever.exit_code == 3 and "3 times in a row" in for_ever.stderr
    assert call("top", "logs").exit_code == 2


def test_nothing_is_wiped_behind_a_line(capsys):
    LiveScreen(in_colour=False).draw([Line("x" * 80), Line(""), Line("y")])
    assert capsys.readouterr().out == f"\x1b[H\x1b[K{'x' * 80}\r\n\x1b[K\r\n\x1b[Jy"


@pytest.fixture
def live():
    from tests.cli.screen import Screen

    started = []

    def start(*words, **options):
        started.append(Screen("top", *words, "--interval", "50ms", **options))
        return started[-1]

    yield start
    for one in started:
        one.close()


@needs_a_terminal
def test_keys_pause_and_a_new_size(live, fake_server):
    server = fake_server(recorded())
    shown = live(server.address, rows=24, columns=80).wait_for("MapAndBatch", "q quit")
    # Each order by an op that is on top: how many others there is room for is of no matter here.
    shown.type("o").wait_for("ops by occurrences", "\n_EagerConst ").type("?").wait_for("this help")
    shown.type("?").wait_for("\n_EagerConst ").type(" ").wait_for("PAUSED")
    shown.resize(10, 60)
    shown.wait_for("PAUSED", "q quit")
    shown._read(0.3)
    assert len(shown.lines) <= 10
    n_asked = len(server.requests)
    shown.type("o").wait_for("ops by name")
    assert len(server.requests) <= n_asked + 1  # one may have been under way
    shown.type("q")
    assert shown.end() == 0
    assert not shown.screen.cursor.hidden


@needs_a_terminal
def test_ctrl_c_ends_it_while_a_server_hangs(live, fake_server, mute):
    hanging = fake_server("hang")
    shown = live(f"{hanging.address},{mute}").wait_for("waiting for the first capture")
    assert hanging.asked.wait(10)
    shown.type("\x03")
    assert shown.end(seconds=4) == 130
    assert hanging.given_up.wait(10)
    assert "Traceback" not in shown.text and not shown.screen.cursor.hidden


@needs_a_terminal
def test_a_server_that_ends_and_colours(live, fake_server):
    server, other = fake_server(recorded()), fake_server(recorded())
    shown = live(f"{server.address},{other.address}", columns=120, NO_COLOR="1")
    shown.wait_for("MapAndBatch")
    cells = [shown.screen.buffer[y][x] for y in range(24) for x in range(80)]
    assert not any(cell.reverse or cell.bold or cell.fg != "default" for cell in cells)
    other.close()
    shown.wait_for("no figures: connection refused", "MapAndBatch").type("q")
    assert shown.end() == 1

    shown = live(server.address, "--count", "2")
    assert shown.end() == 0
    assert shown.lines[0].startswith("tfprof top") and "q quit" not in shown.text  # it stays


@needs_a_terminal
def test_ctrl_z_gives_the_terminal_back(live, fake_server):
    server = fake_server(recorded())
    shown = live(server.address, through="bash --norc -i -s", PS1="$ ").wait_for_prompt("$")
    shown.type('"$@"\r').wait_for("MapAndBatch").type("\x1a").wait_for("Stopped")
    assert not shown.screen.cursor.hidden
    shown.wait_for_prompt("$").type("fg\r").wait_for("q quit").type("o").wait_for("by occurrences")
    shown.type("q").wait_for_prompt("$")


def test_no_thread_is_left(fake_server):
    looks = top(fake_server(recorded()).address, interval_seconds=0.05)
    next(looks)
    looks.close()
    assert not [each for each in threading.enumerate() if each.name.startswith("tfprof-")]
