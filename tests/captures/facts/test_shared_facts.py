"""Facts that several tools report on a capture are the same everywhere, and sums add up."""

import re

import pytest

from tests.captures.tools.oracle import CAPTURES, run_of
from tfprof import tools
from tfprof.captures.practices.evidence import FRAMEWORKS_OWN
from tfprof.captures.practices.findings import capture_findings
from tfprof.captures.run.contents import tools_with_data

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

NAMES = [data.tool for data in tools_with_data([]) if data.tool != "trace"]


@pytest.fixture(scope="module")
def answers():
    known = {}

    def of(capture):
        if capture not in known:
            run = run_of(capture)
            has_data = {
                data.tool: not data.missing
                for data in tools_with_data([host.space for host in run.hosts])
            }
            wanted = [name for name in NAMES if has_data[name]]
            known[capture] = (
                run,
                {name: getattr(tools, name.replace("-", "_"))(run) for name in wanted},
            )
        return known[capture]

    return of


def steps_of(found):
    """The steps of each tool: their number, mean time in ms, and share of input."""
    stated = {}
    if "performance" not in found["overview"].tables:
        return stated
    performance = {row["category"]: row for row in found["overview"].to_rows("performance")}
    first = re.search(r"\((\d+) steps", " ".join(found["overview"].verdict))
    stated["overview"] = (
        int(first[1]) if first else 1,
        performance["Step time"]["average_ms"],
        performance["Input"]["share"],
    )
    [row] = found["monitor"].to_rows()
    percent = row["infeed_percent_average"]
    share = performance["Input"]["share"] if percent is None else percent / 100
    assert percent is not None or not found["overview"].claims[0].is_known
    stated["monitor"] = (row["steps"], row["step_ms_average"], share)
    again = re.search(
        r"takes ([\d.,]+) ms on average \((\d+)", " ".join(found["input-pipeline"].verdict)
    )
    if again:
        share = re.search(
            r"([\d.]+)% of the step time is waiting", found["input-pipeline"].verdict[0]
        )
        stated["input-pipeline"] = (
            int(again[2]),
            float(again[1].replace(",", "")),
            float(share[1]) / 100 if share else performance["Input"]["share"],
        )
    return stated


@pytest.mark.parametrize("capture", CAPTURES)
def test_steps_and_waiting_for_input(answers, capture):
    _, found = answers(capture)
    stated = steps_of(found)
    if not stated:
        assert "No step time was measured" in found["overview"].verdict[0]
        assert found["monitor"].to_rows()[0]["steps"] == 0
        return
    n_steps, step_ms, share = stated["overview"]
    for tool, (count, mean_ms, waits) in stated.items():
        assert count == n_steps, tool
        assert mean_ms == pytest.approx(step_ms, abs=6e-4, rel=1e-6), tool
        assert waits == pytest.approx(share, abs=6e-4), tool
    for advice in found["overview"].advice:
        if "step_ms" in advice.evidence:
            assert advice.evidence["step_ms"] == pytest.approx(step_ms)


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_average_step_adds_up(answers, capture):
    _, found = answers(capture)
    if "performance" in found["overview"].tables:
        whole, *parts = found["overview"].to_rows("performance")
        assert sum(row["average_ms"] for row in parts) == pytest.approx(whole["average_ms"])
        assert sum(row["share"] for row in parts) == pytest.approx(1)


