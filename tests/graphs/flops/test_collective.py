"""Reductions over devices, by hand."""

import pytest

from tests.graphs.calls import call, cost, floats, scalar
from tfprof.graphs.model.op_call import UnknownError
from tfprof.graphs.model.tensors import DT_INT32, UNKNOWN, Tensor


def flops(op_type, *inputs, **attrs):
    return cost(None, call(op_type, *inputs, **attrs)).flops


def test_a_ring_of_devices_shares_the_additions():
    assert flops("CollectiveReduce", floats(100), group_size=4) == 75
    mean = {"group_size": 4, "final_op": "Div"}
    assert flops("CollectiveReduce", floats(100), **mean) == 75 + 25
    assert flops("CollectiveReduceV2", floats(100), scalar(4)) == 75
    assert flops("CollectiveReduceV3", floats(100), UNKNOWN, floats(2, 4)) == 75
    assert flops("NcclAllReduce", floats(100), num_devices=2) == 50
    assert flops("NcclReduce", floats(100), floats(100), floats(100)) == 200
    assert flops("CollectiveReduce", Tensor((100,), DT_INT32), group_size=4) == 0
    with pytest.raises(UnknownError, match="group_size"):
        flops("CollectiveReduce", floats(100))
