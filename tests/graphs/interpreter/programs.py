"""GraphDefs with functions, written short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfprof.core.wire import messages as pb
from tfprof.graphs.flops.registry import all_formulas
from tfprof.graphs.interpreter.analysis import Analysis
from tfprof.graphs.interpreter.engine import Engine, Settings
from tfprof.graphs.read.program import read_program

FLOAT, INT, BOOL, RESOURCE = 1, 3, 10, 20


class Ref(str):
    """The name of a function, as an attribute."""


class Type(int):
    """A ``DataType``, as an attribute."""


def _value(value: Any) -> pb.AttrValue:
    if isinstance(value, Ref):
        return pb.AttrValue(func=pb.NameAttrList(name=str(value)))
    if isinstance(value, Type):
        return pb.AttrValue(type=int(value))
    if isinstance(value, bool):
        return pb.AttrValue(b=value)
    if isinstance(value, int):
        return pb.AttrValue(i=value)
    if isinstance(value, str):
        return pb.AttrValue(s=value.encode())
    if isinstance(value, (pb.TensorShapeProto, pb.TensorProto)):
        return pb.AttrValue(
            **{"shape" if isinstance(value, pb.TensorShapeProto) else "tensor": value}
        )
    if value and isinstance(value[0], Ref):
        functions = [pb.NameAttrList(name=str(name)) for name in value]
        return pb.AttrValue(list=pb.AttrValue.ListValue(func=functions))
    return pb.AttrValue(list=pb.AttrValue.ListValue(type=[int(kind) for kind in value]))


def shape(*dims: int | None) -> pb.TensorShapeProto:
    """A shape."""
    return pb.TensorShapeProto(
        dim=[pb.TensorShapeProto.Dim(size=-1 if dim is None else dim) for dim in dims]
    )


def node(name: str, op: str, *inputs: str, **attrs: Any) -> pb.NodeDef:
    """A node; an attribute may be a number, text, a ``Ref``, a ``Type``, or a list of those."""
    message = pb.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        message.attr[key].CopyFrom(_value(value))
    return message


def placeholder(name: str, *dims: int | None, dtype: int = FLOAT) -> pb.NodeDef:
    """An input of a graph."""
    return node(name, "Placeholder", dtype=Type(dtype), shape=shape(*dims))


def const(name: str, *values: int, rank: int = 0) -> pb.NodeDef:
    """An int constant: a scalar, or a vector with ``rank=1``."""
    tensor = pb.TensorProto(
        dtype=INT, tensor_shape=shape(*([len(values)] if rank else [])), int_val=values
    )
    return node(name, "Const", dtype=Type(INT), value=tensor)


def function(
    name: str, args: Mapping[str, int], rets: Mapping[str, tuple[str, int]], *nodes: pb.NodeDef
) -> pb.FunctionDef:
    """A function: its arguments' types, and where its results come from, with their types."""
    definition = pb.FunctionDef(node_def=nodes)
    definition.signature.name = name
    for arg, dtype in args.items():
        definition.signature.input_arg.add(name=arg, type=dtype)
    for ret, (tensor, dtype) in rets.items():
        definition.signature.output_arg.add(name=ret, type=dtype)
        definition.ret[ret] = tensor
    return definition


def graph(*parts: pb.NodeDef | pb.FunctionDef) -> pb.GraphDef:
    """A graph of nodes and functions."""
    message = pb.GraphDef()
    for part in parts:
        (message.node if isinstance(part, pb.NodeDef) else message.library.function).append(part)
    return message


def analyse(message: pb.GraphDef, **settings: Any) -> tuple[Analysis, Engine]:
    """Walk a graph."""
    formulas, free = all_formulas()
    engine = Engine(read_program(message), Settings(formulas=formulas, free=free, **settings))
    return engine.run(), engine