@pytest.mark.parametrize("capture", CAPTURES)
def test_steps_of_workers_add_up(answers, capture):
    _, found = answers(capture)
    if "pod" not in found or "overview" not in found:
        pytest.skip("no steps")
    keys = [column.id for column in found["pod"].table().columns if column.id.endswith("_us")]
    for row in found["pod"].to_rows():
        parts = sum(row[key] for key in keys if key != "total_us")
        assert parts == pytest.approx(row["total_us"], abs=1e-3)


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_verdict_and_the_advice_agree_on_the_input(answers, capture):
    _, found = answers(capture)
    if "input-pipeline" not in found:
        pytest.skip("no input")
    verdict = found["overview"].verdict[0]
    assert found["input-pipeline"].verdict[0] == verdict
    is_bound = "HIGHLY input-bound" in verdict or "MODERATELY input-bound" in verdict
    advised = [one for one in found["overview"].advice if one.rule == "input-pipeline/bound"]
    # Copies to devices count as input in the verdict, and have advice of their own.
    copies = [one for one in found["overview"].advice if one.rule == "copies/to-device"]
    assert is_bound >= bool(advised)
    assert is_bound == bool(advised or (is_bound and (copies or "TensorCore" in str(found))))


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_iterator_that_holds_up_the_input(answers, capture):
    _, found = answers(capture)
    if "tf-data" not in found:
        pytest.skip("no tf.data")
    stated = [
        one.evidence["op"]
        for one in found["overview"].advice
        if one.rule in ("input-pipeline/bound", "input-pipeline/slow-iterator")
        and "op" in one.evidence
    ]
    held = {one.evidence["iterator"] for one in found["tf-data"].advice}
    assert set(stated) <= held
    is_slow = found["tf-data"].table().properties["is_input_bound"] == "true"
    assert is_slow == bool(found["tf-data"].to_rows("bottlenecks"))
    no_slow = any(
        "No iterator of tf.data on these" in one.message for one in found["overview"].advice
    )
    assert not (is_slow and no_slow)
    for row in found["tf-data"].to_rows("pipelines"):
        assert row["min"] <= row["mean"] <= row["max"]


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_heaviest_op(answers, capture):
    _, found = answers(capture)
    advised = [one for one in found["overview"].advice if one.rule == "ops/heaviest"]
    if not advised:
        pytest.skip("no op stands out")
    [advice] = advised
    if "tfprof hlo-stats" in advice.message:
        row = found["hlo-stats"].to_rows()[0]
        first = row["hlo_op_name"]
    else:
        is_host = " on the host" in advice.message
        wanted = "Host" if is_host else "Device"
        row = next(
            row
            for row in found["op-stats"].to_rows("ops")
            if row["host_or_device"] == wanted
            and not (is_host and FRAMEWORKS_OWN.fullmatch(row["type"]))
        )
        first = row["operation"]
    assert advice.evidence["op"] == first
    assert advice.evidence["run_count"] == row["occurrences"]


@pytest.mark.parametrize("capture", CAPTURES)
def test_an_op_runs_on_a_device_as_often_as_on_the_host_at_most(answers, capture):
    _, found = answers(capture)
    rows = found["op-stats"].to_rows("ops") if "op-stats" in found else []
    on_host = {row["operation"]: row["occurrences"] for row in rows if is_on(row, "Host")}
    for row in rows:
        runs = row["occurrences"]
        assert row["avg_time"] == pytest.approx(row["total_time"] / runs if runs else 0)
        if is_on(row, "Device"):
            assert runs <= on_host.get(row["operation"], runs)


def is_on(row, where):
    return row["host_or_device"] == where


@pytest.mark.parametrize("capture", CAPTURES)
def test_shares_of_ops_add_up(answers, capture):
    _, found = answers(capture)
    rows = found["op-stats"].to_rows("ops_with_idle")
    for where, column in (
        ("Device", "device_total_self_time_percent"), ("Host", "host_total_self_time_percent"),
    ):  # fmt: skip
        shares = [row[column] for row in rows if row["host_or_device"] == where]
        if any(shares):
            assert sum(shares) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("capture", CAPTURES)
def test_devices(answers, capture):
    run, found = answers(capture)
    known = {row["what"]: row["value"] for row in found["overview"].to_rows("environment")}
    [row] = found["monitor"].to_rows()
    assert str(row["cores"]) == known["Device cores"]
    assert row["device_type"] in known["Device type"]
    assert known["Workers"] == str(len(run.hosts))


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_peak_of_memory(answers, capture):
    _, found = answers(capture)
    if "memory" not in found:
        pytest.skip("no allocations")
    for row in found["memory"].to_rows("summary"):
        held = [
            entry["allocation_bytes"] * entry["occurrences"]
            for entry in found["memory"].to_rows("peak")
            if (entry["host"], entry["allocator"]) == (row["host"], row["allocator"])
        ]
        assert sum(held) == row["peak_bytes"]


@pytest.mark.parametrize("capture", CAPTURES)
def test_findings_are_the_advice(answers, capture):
    run, found = answers(capture)
    advised = [(one.rule, one.message) for one in found["overview"].advice]
    assert [(one.rule, one.message) for one in capture_findings(run)] == advised


@pytest.mark.parametrize("capture", CAPTURES)
def test_what_is_promised_is_there(answers, capture):
    _, found = answers(capture)
    for name, answer in found.items():
        assert any(map(len, answer.tables.values())), name
        lacks = [note.message for note in answer.notes if "no device ops" in note.message]
        assert not lacks, name


FOREIGN = re.compile(r"tf\.function|Keras|tf\.data|tf\.profiler|tf\.config|TensorFlow")


@pytest.mark.parametrize("capture", [name for name in CAPTURES if "jax" in name])
def test_words_fit_the_framework(answers, capture):
    _, found = answers(capture)
    stated = [*found["overview"].verdict, *(one.message for one in found["overview"].advice)]
    stated += [note.message for note in found["overview"].notes]
    assert not [text for text in stated if FOREIGN.search(text)]
