"""Shapes of reductions over devices."""

from tests.graphs.calls import call, floats, scalar, shapes
from tfprof.graphs.model.symbolic import Symbolic, floor_div
from tfprof.graphs.model.tensors import UNKNOWN
from tfprof.graphs.shapes.infer import SHAPES

B = Symbolic.named("B")


def test_all_devices_get_the_whole_sum():
    for op_type in ("CollectiveReduce", "CollectiveReduceV2", "NcclAllReduce", "CrossReplicaSum"):
        assert shapes(SHAPES, call(op_type, floats(B, 3))) == [(B, 3)]
    assert shapes(SHAPES, call("NcclReduce", UNKNOWN, floats(B, 3))) == [(B, 3)]


def test_each_device_keeps_its_share_of_a_scattered_sum():
    op = call("CollectiveReduceScatterV2", floats(B, 3), scalar(4))
    assert shapes(SHAPES, op) == [(floor_div(B, 4), 3)]
