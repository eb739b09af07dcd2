"""Ops without float operations."""

from __future__ import annotations

import fnmatch

import pytest

from tfprof.graphs.flops.free import OP_TYPES
from tfprof.graphs.flops.registry import FREE

EXAMPLES = (
    "Const", "Placeholder", "Identity", "Reshape", "Transpose", "ConcatV2", "StridedSlice", "Pad",
    "GatherV2", "ResourceGather", "Shape", "Cast", "VarHandleOp", "ReadVariableOp", "NoOp",
    "AssignVariableOp", "Switch", "Merge", "Enter", "TensorListPushBack", "TensorArrayReadV3",
    "QueueDequeueV2", "HashTableV2", "IteratorGetNext", "MapDataset", "ReadFile", "RestoreV2",
    "StringJoin", "DecodeJpeg", "ParseExampleV2", "WriteSummary", "Assert", "_Send", "_Recv",
    "CollectiveGatherV2", "RandomUniformInt", "TPUReplicateMetadata", "_Arg", "_Retval",
)  # fmt: skip

COMPUTING = (
    "MatMul", "AddV2", "Mul", "Softmax", "ResizeBilinear", "ScatterNdAdd", "TensorScatterAdd",
    "RandomUniform", "RandomStandardNormal", "CollectiveReduceV2", "NcclAllReduce", "TopKV2",
    "ResourceApplyAdam", "AddN", "PartitionedCall", "StatefulPartitionedCall", "If", "While",
    "Case", "MapDefun", "XlaLaunch", "XlaCallModule", "RemoteCall", "BatchFunction",
)  # fmt: skip


@pytest.mark.parametrize("op_type", EXAMPLES)
def test_what_moves_or_describes_data_is_free(op_type: str) -> None:
    assert op_type in FREE


@pytest.mark.parametrize("op_type", COMPUTING)
def test_what_computes_or_calls_is_not_free(op_type: str) -> None:
    assert op_type not in FREE


def test_reasons_are_sentences_without_an_end() -> None:
    for reason in OP_TYPES:
        assert reason[0].islower()
        assert not reason.endswith(".")
        assert "\n" not in reason


@pytest.mark.tensorflow
def test_all_of_them_are_ops_of_tensorflow() -> None:
    session = pytest.importorskip("tensorflow.python.client.pywrap_tf_session")
    op_def_pb2 = pytest.importorskip("tensorflow.core.framework.op_def_pb2")
    known = op_def_pb2.OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    ops = {op.name for op in known.op}
    words = " ".join(OP_TYPES.values()).split()
    assert {word for word in words if "*" not in word} <= ops
    for pattern in [word for word in words if "*" in word]:
        assert len(fnmatch.filter(ops, pattern)) > 5, pattern
