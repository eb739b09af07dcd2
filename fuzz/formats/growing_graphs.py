"""Graphs that grow in one dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tests.graphs.interpreter import programs
from tests.graphs.interpreter.control_flow import loop
from tests.graphs.interpreter.programs import Ref, Type, const, function, node, placeholder
from tfprof.core.wire import messages as pb

Grow = Callable[[int], bytes]


def _of(nodes: Iterable[pb.NodeDef], functions: Iterable[pb.FunctionDef] = ()) -> bytes:
    graph = pb.GraphDef(node=nodes)
    graph.library.function.extend(functions)
    return bytes(graph.SerializeToString())


def _each(make: Callable[[int], pb.NodeDef], first: Iterable[pb.NodeDef] = ()) -> Grow:
    """A graph of as many nodes as there is room for."""

    def grow(n_bytes: int) -> bytes:
        count = max(n_bytes // (make(1000).ByteSize() + 3), 1)
        return _of([*first, *map(make, range(count))])

    return grow


def _one(make: Callable[[int], pb.NodeDef]) -> Grow:
    return lambda n_bytes: _of([placeholder("x", 4, 4), make(n_bytes)])


def _calls(make: Callable[[int], list[pb.NodeDef]]) -> Grow:
    """Functions of which each one calls others."""

    def grow(n_bytes: int) -> bytes:
        made, size = [function("f0", {"x": 1}, {"y": ("x", 1)})], 0
        while size < n_bytes:
            result = {"y": ("c:output:0", 1)}
            made.append(function(f"f{len(made)}", {"x": 1}, result, *make(len(made))))
            size += made[-1].ByteSize()
        last = made[-1].signature.name
        return _of([placeholder("x", 4, 4), _call("c", last, "x")], made)

    return grow


def _call(name: str, of: str, *inputs: str) -> pb.NodeDef:
    return node(name, "PartitionedCall", *inputs, f=Ref(of), Tin=[1], Tout=[1])


def _whiles(n_bytes: int) -> bytes:
    """Loops in loops, as functions."""
    made = [function("cond", {"x": 1}, {"y": ("less", 10)}, node("less", "Less", "x", "x"))]
    made.append(
        function("b0", {"x": 1}, {"y": ("mm:product:0", 1)}, node("mm", "MatMul", "x", "x"))
    )
    size = 0
    while size < n_bytes:
        inner = node("c", "While", "x", cond=Ref("cond"), body=Ref(f"b{len(made) - 2}"), T=[1])
        made.append(function(f"b{len(made) - 1}", {"x": 1}, {"y": ("c:output:0", 1)}, inner))
        size += made[-1].ByteSize()
    return _of([placeholder("x", 4, 4), node("w", "While", "x", cond=Ref("cond"),
                body=Ref(made[-1].signature.name), T=[1])], made)  # fmt: skip


def _frames(nested: bool) -> Grow:
    """Loops of TensorFlow 1, one after the other, or each in the one before."""

    def grow(n_bytes: int) -> bytes:
        nodes, x = [placeholder("x", 4, 4), const("n", 3)], "x"
        for place in range(max(n_bytes // 900, 1)):
            prefix = f"w{place}/"
            nodes += [one for one in loop(nodes[1], prefix, x) if one is not nodes[1]]
            x = f"{prefix}sx:1" if nested else f"{prefix}out"
        return _of(nodes)

    return grow


def _values(n_bytes: int) -> pb.NodeDef:
    return const("c", *([7] * (n_bytes // 2)), rank=1)


def _text_values(n_bytes: int) -> pb.NodeDef:
    tensor = pb.TensorProto(dtype=7, string_val=[b"word"] * (n_bytes // 6))
    tensor.tensor_shape.dim.add(size=n_bytes // 6)
    return node("c", "Const", dtype=Type(7), value=tensor)


def _shapes(n_bytes: int) -> pb.NodeDef:
    made = node("a", "Split", "x")
    made.attr["_output_shapes"].list.shape.extend([programs.shape(3, 4)] * (n_bytes // 10))
    return made


def _attributes(n_bytes: int) -> pb.NodeDef:
    return node("a", "Relu", "x", **{f"attribute_{at}": at for at in range(n_bytes // 26)})


def _equation(n_bytes: int) -> pb.NodeDef:
    terms = n_bytes // 3
    return node("a", "Einsum", *["x"] * 2, N=2, equation="ab," * terms + "bc->ac")


GROWING: Mapping[str, Grow] = {
    "nodes": _each(lambda at: node(f"layer/op_{at}", "Relu", "x"), [placeholder("x", 4, 4)]),
    "nodes in a row": _each(lambda at: node(f"op_{at}", "Relu", f"op_{at - 1}")),
    "nodes in a row, backwards": _each(lambda at: node(f"op_{at}", "Relu", f"op_{at + 1}")),
    "a cycle": _each(lambda at: node(f"op_{at}", "Relu", f"op_{(at - 1) % 1000}", f"op_{at + 1}")),
    "two inputs each": _each(lambda at: node(f"o{at}", "Add", f"o{at - 1}", f"o{at - 2}")),
    "inputs of one node": _one(lambda n: node("a", "AddN", *["x"] * (n // 3), N=n // 3)),
    "inputs of one node, all different": lambda n: _of(
        [*(const(f"c{at}", 1) for at in range(n // 50)),
         node("a", "Pack", *(f"c{at}" for at in range(n // 50)), N=n // 50)]
    ),
    "control inputs": _one(lambda n: node("a", "NoOp", *["^x"] * (n // 4))),
    "unknown inputs": _one(lambda n: node("a", "NoOp", *(f"u{at}" for at in range(n // 8)))),
    "ports of one node": _one(lambda n: node("a", "NoOp", *(f"x:{at}" for at in range(n // 9)))),
    "nodes of one name": _each(lambda at: node("same", "Relu", "same")),
    "names up to a number": _each(lambda at: node(f"a/b_{at}/c", "MatMul", "x", "x")),
    "scopes": _each(lambda at: node(f"scope_{at}/inner_{at}/op", "MatMul", "x", "x")),
    "levels of one name": _one(lambda n: node("/".join("a" * (n // 2)), "Relu", "x")),
    "levels of each name": lambda n: _of(
        node("/".join(["ab"] * int((n / 1.5) ** 0.5)) + f"_{at}", "Relu")
        for at in range(int((n / 1.5) ** 0.5) // 2)
    ),
    "levels of names, one more each": lambda n: _of(
        node("a/" * at + "b", "Relu") for at in range(int(n**0.5))
    ),
    "one name": _one(lambda n: node("x" * n, "Relu", "x")),
    "one name of slashes": _one(lambda n: node("/" * n, "Relu", "x")),
    "one op type": _one(lambda n: node("a", "T" * n, "x")),
    "op types": _each(lambda at: node(f"a{at}", f"Type{at}", "x")),
    "one device": _one(lambda n: pb.NodeDef(name="a", op="Relu", device="/device:CPU:" + "1" * n)),
    "devices": _each(lambda at: pb.NodeDef(name=f"a{at}", op="Relu", device=f"/device:GPU:{at}")),
    "one text of an attribute": _one(lambda n: node("a", "Relu", "x", data_format="N" * n)),
    "attributes of one node": _one(_attributes),
    "shapes of one node": _one(_shapes),
    "dimensions of one shape": _one(
        lambda n: node("a", "Placeholder", dtype=Type(1), shape=programs.shape(*[3] * (n // 4)))
    ),
    "dimensions of many": _each(
        lambda at: node(f"p{at}", "Placeholder", dtype=Type(1), shape=programs.shape(*[2**31] * 40))
    ),
    "unknown dimensions": _each(lambda at: placeholder(f"p{at}", None, None, 3)),
    "products of unknown dimensions": _each(
        lambda at: node(f"p{at}", "Mul", f"p{at - 1}", f"q{at % 100}"),
        [placeholder(f"q{at}", None, *[1] * (at % 30)) for at in range(100)],
    ),
    "values of a constant": _one(_values),
    "texts of a constant": _one(_text_values),
    "terms of an equation": _one(_equation),
    "letters of an equation": _one(
        lambda n: node("a", "Einsum", "x", "x", N=2, equation="a" * (n // 2) + "," + "b" * (n // 2))
    ),
    "variables": _each(
        lambda at: node(f"v{at}", "VariableV2", shape=programs.shape(4, 3), dtype=Type(1))
    ),
    "resource variables": _each(
        lambda at: node(f"v{at}", "VarHandleOp", shape=programs.shape(4, 3), shared_name=f"v{at}",
                        dtype=Type(1))
    ),
    "reads of one variable": _each(
        lambda at: node(f"r{at}", "ReadVariableOp", "v"),
        [node("v", "VarHandleOp", shape=programs.shape(4, 3), shared_name="v", dtype=Type(1))],
    ),
    "gradients": _each(
        lambda at: node(f"gradients/op_{at}_grad/MatMul", "MatMul", "x", "x"),
            [placeholder("x", 4, 4)]
    ),
    "enters of one frame": _each(
        lambda at: node(f"e{at}", "Enter", "x", frame_name="f"), [placeholder("x", 4, 4)]
    ),
    "frames": _each(
        lambda at: node(f"e{at}", "Enter", "x", frame_name=f"f{at}"), [placeholder("x", 4, 4)]
    ),
    "frames in frames": _each(
        lambda at: node(f"e{at}", "Enter", f"e{at - 1}", frame_name=f"f{at}"),
        [placeholder("e-1", 4, 4)],
    ),
    "switches in a row": _each(
        lambda at: node(f"s{at}", "Switch", f"s{at - 1}:1", "p"), [placeholder("s-1", 4, 4)]
    ),
    "merges in a row": _each(
        lambda at: node(f"m{at}", "Merge", f"m{at - 1}", f"m{at - 2}", N=2), [placeholder("m-1", 4)]
    ),
    "loops": _frames(nested=False),
    "loops in loops": _frames(nested=True),
    "functions in a row": _calls(lambda at: [_call("c", f"f{at - 1}", "x")]),
    "functions that call twice": _calls(
        lambda at: [_call("a", f"f{at - 1}", "x"), _call("c", f"f{at - 1}", "a:output:0")]
    ),
    "functions that call all before": _calls(
        lambda at: [*(_call(f"a{one}", f"f{one}", "x") for one in range(at - 1)),
                    _call("c", f"f{at - 1}", "x")]
    ),
    "functions that call themselves": _calls(lambda at: [_call("c", f"f{at}", "x")]),
    "whiles in whiles": _whiles,
    "calls of one function": lambda n: _of(
        [placeholder("x", 4, 4), *(_call(f"c{at}", "f", "x") for at in range(n // 70))],
        [function("f", {"x": 1}, {"y": ("m:product:0", 1)}, node("m", "MatMul", "x", "x"))],
    ),
    "calls of one function with new shapes": lambda n: _of(
        [one for at in range(n // 110) for one in
         (placeholder(f"x{at}", at + 1, at + 1), _call(f"c{at}", "f", f"x{at}"))],
        [function("f", {"x": 1}, {"y": ("m:product:0", 1)}, node("m", "MatMul", "x", "x"))],
    ),
    "arguments of one function": lambda n: _of(
        [_call("c", "f", *["x"] * (n // 30))],
        [function("f", {f"x{at}": 1 for at in range(n // 30)}, {"y": ("x0", 1)})],
    ),
    "branches": _one(
        lambda n: node("a", "Case", "x", "x", branches=[Ref(f"f{at}") for at in range(n // 10)])
    ),
    "colocations": _each(
        lambda at: node(f"a{at}", "Relu", "x", _class=f"loc:@a{at - 1}"), [placeholder("x", 4)]
    ),
    "empty nodes": lambda n: b"\n\0" * (n // 2),
}  # fmt: skip
"""By what grows."""
