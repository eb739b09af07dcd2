"""Answers of tools for one step."""

import pytest

from tests.captures.events.made import NOW
from tests.captures.tools.recorded import recorded
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.memory_profile import memory
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.roofline_model import roofline
from tfprof.captures.tools.tf_data_bottleneck import tf_data
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

TOOLS = (kernel_stats, hlo_stats, memory, op_profile, op_stats, roofline, tf_data)


def two_steps():
    """Step 3 runs an op once, step 4 runs it twice, each with a kernel."""
    return opened(xspace(
        host(line(
            event("train", 0, 100, step_num=3, _r=1), event("a:MatMul", 10, 20),
            event("go", 12, 2, correlation_id=1),
            event("train", 100, 100, step_num=4, _r=1), event("a:MatMul", 110, 20),
            event("go", 112, 2, correlation_id=2), event("a:MatMul", 150, 20),
            event("go", 152, 2, correlation_id=3),
        )),
        gpu(line(
            *(event("k", start, 5, correlation_id=number, kernel_details=NOW, tf_op="a:MatMul")
              for number, start in ((1, 40), (2, 140), (3, 180))), id=14, name="Stream #14")),
    ))  # fmt: skip


def runs(found, where):
    return sum(row["occurrences"] for row in found.to_rows("ops") if row["host_or_device"] == where)


@pytest.mark.parametrize("step, n_runs", [(3, 1), (4, 2), (None, 3)])
def test_ops_and_kernels_of_a_step(step, n_runs):
    run = two_steps()
    found = op_stats(run, step=step)
    assert (runs(found, "Host"), runs(found, "Device")) == (n_runs, n_runs)
    assert kernel_stats(run, step=step).to_rows()[0]["occurrences"] == n_runs


def test_the_answer_names_its_step():
    stated = [note.message for note in op_stats(two_steps(), step=4).notes]
    assert "only what belongs to step train 4 counts here" in stated


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ["input-bound", "two-gpus"])
def test_a_step_that_is_not_there(tool, name):
    with pytest.raises(UsageError, match="no step 99999 in this run"):
        tool(recorded(name), step=99999)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_run_without_steps(tool):
    run = opened(xspace(host(line(event("a:MatMul", 0, 5)))))
    with pytest.raises(UsageError, match="it has no steps"):
        tool(run, step=0)


@pytest.mark.parametrize("tool", TOOLS)
def test_steps_together_are_the_capture_or_less(tool):
    run = recorded("two-gpus")
    assert [tool(run, step=step) for step in (0, 3)] != [tool(run), tool(run)]


def test_calls_of_pipelines_of_a_step():
    run = recorded("input-bound")
    of_steps = [tf_data(run, step=step).to_rows("pipelines") for step in range(12)]
    counts = [sum(row["num_calls"] for row in rows) for rows in of_steps]
    assert counts == [1] * 12


def test_memory_of_a_step_names_what_was_allocated_before():
    run = recorded("input-bound")
    whole, of_step = memory(run), memory(run, step=5)
    assert (
        0
        < of_step.to_rows("summary")[0]["allocations"]
        < (whole.to_rows("summary")[0]["allocations"])
    )
    assert of_step.to_rows("peak")
