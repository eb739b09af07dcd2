"""Names under which TensorFlow runs ops with oneDNN (formerly MKL-DNN)."""

from __future__ import annotations


def with_onednn(*op_types: str) -> tuple[str, ...]:
    """Op types, each followed by the names of its two oneDNN kernels.

    ``Conv2D`` becomes ``_MklNativeConv2D``, or ``_MklConv2D`` where each tensor comes with another
    one that describes its layout, behind all others. ``_FusedConv2D`` loses its underscore first.
    The rule gives some names that no version of TensorFlow has; they are never looked up.
    """
    names: list[str] = []
    for op_type in op_types:
        bare = op_type.removeprefix("_")
        names += (op_type, f"_Mkl{bare}", f"_MklNative{bare}")
    return tuple(names)


def onednn_kernels(name: str) -> tuple[str, ...]:
    """Names of the oneDNN kernels of a fused op that TensorFlow has under no other name."""
    return f"_Mkl{name}", f"_MklNative{name}", f"__MklDummy{name}"
