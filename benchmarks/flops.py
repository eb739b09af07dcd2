"""How long it takes to count the float operations of graphs.

    python benchmarks/flops.py [--nodes 10000,100000,1000000] [--graph FILE] [--repeat 5]

Two questions: the ResNet-50 step that ships with tfprof (or another graph), parameters and float
operations, in a process without TensorFlow, beside what TensorFlow's profiler takes for its count
of the same graph; and how the time grows with the number of nodes of a graph whose functions are
nested.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tfprof
from tfprof.core.wire import messages as pb

NODES_PER_FUNCTION = 1000


def nested_graph(n_nodes: int) -> bytes:
    """A chain of layers in functions, each of which calls the next one."""
    graph = pb.GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 1
    for size in (-1, 64):
        node.attr["shape"].shape.dim.add(size=size)
    n_functions = max(n_nodes // NODES_PER_FUNCTION, 1)
    call(graph.node.add(name="run"), "x", "f0")
    for place in range(n_functions):
        function = graph.library.function.add()
        function.signature.name = f"f{place}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        tensor = "x"
        for step in range(NODES_PER_FUNCTION - 1):
            kind, output = (("Relu", "activations"), ("Tanh", "y"), ("AddV2", "z"))[step % 3]
            node = function.node_def.add(name=f"block_{step // 10}/{kind}_{step}", op=kind)
            node.input.extend([tensor, tensor] if kind == "AddV2" else [tensor])
            node.attr["T"].type = 1
            tensor = f"{node.name}:{output}:0"
        if place + 1 < n_functions:
            call(function.node_def.add(name="next"), tensor, f"f{place + 1}")
            tensor = "next:output:0"
        function.ret["y"] = tensor
    return graph.SerializeToString()


def call(node: pb.NodeDef, tensor: str, function: str) -> None:
    """Make a node a call."""
    node.op = "PartitionedCall"
    node.input.append(tensor)
    node.attr["f"].func.name = function
    for name in ("Tin", "Tout"):
        node.attr[name].list.type.append(1)


def median_seconds(job: Callable[[], object], repeat: int) -> float:
    """Median time of some runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nodes", default="10000,100000,1000000")
    parser.add_argument("--graph", type=Path, default=None)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    source = given.graph or tfprof.demo_files().graph
    data = read(source).SerializeToString()

    def count() -> None:
        report = tfprof.flops(data)
        assert report.flops and report.coverage
        assert tfprof.params(data).total >= 0

    def by_scope() -> None:
        assert tfprof.flops(data).by_scope

    print(f"{source.name}: {median_seconds(count, given.repeat):.3f} s, with parameters")
    print(f"  by scope: {median_seconds(by_scope, given.repeat):.3f} s")
    print(f"  TensorFlow's count: {tensorflow_seconds(source, given.repeat)}")
    assert "tensorflow" not in sys.modules

    before: tuple[int, float] | None = None
    for n_nodes in map(int, given.nodes.split(",")):
        graph = nested_graph(n_nodes)
        seconds = median_seconds(partial(flops_of, graph), min(given.repeat, 3))
        line = f"{n_nodes:>9,} nodes: {seconds:7.2f} s, {1e6 * seconds / n_nodes:.1f} µs each"
        if before is not None:
            line += f", {seconds / before[1]:.1f} × for {n_nodes / before[0]:g} ×"
        print(line)
        before = (n_nodes, seconds)


def flops_of(graph: bytes) -> object:
    """The whole count of a graph."""
    return tfprof.flops(graph).flops


THEIRS = """
import gzip, statistics, sys, time
import tensorflow as tf

path, repeat = sys.argv[1], int(sys.argv[2])
data = open(path, "rb").read()
data = gzip.decompress(data) if path.endswith(".gz") else data
graph_def = tf.compat.v1.GraphDef.FromString(data)
graph = tf.Graph()
with graph.as_default():
    tf.import_graph_def(graph_def, name="")
profiler = tf.compat.v1.profiler
options = {**profiler.ProfileOptionBuilder.float_operation(), "output": "none"}
times = []
for _ in range(repeat):
    start = time.perf_counter()
    total = profiler.profile(graph, cmd="op", options=options).total_float_ops
    times.append(time.perf_counter() - start)
print(f"{statistics.median(times):.3f} s for float operations alone, {total:,} of them")
"""


def tensorflow_seconds(path: Path, repeat: int) -> str:
    """What TensorFlow takes for an imported graph, the import not included."""
    if path.suffix not in (".pb", ".gz"):
        return "n/a (a GraphDef in a .pb or .gz file is needed)"
    command = [sys.executable, "-c", THEIRS, str(path), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"n/a ({done.stderr.strip().splitlines()[-1]})"
    return done.stdout.strip()


def read(path: Path) -> pb.GraphDef:
    """A GraphDef in a file, perhaps compressed."""
    from tfprof.files.open import open_message
    from tfprof.graphs.read.graphdef import GRAPH_FORMATS

    message: pb.GraphDef = open_message(path, GRAPH_FORMATS, argument="graph").message
    return message


if __name__ == "__main__":
    main()
