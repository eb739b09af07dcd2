"""Runs whose hosts differ: GPUs here and TPUs there, a chief without devices, idle devices.

Every tool answers, and names the hosts of the steps and ops in its numbers.
"""

import pytest

from fuzz.questions.ask_tools import every_tool
from tests.captures.tools.small_captures import (
    N_STEPS,
    capture,
    gpu_plane,
    gpu_threads,
    tpu_plane,
    with_gpu,
    with_tpu,
)
from tfprof.captures.all_tools import TOOLS, tool_function
from tfprof.captures.facts.run_steps import run_steps
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.tools import (
    advice,
    hlo_stats,
    input_pipeline,
    op_profile,
    op_stats,
    overview,
    pod,
    roofline,
)

ONLY_VERDICT = ("utilization", "latency", "stragglers", "collectives", "compiles")
"""Tools that may have a verdict without rows."""
VOLTA = {"device_vendor": "Nvidia", "compute_cap_major": 7, "compute_cap_minor": 0}


def chief():
    """A host without devices, with steps as long as those of the others together."""
    return capture(N_STEPS, machine="chief", length=3000)


RUNS = {
    "gpu and tpu": (with_gpu, with_tpu),
    "tpu and gpu": (with_tpu, with_gpu),
    "gpu and chief": (with_gpu, chief),
    "chief and tpu": (chief, with_tpu),
    "all": (chief, with_gpu, with_tpu),
    "two gpus": (with_gpu, lambda: with_gpu(VOLTA)),
    "both in one": (lambda: xspace(gpu_threads(), gpu_plane(), tpu_plane()),),
}


def run_of(name):
    return opened(*(make() for make in RUNS[name]))


def messages(notes, host=None):
    return " / ".join(note.message for note in notes if host in (None, note.host))


@pytest.mark.parametrize("name", RUNS)
def test_every_tool_answers_and_is_not_silent(name):
    run = run_of(name)
    every_tool(*(make().SerializeToString() for make in RUNS[name]))
    for tool in (tool_function(name) for name in TOOLS if name not in ONLY_VERDICT):
        for chosen in (None, *(one.name for one in run.hosts)):
            result = tool(run, host=chosen)
            assert result.verdict or result.notes
            assert any(len(table) for table in result.tables.values()) or result.notes
    assert advice(run)


@pytest.mark.parametrize("name", ["gpu and chief", "chief and tpu", "all"])
def test_steps_of_a_chief_do_not_count(name):
    run = run_of(name)
    steps = run_steps(run)
    [number] = [n for n, one in enumerate(run.hosts) if one.machine == "chief"]
    assert f"host {number}" not in {one.host.name for one in steps.hosts}
    assert messages(steps.notes, f"host {number}") == (
        "has no device, but others have: its steps do not count"
    )


def test_ops_of_a_chief_count_but_are_not_those_of_devices():
    run = run_of("gpu and chief")
    ops = {row["operation"]: row for row in op_stats(run).to_rows()}
    assert ops["model/dense/MatMul"]["host_or_device"] == "Device"
    assert ops["a"]["host_or_device"] == "Host"


def test_programs_that_a_chief_compiled_for_its_cpu_are_not_ops_of_devices():
    compiled = event("fusion", 5, 900_000, hlo_op="fusion.9", hlo_module="jit_host", program_id=9)
    threads = xspace(host(line(compiled, id=7, name="tf_numa_-1_Eigen/7")))
    alone = opened(threads)
    run = opened(threads, with_tpu())
    assert [row["hlo_op_name"] for row in hlo_stats(alone).to_rows()] == ["fusion.9"]
    assert [row["hlo_op_name"] for row in hlo_stats(run).to_rows()] == ["fusion.1"]
    chosen = hlo_stats(run, host="host 0")
    assert [row["hlo_op_name"] for row in chosen.to_rows()] == ["fusion.9"]


@pytest.mark.parametrize("name", ["gpu and tpu", "tpu and gpu", "all"])
def test_gpus_beside_tpus_have_a_note(name):
    run = run_of(name)
    steps = run_steps(run)
    [number] = [n for n, one in enumerate(run.hosts) if one.machine == "gpu-machine"]
    assert {one.host.machine for one in steps.hosts} == {"tpu-machine"}
    assert messages(steps.notes, f"host {number}").startswith("has GPUs, but other hosts have TPUs")
    result = overview(run)
    kinds = {row["what"]: row["value"] for row in result.to_rows("environment")}
    assert kinds["Device type"] == "TPU v4, Nvidia GPU (Ampere)"
    for tool in (overview, op_stats, op_profile, hlo_stats, roofline):
        assert "the devices are of several kinds: TPU v4, Nvidia" in messages(tool(run).notes)
        assert "several kinds" not in messages(tool(run, host=f"host {number}").notes)


def test_gpus_beside_tpus_of_one_host_have_a_note():
    run = run_of("both in one")
    assert "has TPUs and GPUs: its steps and device ops are those of the TPUs" in (
        messages(run_steps(run).notes)
    )
    assert [row["hlo_op_name"] for row in hlo_stats(run).to_rows()] == ["fusion.1"]


def test_gpus_of_several_kinds_have_a_note():
    run = run_of("two gpus")
    assert "Nvidia GPU (Ampere), Nvidia GPU (Volta)" in messages(op_profile(run).notes)
    assert "several kinds" not in messages(op_profile(opened(with_gpu(), with_gpu())).notes)
    assert run_steps(run).n_steps == N_STEPS


def test_the_reference_has_no_such_notes():
    notes = overview(run_of("all"), classic=True).notes
    assert [note for note in notes if note.severity != "info"] == []


def test_tpus_without_events_have_a_note():
    space = capture(2)
    space.planes.add(name="/device:TPU:0")
    run = opened(space)
    steps = run_steps(run)
    assert (steps.n_steps, steps.has_device) == (2, False)
    assert [(note.severity, note.message) for note in steps.notes] == [
        ("warning", "has TPUs, but nothing was recorded of them: steps are those of the host")
    ]
    shown = {row["what"] for row in overview(run).to_rows("environment")}
    assert "Duty cycle of chips" not in shown  # 0 % would be wrong
    assert run_steps(run.in_mode(classic=True)).n_steps == 0


def test_idle_devices_among_busy_ones():
    idle = capture(2)
    idle.planes.add(name="/device:GPU:0")
    run = opened(with_gpu(), idle)
    [note] = run_steps(run).notes
    assert (note.severity, note.host) == ("warning", "host 1")
    assert note.message.startswith(
        "has GPUs, but nothing was recorded of them: its steps do not count"
    )
    assert [one.host.name for one in run_steps(run).hosts] == ["host 0"]


def test_steps_have_the_same_names_in_all_tools():
    run = run_of("both in one")
    expected = ["0", "1", "2"]
    assert [row["stepnum"] for row in input_pipeline(run).to_rows()] == expected
    assert [row["step"] for row in pod(run).to_rows()] == expected
    programs = roofline(run).to_rows("programs")
    assert list(dict.fromkeys(row["step"] for row in programs))[2:] == expected
