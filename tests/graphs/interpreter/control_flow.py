"""Loops and branches of TensorFlow 1."""

from tests.graphs.interpreter.programs import FLOAT, INT, Type, const, node

T = {"T": Type(FLOAT)}
TI = {"T": Type(INT)}


def loop(limit, prefix="w/", x="x", inner=(), product="mm"):
    """``while i < limit: x = x @ x``."""
    name = prefix
    return [
        const(f"{name}start", 0),
        limit,
        node(f"{name}ei", "Enter", f"{name}start", frame_name=f"{name}frame", **TI),
        node(f"{name}ex", "Enter", x, frame_name=f"{name}frame", **T),
        node(f"{name}en", "Enter", limit.name, frame_name=f"{name}frame", is_constant=True, **TI),
        node(f"{name}mi", "Merge", f"{name}ei", f"{name}ni", N=2, **TI),
        node(f"{name}mx", "Merge", f"{name}ex", f"{name}nx", N=2, **T),
        node(f"{name}less", "Less", f"{name}mi", f"{name}en", **TI),
        node(f"{name}go", "LoopCond", f"{name}less"),
        node(f"{name}si", "Switch", f"{name}mi", f"{name}go", **TI),
        node(f"{name}sx", "Switch", f"{name}mx", f"{name}go", **T),
        node(f"{name}one", "Const", f"^{name}si", dtype=Type(INT),
             value=const("c", 1).attr["value"].tensor),
        node(f"{name}add", "AddV2", f"{name}si:1", f"{name}one", **TI),
        node(f"{name}mm", "MatMul", f"{name}sx:1", f"{name}sx:1", **T),
        *inner,
        node(f"{name}ni", "NextIteration", f"{name}add", **TI),
        node(f"{name}nx", "NextIteration", f"{name}{product}", **T),
        node(f"{name}out", "Exit", f"{name}sx", **T),
        node(f"{name}count", "Exit", f"{name}si", **TI),
    ]  # fmt: skip


def conditional(predicate, name="c/", x="x"):
    """``x @ x if p else relu(x)``."""
    return [
        node(f"{name}t", "Switch", x, predicate, **T),
        node(f"{name}mm", "MatMul", f"{name}t:1", f"{name}t:1", **T),
        node(f"{name}f", "Switch", x, predicate, **T),
        node(f"{name}relu", "Relu", f"{name}f", **T),
        node(f"{name}out", "Merge", f"{name}relu", f"{name}mm", N=2, **T),
    ]
