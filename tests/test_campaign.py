"""Every reproducer of the campaign (``fuzz/corpus``), and the campaign itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.growth import exponent
from fuzz.inputs import CORPUS, Series
from fuzz.ledger import table
from fuzz.minimise import without_bytes, without_fields
from tfprof.core.wire import messages as pb

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of Linux")


def campaign(*words):
    """The exit code and what it printed."""
    command = [sys.executable, "-m", "fuzz.campaign", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.one_engine
def test_no_reproducer_fails_any_more():
    reproducers = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
    assert campaign("--again", *reproducers) == (0, "")


@pytest.mark.slow
@pytest.mark.one_engine
def test_a_campaign_executes_what_it_counts(tmp_path):
    code, printed = campaign("--count", 300, "--only", "wire", "--findings", tmp_path)
    assert (code, list(tmp_path.iterdir())) == (0, [])
    assert "300 executions" in printed and "0 distinct findings" in printed


def test_the_same_seed_makes_the_same_inputs():
    def made(seed):
        series = Series(seed, "hlo")
        return [list(series.executions(batch)) for batch in series.batches(150)]

    assert made(3) == made(3)
    assert made(3) != made(4)
    assert [len(batch) for batch in made(3)] == [100, 50]


def test_a_reproducer_loses_fields_and_bytes_that_do_not_matter():
    space = pb.XSpace(hostnames=["one", "two"])
    for name in ("a", "b", "c"):
        space.planes.add(name=name).lines.add(id=7).events.add(duration_ps=5)
    space.planes[1].lines[0].events[0].duration_ps = 99

    def fails(data):
        events = [
            e for p in pb.XSpace.FromString(data).planes for own in p.lines for e in own.events
        ]
        return any(event.duration_ps == 99 for event in events)

    small = pb.XSpace.FromString(without_fields(space.SerializeToString(), "XSpace", fails))
    expected = pb.XSpace()
    expected.planes.add().lines.add().events.add(duration_ps=99)
    assert small == expected
    assert without_bytes(b"aabbXcc", lambda data: b"X" in data) == b"X"


def test_exponents():
    sizes = [1 << place for place in range(6)]
    assert exponent([(n, 3.0 * n) for n in sizes], 0.0) == pytest.approx(1)
    assert exponent([(n, 0.5 * n * n) for n in sizes], 0.0) == pytest.approx(2)
    assert exponent([(n, 1.0 * n) for n in sizes], 16.0) is None  # two figures are enough for none


def test_the_table_adds_up_runs():
    runs = [
        {"hours": 1.0, "executions": {"readers": {"xspace": 1500, "hlo": 20}}, "findings": ["a"]},
        {"hours": 0.5, "executions": {"tools": {"xspace": 7}}, "findings": ["a", "b"]},
    ]
    assert table(json.loads(json.dumps(runs))).splitlines() == [
        "| format | readers | tools | all |",
        "| --- | ---: | ---: | ---: |",
        "| hlo | 20 |  | 20 |",
        "| xspace | 1,500 | 7 | 1,507 |",
        "| **all** | 1,520 | 7 | 1,527 |",
        "",
        "2 campaigns, 1.5 hours, 2 distinct findings.",
    ]
