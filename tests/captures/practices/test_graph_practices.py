"""What captures of command buffers tell: notes and findings, with the flag that helps."""

import json

import pytest

from tests.captures.events.made import NOW
from tests.captures.events.small_graphs import add_and_gemm, capture, launched
from tests.captures.practices.advised import advice_of, op, the
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.trace.events import trace
from tfprof.core.text.how_to_capture import KEPT_GRAPHS_FLAG, NO_GRAPHS_FLAG
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace

RULE = "command-buffers/unknown-ops"
WITHOUT = "WARNING: CommandBuffer disabled when profiling"


def notes_on_buffers(run):
    return [note for note in run.notes if "command buffers" in note.message]


def without_buffers(*others):
    return xspace(host(line(op(WITHOUT, 0, 1), *others)))


def test_a_capture_without_command_buffers_says_so_once():
    run = opened(without_buffers(op(WITHOUT, 5, 1)))
    (note,) = notes_on_buffers(run)
    assert note.severity == "info"
    assert "not those of the real run" in note.message
    assert f"XLA_FLAGS={KEPT_GRAPHS_FLAG}" in note.message
    assert notes_on_buffers(opened(xspace(host(line(op("train", 0, 1)))))) == []


def waiting_for_launches(*others):
    """Steps in which the device waits for launches most of the time."""
    steps = [op("train", n * 1000, 1000, step_num=n, _r=1) for n in range(3)]
    calls = [op("cuLaunchKernel", n * 1000, 800, correlation_id=n, device_id=0) for n in range(3)]
    kernels = [
        op("k", n * 1000 + 800, 200, correlation_id=n, kernel_details=NOW, tf_op="a:MatMul")
        for n in range(3)
    ]
    return opened(xspace(host(line(*steps, *calls, *others)), gpu(line(*kernels, id=14))))


def test_launches_of_such_a_capture_promise_no_gain():
    kept = the(waiting_for_launches(), "kernel-launch/share")
    assert kept.gain_fraction and "Launch fewer" in kept.message
    off = the(waiting_for_launches(op(WITHOUT, 1, 1)), "kernel-launch/share")
    assert off.gain_fraction is None and off.share == kept.gain_fraction
    assert "Launch fewer" not in off.message and KEPT_GRAPHS_FLAG in off.message


def test_idle_devices_of_such_a_capture():
    kept = the(waiting_for_launches(), "devices/idle").message
    assert "does not have" not in kept and "Improve that first" in kept
    idle = the(waiting_for_launches(op(WITHOUT, 1, 1)), "devices/idle")
    assert "gaps between kernels that the real run does not have" in idle.message
    assert "Improve that first" not in idle.message


def test_kernels_of_graphs_without_an_op_are_one_finding():
    run = opened(capture(launched(1, 0, "a", "b"), launched(2, 100, "a", "b")))
    found = the(run, RULE)
    assert found.share == 1.0 and found.gain_fraction is None
    assert found.evidence["lost_ms"] == pytest.approx(40e-6)
    assert "lacks their compiled programs (option enable_hlo_proto)" in found.message
    assert KEPT_GRAPHS_FLAG in found.message and f"XLA_FLAGS={NO_GRAPHS_FLAG}" in found.message
    assert "are not those of the real run" in found.message, "what it costs"


def test_names_that_fit_nothing_are_another_reason():
    unknown = opened(capture(launched(1, 0, "loop_add_fusion_8"), planes=[add_and_gemm()]))
    assert "neither their names nor their order" in the(unknown, RULE).message
    known = opened(capture(launched(1, 0, "loop_add_fusion_1"), planes=[add_and_gemm()]))
    assert advice_of(known, RULE) == []


def test_records_of_whole_graphs():
    whole = event("CudaGraphExec:5", 0, 70, cuda_graph_exec_id=5, correlation_id=9)
    kernel = event("k", 100, 30, kernel_details=NOW, tf_op="a:MatMul")
    run = opened(xspace(host(line()), gpu(line(whole, kernel, id=14))))
    found = the(run, RULE)
    assert found.share == pytest.approx(0.7)
    assert "gpu_enable_cupti_activity_graph_trace off" in found.message
    table = op_stats(run).table()
    times = dict(zip(table.column("operation"), table.column("total_self_time"), strict=True))
    assert times["kernels_without_op"] == pytest.approx(0.07), "not idle, not absent"


def test_kernel_stats_of_whole_graphs_do_not_say_that_there_is_no_gpu():
    whole = event("CudaGraph", 0, 70, cuda_graph_exec_id=5, cuda_graph_id=5, correlation_id=9)
    run = opened(xspace(host(line()), gpu(line(whole, id=14))))
    (note,) = (one.message for one in kernel_stats(run).notes if "GPU" in one.message
               or "whole" in one.message)  # fmt: skip
    assert note.startswith("70.0 ns are records of whole CUDA graphs")
    assert any("no GPU" in one.message for one in kernel_stats(run, classic=True).notes)


def test_kernels_outside_of_graphs_have_no_such_finding():
    run = opened(xspace(host(line()), gpu(line(event("k", 0, 9, kernel_details=NOW), id=14))))
    assert advice_of(run, RULE) == []


def test_traces_show_what_was_found_and_how():
    whole = {"hlo_module": "jit_f", "program_id": 7, "hlo_op": "call.9"}
    launch = launched(1, 0, "sgemm", calls=whole)
    run = opened(capture(launch, planes=[add_and_gemm(calls=True)]))
    events = json.loads(b"".join(trace(run).pieces()))["traceEvents"]
    (args,) = (one["args"] for one in events if one.get("name") == "sgemm")
    assert args["hlo_op"] == "custom-call.2" and args["op_found_by"] == "order"
    assert args["program_id"] == 7 and args["cuda_graph_node_id"] == 1
