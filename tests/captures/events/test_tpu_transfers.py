"""Transfers between TPU cores, and their common reductions."""

import numpy as np
import pytest

from tests.captures.tools.tpus import US, at, op, tpu
from tfprof.captures.events.steps.forest import build_forest
from tfprof.captures.events.steps.grouping import find_groups
from tfprof.captures.events.tpu.cores import tpu_cores
from tfprof.captures.events.tpu.transfers import channels, collectives, core_transfers
from tfprof.testing.xspace_builders import timeline_of, xspace

SEND = "%send.1 = (f32[8,16]{1,0:T(8,128)}, u32[], token[]) send(f32[8,16] %x), channel_id=3"
RECEIVED = "%recv-done.2 = (f32[8,16]{1,0}, token[]) recv-done(token[] %t), channel_id=3"
REDUCE = (
    "%all-reduce.9 = (bf16[4,4]{1,0:T(4,128)}, pred[3]{0}) all-reduce(bf16[4,4] %g, pred[3] %p), "
    "channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add"
)


def transfers(*cores_ops):
    planes = [
        tpu(number, steps=[at("5", 0, 100)], modules=[at("jit_f(1)", 0, 100)], ops=ops)
        for number, ops in enumerate(cores_ops)
    ]
    timeline = timeline_of(xspace(*planes))
    groups = find_groups(build_forest(timeline))
    known = np.unique(groups.of_event[groups.of_event >= 0])
    return [
        core_transfers(timeline, groups, core).in_steps(known, 10 + core.id)
        for core in tpu_cores(timeline)
    ]


def test_a_channel_takes_from_the_begin_of_sending_to_the_end_of_receiving():
    (found,) = channels(transfers([op(SEND, "send", 10, 2)], [op(RECEIVED, "recv-done", 4, 26)]))
    assert (found.step, found.channel, found.source, found.target) == (0, 3, 10, 11)
    assert found.latency_ps == 20 * US
    assert found.send_delay_ps == 6 * US
    assert found.n_bytes == 8 * 16 * 4
    assert found.names == ("send.1", "recv-done.2")
    assert found.occurrences == 1


def test_who_receives_later_than_is_sent_has_not_waited():
    (found,) = channels(transfers([op(SEND, "send", 10, 2)], [op(RECEIVED, "recv-done", 15, 1)]))
    assert (found.latency_ps, found.send_delay_ps) == (6 * US, 0.0)


def test_several_runs_in_a_step_are_averaged():
    sending = [op(SEND, "send", 10, 2), op(SEND, "send", 50, 2)]
    receiving = [op(RECEIVED, "recv-done", 10, 10), op(RECEIVED, "recv-done", 50, 20)]
    (found,) = channels(transfers(sending, receiving))
    assert (found.latency_ps, found.occurrences) == (15 * US, 2)


def test_where_several_cores_send_on_a_channel_the_receiver_is_unknown():
    both = [op(SEND, "send", 10, 2), op(RECEIVED, "recv-done", 4, 26)]
    assert channels(transfers(both, both)) == []


def test_what_is_never_received_is_not_a_channel():
    assert channels(transfers([op(SEND, "send", 10, 2)], [])) == []
    assert channels([]) == []


def test_collectives_are_averaged_over_cores():
    (found,) = collectives(
        transfers(
            [op(REDUCE, "all-reduce", 10, 4), op(REDUCE, "all-reduce", 20, 6)],
            [op(REDUCE, "all-reduce", 12, 8), op(SEND, "send", 30, 1)],
        )
    )
    assert found.duration_ps == 6 * US
    assert found.occurrences == 3
    assert (found.end_ps - found.start_ps) == 16 * US
    assert found.instruction.name == "all-reduce.9"
    assert found.instruction.n_bytes == 4 * 4 * 2 + 3
    assert found.instruction.replica_groups == "{{0,1},{2,3}}"


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups={}, to_apply=%add", "{}"),
        ("replica_groups=[4,2]<=[2,4]T(1,0), use", "[4,2]<=[2,4]T(1,0)"),
        ("to_apply=%add", ""),
    ],
)
def test_replica_groups_are_as_written(text, groups):
    reduce = f"%a = f32[2] all-reduce(f32[2] %g), {text}"
    (found,) = collectives(transfers([op(reduce, "all-reduce", 1, 1)]))
    assert found.instruction.replica_groups == groups


@pytest.mark.parametrize(
    ("shape", "n_bytes"),
    [("f32[]", 4), ("s4[3]{0}", 2), ("pred[5]", 5), ("f8e4m3fn[6]", 6), ("c64[2]", 16),
     ("token[]", 0)],
)  # fmt: skip
def test_sizes_are_those_of_the_results(shape, n_bytes):
    gather = f"%a = {shape} all-gather(f32[99] %x)"
    (found,) = collectives(transfers([op(gather, "all-gather", 1, 1)]))
    assert found.instruction.n_bytes == n_bytes
