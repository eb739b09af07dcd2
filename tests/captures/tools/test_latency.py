"""The overview's table of latency."""

import json
from pathlib import Path

import pytest

from tests.captures.tools.oracle import differences
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.run import open_run
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

RECORDED = Path(__file__).parents[2] / "data" / "requests"
"""Ten runs of a session of TensorFlow 1, and the reference's numbers for their latency."""


def taking(*us):
    return xspace(
        host(line(*[event("SessionRun", 1e6 * at, 1000 * t, _r=1) for at, t in enumerate(us)]))
    )


def test_the_table_is_the_references():
    run = open_run(RECORDED / "session.xplane.pb.gz")
    theirs = json.loads((RECORDED / "session.latency.json").read_text("utf-8"))
    assert not list(differences(overview(run, classic=True).to_gviz()[4], theirs))
    average, *_ = overview(run).to_rows("latency")
    steps = [row["stepTimeMs"] - row["betweenMs"] for row in overview(run).to_rows("steps")]
    assert average["totalTimeMs"] == pytest.approx(sum(steps) / len(steps))


@pytest.mark.parametrize("classic", [False, True])
def test_percentiles(classic):
    found = overview(opened(taking(*range(10, 0, -1))), classic=classic)
    rows = {row["percentile"]: row for row in found.to_rows("latency")}
    assert list(rows) == ["Avg", "50.0%", "75.0%", "90.0%", "99.0%", "99.9%"]
    assert [row["totalTimeMs"] for row in rows.values()] == pytest.approx(
        [0.0055, 0.006, 0.008, 0.01, 0.01, 0.01]
    )
    assert all(row["hostTimeMs"] == row["totalTimeMs"] for row in rows.values())
    assert found.tables["latency"].title == "Latency of 10 requests"
    assert found.to_gviz()[4]["rows"][1]["c"][0] == {"v": "50.0%"}


def test_hosts_are_one_table():
    run = opened(taking(1), taking(3))
    assert overview(run).to_rows("latency")[0]["totalTimeMs"] == pytest.approx(0.002)
    alone = overview(run, host="host 1").tables["latency"]
    assert alone.title == "Latency of 1 request"


def test_programs_that_serve_nothing_have_no_such_table():
    run = opened(xspace(host(line(event("train", 0, 100, step_num=1, _r=1)))))
    assert "latency" not in overview(run).tables
    assert overview(run).to_gviz()[4]["rows"] == []


def test_what_trains_serves_nothing():
    session = event("SessionRun", 0, 1000, _r=1)
    run = opened(xspace(host(line(session, event("gradients/a/MatMul:MatMul", 5, 90)))))
    assert "latency" not in overview(run).tables
    assert "latency" in overview(run, classic=True).tables
