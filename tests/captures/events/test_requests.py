"""Requests of synthetic captures: results computed by hand, for the reference and without it."""

import pytest

from tfprof.captures.events.steps.requests import reference_requests, served_requests, together
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace


def reference(space):
    one = opened(space).hosts[0]
    return reference_requests(one.forest(classic=True), one.groups(classic=True))


def served(space):
    return served_requests(opened(space).hosts[0].forest())


def in_ns(requests):
    """Total, device and copy times of each request in ns."""
    columns = [(column / 1000).tolist() for column in requests]
    return list(zip(*columns, strict=True))


def on_host(*events):
    return xspace(host(line(*events)))


def test_programs_without_requests_have_none():
    space = on_host(event("train", 0, 1000, step_num=1, _r=1), event("a:B", 5, 90))
    assert in_ns(reference(space)) == in_ns(served(space)) == []


@pytest.mark.parametrize(
    "name", ["SessionRun", "RunGraph", "TfrtModelRun", "ServingModelRun", "BatchingSessionRun"]
)
def test_requests(name):
    space = on_host(*[event(name, start, 10 + start, _r=1) for start in (200, 0, 5000)])
    assert in_ns(reference(space)) == in_ns(served(space)) == [
        (10, 0, 0), (210, 0, 0), (5010, 0, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["ProcessBatch", "BrainSessionRun", "FunctionRun", "TraceContext"])
def test_other_roots_are_not_requests(name):
    space = on_host(event(name, 0, 1000, _r=1))
    assert in_ns(reference(space)) == in_ns(served(space)) == []


def test_batching_sessions_go_first_then_the_newer_runtimes():
    names = ["SessionRun", "ServingModelRun", "TfrtModelRun", "BatchingSessionRun"]
    events = [event(name, 1000 * at, 10 + at, _r=1) for at, name in enumerate(names)]
    for last in range(1, 5):
        space = on_host(*events[:last])
        assert in_ns(reference(space)) == in_ns(served(space)) == [(10 + last - 1, 0, 0)]


def test_users_may_say_what_a_request_is():
    space = on_host(
        event("mine", 0, 1000, _r=-1), event("a:B", 5, 90), event("SessionRun", 5000, 90, _r=1),
        event("ModelServerRequest_x", 6000, 70, _r=1),
    )  # fmt: skip
    assert in_ns(reference(space)) == in_ns(served(space)) == [(70, 0, 0), (90, 0, 0), (1000, 0, 0)]


def test_what_takes_no_time_is_not_a_request():
    space = on_host(event("SessionRun", 0, 0, _r=1), event("SessionRun", 100, 50, _r=1))
    assert in_ns(reference(space)) == in_ns(served(space)) == [(50, 0, 0)]


def test_of_requests_inside_each_other_the_outermost_counts():
    space = on_host(event("SessionRun", 0, 900, _r=1), event("SessionRun", 10, 100, _r=1))
    assert in_ns(reference(space)) == in_ns(served(space)) == [(900, 0, 0)]


def test_a_step_around_requests_is_one_only_in_the_reference():
    space = on_host(
        event("train", 0, 9000, step_num=1, _r=1), event("SessionRun", 10, 1000),
        event("SessionRun", 2000, 500),
    )  # fmt: skip
    assert in_ns(reference(space)) == [(9000, 0, 0)]
    assert in_ns(served(space)) == [(500, 0, 0), (1000, 0, 0)]


def test_what_a_request_leads_to_makes_it_longer_only_in_the_reference():
    space = xspace(host(
        line(event("SessionRun", 0, 1000, _r=1), event("p", 10, 20, _p=7, _pt=9)),
        line(event("c", 800, 900, _c=7, _ct=9), id=2),
    ))  # fmt: skip
    assert in_ns(reference(space)) == [(1700, 0, 0)]
    assert in_ns(served(space)) == [(1000, 0, 0)]


def batched(*starts, swap=False):
    """A request with links to two batches, in the order of their ids or in reverse."""
    ids = (8, 7) if swap else (7, 8)
    batches = [
        one
        for at, start in enumerate(starts)
        for one in (
            event("ProcessBatch", start, 900, _c=ids[at], _ct=9),
            event("SessionRun", start + 100, 100, _r=1),
        )
    ]
    return xspace(host(
        line(
            event("BatchingSessionRun", 0, 1000), event("p", 10, 20, _p=7, _pt=9),
            event("p", 40, 20, _p=8, _pt=9),
        ),
        line(*batches, id=2),
    ))  # fmt: skip


@pytest.mark.parametrize("swap", [False, True])
def test_a_request_ends_with_its_last_batch(swap):
    assert in_ns(reference(batched(800, swap=swap))) == [(1700, 0, 0)]
    assert in_ns(served(batched(800, swap=swap))) == [(1700, 0, 0)]
    assert in_ns(reference(batched(800, 1800, swap=swap))) == [(1700, 0, 0)]
    assert in_ns(served(batched(800, 1800, swap=swap))) == [(2700, 0, 0)]


def test_sessions_of_batches_are_not_requests():
    space = on_host(event("ProcessBatch", 0, 900), event("SessionRun", 100, 100, _r=1))
    assert in_ns(reference(space)) == in_ns(served(space)) == []


def test_two_requests_share_what_a_device_did_for_their_batch():
    space = xspace(
        host(
            line(event("BatchingSessionRun", 0, 1000), event("p", 10, 20, _p=7, _pt=9)),
            line(event("BatchingSessionRun", 100, 700), event("p", 110, 20, _p=7, _pt=9), id=2),
            line(
                event("ProcessBatch", 200, 700, _c=7, _ct=9), event("WriteHbm", 300, 100),
                id=3,
            ),
        ),
    )  # fmt: skip
    assert in_ns(reference(space)) == in_ns(served(space)) == [(800, 0, 100), (1000, 0, 100)]


def test_what_gpus_did_is_time_of_the_host_only_in_the_reference():
    copy = "kind_src:pageable kind_dst:device size:10 dest:0 async:1"
    space = xspace(
        host(line(
            event("SessionRun", 0, 1000, _r=1), event("launch", 50, 10, correlation_id=3),
            event("copy", 70, 10, correlation_id=4),
        )),
        gpu(line(
            event("k", 200, 500, correlation_id=3, kernel_details="regs:1"),
            event("MemcpyH2D", 150, 100, correlation_id=4, memcpy_details=copy), id=1,
        )),
    )  # fmt: skip
    assert in_ns(reference(space)) == [(1000, 0, 0)]
    assert in_ns(served(space)) == [(1000, 500, 50)]


def test_a_kernel_counts_as_long_as_the_request_takes():
    space = xspace(
        host(line(event("SessionRun", 0, 300, _r=1), event("launch", 50, 10, correlation_id=3))),
        gpu(line(event("k", 200, 500, correlation_id=3, kernel_details="regs:1"), id=1)),
    )
    assert in_ns(served(space)) == [(300, 100, 0)]


def test_transfers_of_tpus_that_overlap_count_once():
    space = on_host(
        event("SessionRun", 0, 1000, _r=1), event("WriteHbm", 10, 100), event("ReadHbm", 60, 100),
        event("TransferH2DRequest", 200, 10), event("TransferD2HRequest", 300, 20),
        event("TransferPreprocessedH2DRequest", 400, 40),
    )  # fmt: skip
    assert in_ns(reference(space)) == in_ns(served(space)) == [(1000, 0, 220)]


def test_transfers_of_tpus_in_two_events():
    to, back = "tpu::System::TransferToDevice", "tpu::System::TransferFromDevice"
    space = on_host(
        event("SessionRun", 0, 1000, _r=1),
        event(f"{to}=>IssueEvent", 10, 5, _c=5, _ct=9),
        event(f"{to}=>IssueEvent=>Done", 100, 5, _c=5, _ct=9),
        event(f"{back}=>IssueEvent", 300, 5, _c=6, _ct=9),
        event(f"{back}=>IssueEvent=>Done", 400, 5, _c=6, _ct=9),
        event(f"{back}=>IssueEvent=>Done", 500, 5, _c=8, _ct=9),
    )
    assert in_ns(reference(space)) == in_ns(served(space)) == [(1000, 0, 95 + 105)]


def test_programs_of_tpus():
    space = xspace(
        host(line(
            event("SessionRun", 0, 1000, _r=1),
            event("DoEnqueueProgram", 10, 20, run_id=5, queue_id=0, device_ordinal=0),
            event("WriteHbm", 250, 100),
        )),
        plane(
            "/device:TPU:0",
            line(event("mod(1)", 300, 200, run_id=5, queue_id=0), id=1, name="XLA Modules"),
            line(event("op", 310, 100), id=2, name="XLA Ops"),
            stats={"device_ordinal": 0},
        ),
    )  # fmt: skip
    assert in_ns(reference(space)) == in_ns(served(space)) == [(1000, 200, 50)]


def test_requests_of_no_model_are_left_out_beside_others_only_in_the_reference():
    space = on_host(
        event("SessionRun", 0, 1000, _r=1, model_id="m:1"), event("SessionRun", 2000, 3000, _r=1),
        event("SessionRun", 6000, 500, _r=1, model_id="n:1"),
    )  # fmt: skip
    assert in_ns(reference(space)) == [(500, 0, 0), (1000, 0, 0)]
    assert in_ns(served(space)) == [(500, 0, 0), (1000, 0, 0), (3000, 0, 0)]


def test_steps_in_a_file_are_requests_in_the_reference():
    space = on_host(
        event("SessionRun", 0, 1000, group_id=0), event("x", 1500, 50, group_id=0),
        event("SessionRun", 2000, 100, group_id=1),
    )  # fmt: skip
    assert in_ns(reference(space)) == [(100, 0, 0), (1550, 0, 0)]
    assert in_ns(served(space)) == [(100, 0, 0), (1000, 0, 0)]


def test_iterations_of_a_loop_hide_requests_only_in_the_reference():
    space = on_host(
        event("SessionRun", 0, 1000, _r=1),
        event("ExecutorState::Process", 10, 50, id=1, iter_num=0),
        event("ExecutorState::Process", 100, 50, id=1, iter_num=1),
    )  # fmt: skip
    assert in_ns(reference(space)) == []
    assert in_ns(served(space)) == [(1000, 0, 0)]


def test_requests_of_several_hosts_are_in_order():
    parts = [served(on_host(event("SessionRun", 0, took, _r=1))) for took in (70, 20)]
    assert in_ns(together(parts)) == [(20, 0, 0), (70, 0, 0)]
