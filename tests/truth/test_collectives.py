"""What tfprof says of collectives agrees with the clocks of the programs themselves."""

import statistics
import subprocess
import sys

import pytest

import tfprof
from tests.truth.conftest import ROOT
from tests.truth.own_clock import CAPTURE
from tests.truth.recorded import Recorded
from tfprof.tools import collectives

pytestmark = pytest.mark.jax

TOLERANCE_MS = 5.0
"""How much later than the program's own clock other devices may come on a busy machine."""


def devices(program, **chosen):
    return {
        row["device"]: row
        for row in program.rows("collectives", "devices")
        if all(row[key] == value for key, value in chosen.items())
    }


@pytest.mark.parametrize(
    "name, waiting",
    [("late_to_all", (0, 1, 2, 3, 4, 6, 7)), ("late_to_its_row", (4, 6, 7))],
)
def test_the_others_wait_as_long_as_one_says_it_sleeps(collectives_program, name, waiting):
    program = collectives_program(name)
    slept = statistics.mean(program.own_ms("late"))
    for device, row in devices(program).items():
        expected = slept if int(device.removeprefix("CPU ")) in waiting else 0.0
        assert row["waiting_us"] / 1e3 == pytest.approx(expected, abs=TOLERANCE_MS)
        assert row["transfer_us"] / 1e3 < TOLERANCE_MS
        assert row["count"] == program.knows("n_steps")
    [row] = program.rows("collectives", "collectives")
    assert row["collective_us"] / 1e3 < statistics.mean(program.own_ms())


def test_what_is_exchanged_is_what_the_program_exchanges(collectives_program):
    program = collectives_program("every_kind")
    found = {row["opcode"]: row for row in program.rows("collectives", "collectives")}
    one = 256 * 256 * 4
    expected = {
        "all-gather": (4 * one, 4, "4 devices in a row"),
        "reduce-scatter": (4 * one, 4, "4 devices in a row"),
        "collective-permute": (one, 2, "2 devices 4 apart"),
        "all-reduce": (one, 2, "2 devices 4 apart"),
    }
    keys = ("run_bytes", "group_size", "axis")
    assert {name: tuple(row[key] for key in keys) for name, row in found.items()} == expected
    for row in found.values():
        assert (row["count"], row["element_type"]) == (8 * program.knows("n_steps"), "f32")
    spent = sum(row["collective_us"] for row in found.values()) / 1e3
    assert spent < statistics.mean(program.own_ms())


def test_processes_wait_for_the_late_one(tmp_path):
    command = [sys.executable, "-m", "tests.truth.programs_gloo", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=180)
    workers = [Recorded(tmp_path / str(rank)) for rank in range(4)]
    found = [path for one in workers for path in one.folder.joinpath(CAPTURE).rglob("*.xplane.pb")]
    for rank, path in enumerate(found):
        path.rename(tmp_path / f"worker{rank}.xplane.pb")
    run = tfprof.open_run([tmp_path / f"worker{rank}.xplane.pb" for rank in range(4)])
    rows = {row["host"]: row for row in collectives(run).to_rows("devices")}
    slept = statistics.mean(workers[3].own_ms("late"))
    for rank, worker in enumerate(workers):
        row = rows[f"worker{rank}"]
        exchange = statistics.mean(worker.own_ms("exchange"))
        assert row["waiting_us"] / 1e3 == pytest.approx(slept if rank < 3 else 0, abs=TOLERANCE_MS)
        # Its own time also has the call from Python.
        assert row["collective_us"] / 1e3 == pytest.approx(exchange, abs=TOLERANCE_MS)
    [row] = collectives(run).to_rows("collectives")
    assert (row["opcode"], row["run_bytes"], row["group_size"]) == ("all-reduce", 4 * 4096, 4)
