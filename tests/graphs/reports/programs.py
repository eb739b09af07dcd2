"""A graph of two layers whose numbers can be worked out by hand.

With a batch of 8: ``dense1`` multiplies [8, 4] by [4, 3] (96 MACs) and has a Relu (24), ``dense2``
multiplies [8, 3] by [3, 2] (48 MACs), and ``add`` outside of both has 16 operations. No op uses
``spare/v``.
"""

from tests.graphs.interpreter.programs import FLOAT, Type, graph, node, placeholder, shape


def variable(name, *dims):
    return node(name, "VarHandleOp", dtype=Type(FLOAT), shape=shape(*dims), shared_name=name)


def read(name, variable):
    return node(name, "ReadVariableOp", variable, dtype=Type(FLOAT))


def matmul(name, a, b):
    return node(name, "MatMul", a, b, T=Type(FLOAT))


def two_layers(batch=None):
    return graph(
        placeholder("x", batch, 4),
        variable("dense1/w", 4, 3),
        read("dense1/MatMul/ReadVariableOp", "dense1/w"),
        matmul("dense1/MatMul", "x", "dense1/MatMul/ReadVariableOp"),
        node("dense1/Relu", "Relu", "dense1/MatMul", T=Type(FLOAT)),
        variable("dense2/w", 3, 2),
        read("dense2/MatMul/ReadVariableOp", "dense2/w"),
        matmul("dense2/MatMul", "dense1/Relu", "dense2/MatMul/ReadVariableOp"),
        node("add", "AddV2", "dense2/MatMul", "dense2/MatMul", T=Type(FLOAT)),
        variable("spare/v", 5),
    )
