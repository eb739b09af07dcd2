"""Graphs that contradict themselves are counted as far as they go; nothing crashes."""

import random

import pytest

import tfprof
from tests.graphs.interpreter.control_flow import conditional, loop
from tests.graphs.interpreter.programs import FLOAT, Ref, Type, const, function, graph, node
from tests.graphs.interpreter.programs import placeholder as fed
from tests.profiles.float_ops.profiled_graphs import LOOP
from tfprof.core.wire import messages as pb
from tfprof.graphs.read.op_outputs import outputs_of

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

T = {"T": Type(FLOAT)}
IMAGES = [
    fed("x", None, 8, 8, 3), node("k", "VarHandleOp", dtype=Type(FLOAT)),
    node("kernel", "ReadVariableOp", "k", dtype=Type(FLOAT)),
    node("conv", "Conv2D", "x", "kernel", padding="SAME", data_format="NHWC", **T),
    node("shape", "Shape", "conv", out_type=Type(3), **T), const("zero", 0, rank=1),
    const("one", 1, rank=1),
    node("batch", "StridedSlice", "shape", "zero", "one", "one", shrink_axis_mask=1, **T),
    const("rest", -1), node("dims", "Pack", "batch", "rest", N=2, T=Type(3)),
    node("flat", "Reshape", "conv", "dims", **T),
    node("square", "MatMul", "flat", "flat", transpose_b=True, **T),
    node("call", "PartitionedCall", "square", Tin=[FLOAT], Tout=[FLOAT], f=Ref("f")),
    function("f", {"x": FLOAT}, {"y": ("e:output:0", FLOAT)},
             node("e", "Einsum", "x", "x", N=2, equation="ij,kj->ik", **T)),
]  # fmt: skip
GRAPHS = [
    graph(*IMAGES),
    graph(*LOOP),
    graph(fed("x", 8, 8), *loop(const("n", 6)), *conditional("w/less", x="w/out")),
]
OPS = (
    *("Conv2D", "Merge", "While", "If", "TensorListStack", "Einsum", "Switch", "NextIteration"),
    *("Identity", "StridedSlice", "Nonsense", "CudnnRNN", "Svd", "Case", "MapDefun", "Split"),
)
NUMBERS = (-(2**62), -1, 0, 1, 7, 2**62)


def broken(message: pb.GraphDef, chance: random.Random) -> pb.GraphDef:
    """A copy with a few random faults."""
    copy = pb.GraphDef.FromString(message.SerializeToString())
    bodies = [copy.node, *(each.node_def for each in copy.library.function)]
    for _ in range(chance.randint(1, 5)):
        nodes = chance.choice(bodies)
        victim = nodes[chance.randrange(len(nodes))]
        fault = chance.randrange(6)
        other = chance.choice(list(nodes)).name
        if fault == 0:
            victim.op = chance.choice(OPS)
        elif fault == 1:
            victim.input.append(other + chance.choice(["", ":1", ":99", ":output:0"]))
        elif fault == 2 and victim.input:
            del victim.input[chance.randrange(len(victim.input))]
        elif fault == 3:
            victim.name = other
        elif victim.attr:
            value = victim.attr[chance.choice(sorted(victim.attr))]
            change = chance.randrange(5)
            if change == 0:
                value.i = chance.choice(NUMBERS)
            elif change == 1:
                value.list.i.extend(chance.choices(NUMBERS, k=chance.randint(0, 5)))
            elif change == 2:
                value.shape.dim.add(size=chance.choice(NUMBERS))
            elif change == 3:
                value.func.name = chance.choice(["f", "body", "cond", "missing"])
            else:
                value.s = chance.choice([b"", b"\xff", b"NCHW", b"ii,->"])
    return copy


@pytest.mark.parametrize("seed", range(150))
def test_broken_graphs_are_counted_as_far_as_they_go(seed):
    chance = random.Random(seed)
    message = broken(GRAPHS[seed % len(GRAPHS)], chance)
    try:
        report = tfprof.flops(message)
        again = tfprof.flops(message)
        view = tfprof.Profiler(message).view("scope")
        tfprof.params(message)
    except tfprof.TfprofError:
        return
    assert report.explain() == again.explain()
    assert 0 <= report.coverage <= 1
    assert len(report.to_rows()) == len(report.ops)
    assert not isinstance(report.flops, int) or report.flops >= 0
    assert view.total_float_ops >= 0


def test_the_faults_use_ops_of_tensorflow():
    assert [name for name in OPS if outputs_of(name) is None] == ["Nonsense"]
