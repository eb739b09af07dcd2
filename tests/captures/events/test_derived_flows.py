"""Ids of arrows."""

from tfprof.captures.events.derived.flows import INTO, OUT_OF, flow_numbers
from tfprof.testing.xspace_builders import (
    Unsigned,
    event,
    gpu,
    host,
    line,
    plane,
    timeline_of,
    xspace,
)


def flows_of(space):
    """Direction, category and id of the arrow at each event, by name."""
    timeline = timeline_of(space)
    return {
        timeline.name(place): (flow & 3, flow >> 58, flow >> 2 & (1 << 56) - 1)
        for place, flow in enumerate(flow_numbers(timeline).tolist())
        if flow
    }


def test_ends_of_an_arrow_have_one_id():
    found = flows_of(
        xspace(
            host(line(
                event("give", 0, 1, _pt=3, _p=8), event("take", 5, 1, _ct=3, _c=Unsigned(8)),
                event("other kind", 6, 1, _ct=4, _c=8), event("other id", 7, 1, _ct=3, _c=9),
                event("plain", 8, 1), event("no kind", 9, 1, _p=8),
            ))
        )
    )  # fmt: skip
    assert found["give"][:2] == (OUT_OF, 3)
    assert found["take"] == (INTO, 3, found["give"][2])
    assert len({row[2] for row in found.values()}) == 3
    assert found.keys() == {"give", "take", "other kind", "other id"}


def test_what_is_led_to_counts_for_what_leads_to_it():
    found = flows_of(
        xspace(
            host(
                line(
                    event("both", 0, 1, _pt=3, _p=8, _ct=3, _c=9), event("give", 2, 1, _pt=3, _p=9)
                )
            )
        )
    )
    assert found["both"][0] == INTO
    assert found["both"][2] == found["give"][2]


def test_launches_lead_to_kernels():
    found = flows_of(
        xspace(
            host(line(event("launch", 0, 1, correlation_id=5))),
            gpu(line(event("kernel", 2, 1, correlation_id=5), id=14)),
        )
    )
    assert found["launch"][:2] == (OUT_OF, 9)
    assert found["kernel"] == (INTO, 9, found["launch"][2])


def test_runtimes_of_tpus_tell_arrows_by_their_own_stats():
    order = {"device_ordinal": 1, "queue_id": 0, "run_id": 3, "core_type": 0}
    run = {"queue_id": 0, "run_id": 3 + (1 << 27), "core_type": 0}
    step = {"id": 4, "iter_num": 0}
    found = flows_of(
        xspace(
            host(line(
                event("DoEnqueueProgram", 0, 1, **order),
                event("ExecutorState::Process", 2, 1, **step), event("TpuExecuteOp", 4, 1, **step),
                event("EnqueueRequestLocked", 6, 1, request_id=1, queue_addr=2),
            )),
            plane("/device:TPU:1", line(event("jit_f(7)", 8, 1, **run), name="XLA Modules")),
        )
    )  # fmt: skip
    assert found["DoEnqueueProgram"][:2] == (OUT_OF, 12)
    assert found["jit_f(7)"] == (INTO, 12, found["DoEnqueueProgram"][2])
    assert found["ExecutorState::Process"][:2] == (OUT_OF, 2)
    assert found["TpuExecuteOp"] == (INTO, 2, found["ExecutorState::Process"][2])
    assert found["EnqueueRequestLocked"][:2] == (OUT_OF, 11)
