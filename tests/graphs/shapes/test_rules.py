from __future__ import annotations

from tfprof.graphs.shapes.rules import with_onednn


def test_each_op_type_is_followed_by_its_kernels() -> None:
    assert with_onednn("Conv2D", "_FusedMatMul") == (
        *("Conv2D", "_MklConv2D", "_MklNativeConv2D"),
        *("_FusedMatMul", "_MklFusedMatMul", "_MklNativeFusedMatMul"),
    )
