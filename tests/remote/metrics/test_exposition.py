"""The text of metrics, read by the parsers of Prometheus' own client."""

import math

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from tfprof.remote.metrics.exposition import Family, Histogram, exposition, is_open_wanted

pytestmark = pytest.mark.one_engine

HOSTILE = 'a "b" \\ c\nd {e="f"} # EOF'


def families():
    times = Histogram((0.1, 1.0), (2, 0, 1), 7.25)
    return [
        Family("x", "info", "what", "", [({"version": "1"}, 1)]),
        Family("x_runs", "counter", HOSTILE, "", [({}, 3)], 1.7e9),
        Family("x_cpu_seconds", "counter", "CPU", "seconds", [({"worker": HOSTILE}, 0.5)], 1.7e9),
        Family("x_step_seconds", "histogram", "steps", "seconds", [({"kind": "t"}, times)], 1.7e9),
        Family("x_share", "gauge", "share", "", [({"worker": "a"}, 0.25), ({"worker": "b"}, 1)]),
        Family("x_nothing", "gauge", "nothing is known"),
    ]


def read(text, is_open):
    read_by = openmetrics_parser if is_open else parser
    return {one.name: one for one in read_by.text_string_to_metric_families(text)}


@pytest.mark.parametrize("is_open", [True, False])
def test_parsers_of_prometheus_read_it(is_open):
    text = exposition(families(), is_open=is_open).decode()
    found = read(text, is_open)
    runs, cpu = found["x_runs"], found["x_cpu_seconds"]
    assert (runs.type, runs.documentation, runs.samples[0].value) == ("counter", HOSTILE, 3)
    assert cpu.samples[0].labels == {"worker": HOSTILE}
    assert [one.value for one in found["x_share"].samples] == [0.25, 1]
    buckets = [one for one in found["x_step_seconds"].samples if one.name.endswith("_bucket")]
    assert [(float(one.labels["le"]), one.value) for one in buckets] == [
        (0.1, 2), (1.0, 2), (math.inf, 3),
    ]  # fmt: skip
    sums = {one.name.rpartition("_")[2]: one.value for one in found["x_step_seconds"].samples}
    assert (sums["count"], sums["sum"]) == (3, 7.25)
    assert "nothing" not in text
    assert text.endswith("# EOF\n") == is_open


def test_only_openmetrics_has_units_and_times_of_creation():
    found = read(exposition(families(), is_open=True).decode(), True)
    assert found["x_cpu_seconds"].unit == found["x_step_seconds"].unit == "seconds"
    assert found["x_runs"].samples[1][:3] == ("x_runs_created", {}, 1.7e9)
    assert found["x"].type == "info"
    old = exposition(families(), is_open=False).decode()
    assert "_created" not in old and "UNIT" not in old
    assert read(old, False)["x_info"].type == "gauge"


def test_lone_surrogates_of_names_become_question_marks():
    text = exposition([Family("x", "gauge", "", "", [({"kind": "\ud800"}, 1)])], is_open=True)
    assert b'kind="?"' in text


@pytest.mark.parametrize(
    ("accept", "is_open"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain;version=0.0.4", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2,*/*;q=0.1", True),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.5", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=much", False),
        (",;=q;,", False),
    ],
)
def test_the_format_that_a_server_prefers(accept, is_open):
    assert is_open_wanted(accept) == is_open
