"""Shapes of the outputs of updates of variables."""

from __future__ import annotations

from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.rules import Rules

RULES: Rules[PartialShape] = Rules()

_OPTIMIZERS = (
    *("GradientDescent", "Momentum", "Adam", "AdaMax", "RMSProp", "CenteredRMSProp", "Adagrad"),
    *("AdagradV2", "AdagradDA", "Adadelta", "Ftrl", "FtrlV2", "AddSign", "PowerSign"),
    *("ProximalGradientDescent", "ProximalAdagrad", "KerasMomentum", "AdamWithAmsgrad"),
)
DENSE_ONLY = ("GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign", "AdamWithAmsgrad")
"""Optimizers without an op for sparse gradients."""

RESOURCES_ONLY = ("KerasMomentum", "AdamWithAmsgrad")
"""Optimizers without an op for the variables of TensorFlow 1."""

_SPARSE = tuple(name for name in _OPTIMIZERS if name not in DENSE_ONLY)


RULES.of(
    *("ResourceApply" + name for name in _OPTIMIZERS),
    *("ResourceSparseApply" + name for name in _SPARSE),
    """
    AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd ResourceScatterSub
    ResourceScatterMul ResourceScatterDiv ResourceScatterMin ResourceScatterMax
    ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdMin ResourceScatterNdMax
    AccumulatorApplyGradient ResourceAccumulatorApplyGradient SparseAccumulatorApplyGradient
    """,
)(lambda op: [])
RULES.of(
    *("Apply" + name for name in _OPTIMIZERS if name not in RESOURCES_ONLY),
    *("SparseApply" + name for name in _SPARSE if name not in RESOURCES_ONLY),
    "AssignAdd AssignSub",
)(lambda op: [op.shape()])
RULES.of("AccumulatorTakeGradient ResourceAccumulatorTakeGradient")(lambda op: [None])
RULES.of("SparseAccumulatorTakeGradient")(lambda op: [(None,), None, (None,)])
