"""Makes the step of many transformers side by side, of any number of nodes.

    python benchmarks/make_transformers.py --nodes 1000000 --layers 24 FOLDER

Every tower is a chain of layers as TensorFlow 1 writes them: variables with their reads, products,
biases, normalisations with constants, gradients and Adam, in nested name scopes, with the output
shapes that `add_shapes=True` gives. One layer is made as messages; the others are its bytes with
other numbers of the same width. The step has one execution of each op on a GPU or a CPU, and the op
log a call stack for each of them. `--layers` larger than the graph needs gives one deep chain.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from generate import BYTES, encode, time_stamps, varint

from tfprof.core.wire import messages as pb

BATCH, LENGTH, WIDTH, HEADS = 8, 128, 512, 8
FLOAT, INT32 = 1, 3
HERE, BEFORE, AFTER = (f"tower_{5 * mark}/layer_{7 * mark}" for mark in "?!%")
FRAMES = ("train.py", "main", 40), ("train.py", "build", 80), ("model.py", "transformer", 120)
START_MICROS, NODE_MICROS = 1_500_000_000_000_000, 10
ROWS, WIDE = (BATCH * LENGTH, WIDTH), (BATCH * LENGTH, 4 * WIDTH)
SPLIT, SCORES = (BATCH, HEADS, LENGTH, WIDTH // HEADS), (BATCH, HEADS, LENGTH, LENGTH)

Shape = tuple[int, ...]


class Layer:
    """The nodes of a part of a tower, under the placeholder's scope."""

    def __init__(self) -> None:
        self.nodes: list[pb.NodeDef] = []

    def add(self, name: str, kind: str, inputs: Sequence[str] = (), shape: Shape = ROWS) -> str:
        node = pb.NodeDef(name=name, op=kind, input=inputs)
        node.attr["_output_shapes"].list.shape.add().dim.extend(dims(shape))
        if kind == "VariableV2":
            node.attr["dtype"].type = FLOAT
            node.attr["shape"].shape.dim.extend(dims(shape))
            node.attr["container"].s = b""
        elif kind == "Const":
            node.attr["dtype"].type = INT32
            node.attr["value"].tensor.dtype = INT32
            node.attr["value"].tensor.tensor_shape.dim.extend(dims(shape))
            node.attr["value"].tensor.int_val.append(1)
        else:
            node.attr["T"].type = FLOAT
        if kind in {"MatMul", "BatchMatMulV2"}:
            first, second = "ab" if kind == "MatMul" else "xy"
            prefix = "transpose_" if kind == "MatMul" else "adj_"
            node.attr[prefix + first].b = False
            node.attr[prefix + second].b = name.endswith("scores")
        if kind == "Identity" and inputs and inputs[0] in {each.name for each in self.nodes}:
            node.attr["_class"].list.s.append(b"loc:@" + inputs[0].encode())
        self.nodes.append(node)
        return name

    def variable(self, name: str, shape: Shape) -> str:
        """A variable with its initial value; returns its read."""
        start = self.add(f"{name}/Initializer/random_uniform", "RandomUniform", [
            self.add(f"{name}/Initializer/random_uniform/shape", "Const", (), (len(shape),)),
        ], shape)  # fmt: skip
        variable = self.add(name, "VariableV2", (), shape)
        self.add(f"{name}/Assign", "Assign", [variable, start], shape)
        moments = [self.add(f"{name}/Adam{nth}", "VariableV2", (), shape) for nth in ("", "_1")]
        read = self.add(f"{name}/read", "Identity", [variable], shape)
        train = self.add(f"train/{name}/grad", "MatMul", [read, read], shape)
        self.add(f"train/update_{name}/ApplyAdam", "ApplyAdam", [variable, *moments, train], shape)
        return read

    def dense(self, name: str, data: str, shape: Shape, inner: int = WIDTH) -> str:
        kernel = self.variable(f"{name}/kernel", (inner, shape[1]))
        product = self.add(f"{name}/MatMul", "MatMul", [data, kernel], shape)
        bias = self.variable(f"{name}/bias", shape[1:])
        return self.add(f"{name}/BiasAdd", "BiasAdd", [product, bias], shape)

    def normalized(self, name: str, data: str) -> str:
        axis = self.add(f"{name}/moments/mean/reduction_indices", "Const", (), (1,))
        mean = self.add(f"{name}/moments/mean", "Mean", [data, axis], (ROWS[0], 1))
        difference = self.add(
            f"{name}/moments/SquaredDifference", "SquaredDifference", [data, mean]
        )
        variance = self.add(f"{name}/moments/variance", "Mean", [difference, axis], (ROWS[0], 1))
        root = self.add(f"{name}/batchnorm/Rsqrt", "Rsqrt", [variance], (ROWS[0], 1))
        scaled = self.add(f"{name}/batchnorm/mul", "Mul", [data, root])
        return self.add(f"{name}/batchnorm/add_1", "AddV2", [scaled, f"{mean}:0"])


def dims(shape: Shape) -> list[pb.TensorShapeProto.Dim]:
    return [pb.TensorShapeProto.Dim(size=size) for size in shape]


def layer() -> list[pb.NodeDef]:
    """One layer between the one before and the one after it."""
    made = Layer()
    data = f"{BEFORE}/output/add"
    heads = []
    for part in ("query", "key", "value"):
        dense = made.dense(f"{HERE}/attention/self/{part}", data, ROWS)
        split = made.add(f"{HERE}/attention/self/{part}/Reshape/shape", "Const", (), (4,))
        shaped = made.add(f"{HERE}/attention/self/{part}/Reshape", "Reshape", [dense, split], SPLIT)
        heads.append(shaped)
    scores = made.add(f"{HERE}/attention/self/scores", "BatchMatMulV2", heads[:2], SCORES)
    weights = made.add(f"{HERE}/attention/self/Softmax", "Softmax", [scores], SCORES)
    mixed = made.add(f"{HERE}/attention/self/context", "BatchMatMulV2", [weights, heads[2]], SPLIT)
    joined = made.add(f"{HERE}/attention/self/Reshape/shape", "Const", (), (2,))
    flat = made.add(f"{HERE}/attention/self/Reshape", "Reshape", [mixed, joined])
    dense = made.dense(f"{HERE}/attention/output/dense", flat, ROWS)
    added = made.add(f"{HERE}/attention/output/add", "AddV2", [dense, data])
    normal = made.normalized(f"{HERE}/attention/output/LayerNorm", added)
    wide = made.dense(f"{HERE}/intermediate/dense", normal, WIDE)
    active = made.add(f"{HERE}/intermediate/Relu", "Relu", [wide], WIDE)
    narrow = made.dense(f"{HERE}/output/dense", active, ROWS, 4 * WIDTH)
    made.normalized(f"{HERE}/output/LayerNorm", narrow)
    made.add(f"{HERE}/output/add", "AddV2", [narrow, normal])
    gradient = made.add(
        f"gradients/{HERE}/output/add_grad/AddN", "AddN",
        [f"gradients/{AFTER}/output/add_grad/AddN", narrow],
    )  # fmt: skip
    made.add(
        f"gradients/{HERE}/intermediate/Relu_grad/ReluGrad", "ReluGrad",
        [gradient, active, f"^{HERE}/output/add"], WIDE,
    )  # fmt: skip
    return made.nodes


def ends() -> list[pb.NodeDef]:
    """What comes before the first layer and, for the gradients, after the last."""
    made = Layer()
    made.add(f"{HERE}/output/add", "Placeholder")
    made.add(f"gradients/{HERE}/output/add_grad/AddN", "Fill")
    return made.nodes


class Template:
    """Bytes of one part of a tower, from which those of any are made."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def of(self, tower: int, number: int) -> bytes:
        data = self.data
        for mark, place in ((HERE, number), (BEFORE, number - 1), (AFTER, number + 1)):
            data = data.replace(mark.encode(), b"tower_%05d/layer_%07d" % (tower, place))
        return data


def stats(nodes: Sequence[pb.NodeDef]) -> bytes:
    """Executions of the nodes, one after the other."""
    found = []
    for place, node in enumerate(nodes):
        begin = START_MICROS + NODE_MICROS * place
        stat = pb.NodeExecStats(
            node_name=node.name, all_start_micros=begin, op_start_rel_micros=1,
            op_end_rel_micros=8, all_end_rel_micros=9,
            timeline_label=f"{node.name} = {node.op}({', '.join(node.input)})",
        )  # fmt: skip
        tensor = stat.output.add(slot=0).tensor_description
        tensor.dtype = FLOAT
        tensor.shape.CopyFrom(node.attr["_output_shapes"].list.shape[0])
        tensor.allocation_description.requested_bytes = 4096
        stat.memory.add(allocator_name="GPU_0_bfc", total_bytes=4096, peak_bytes=4096)
        found.append(encode(2, BYTES, stat.SerializeToString()))
    return b"".join(found)


def later(executions: bytes, stamps: list[tuple[int, int, int]], micros: int) -> bytes:
    """The same executions some time later."""
    moved = bytearray(executions)
    for at, value, _unit in stamps:
        shifted = varint(value + micros)
        moved[at : at + len(shifted)] = shifted
    return bytes(moved)


class Written(NamedTuple):
    """Where the three files of a made step lie."""

    graph: Path
    run_meta: Path
    op_log: Path


def parts(n_nodes: int, n_layers: int) -> Iterator[tuple[int, int, bool]]:
    """Tower, place in it, and whether it is a layer; in the order of the graph."""
    of_layer, of_ends = len(layer()), len(ends())
    tower = 0
    while n_nodes > 0:
        length = max(min(n_layers, n_nodes // of_layer), 1)
        yield from ((tower, place, 0 < place <= length) for place in range(length + 2))
        n_nodes -= length * of_layer + 2 * of_ends
        tower += 1


def op_log(nodes: Sequence[pb.NodeDef]) -> bytes:
    """Entries with call stacks whose texts are in `texts`."""
    texts = log_texts()
    numbers = {text: number for number, text in texts.items()}
    entries = []
    for line, node in enumerate(nodes):
        entry = pb.OpLogEntry(name=node.name)
        for file, function, at in (*FRAMES, ("layers.py", node.op, 10 + line)):
            trace = entry.code_def.traces.add(lineno=at, func_start_line=max(at - 9, 1))
            trace.file_id, trace.function_id = numbers[file], numbers[function]
            trace.line_id = numbers["x = f(x)"]
        if node.op == "VariableV2" and "Adam" not in node.name:
            entry.types.append("_trainable_variables")
        entries.append(encode(1, BYTES, entry.SerializeToString()))
    return b"".join(entries)


def log_texts() -> dict[int, str]:
    """The texts of all call stacks."""
    texts = ["", "layers.py", "x = f(x)"]
    texts += [text for file, function, _ in FRAMES for text in (file, function)]
    texts += [node.op for node in (*layer(), *ends())]
    return dict(enumerate(dict.fromkeys(texts)))


def write(n_nodes: int, n_layers: int, folder: Path) -> Written:
    """Write the three files, unless they are there."""
    written = Written(*(folder / f"{name}.pb" for name in Written._fields))
    if all(path.exists() for path in written):
        return written
    folder.mkdir(parents=True, exist_ok=True)
    templates, sizes, stamps, micros = {}, {}, {}, 0
    for is_layer, nodes in ((True, layer()), (False, ends())):
        graph = b"".join(encode(1, BYTES, node.SerializeToString()) for node in nodes)
        templates[is_layer] = Template(graph), Template(stats(nodes)), Template(op_log(nodes))
        sizes[is_layer] = len(nodes)
        stamps[is_layer] = time_stamps(templates[is_layer][1].data, 2)
    places = list(parts(n_nodes, n_layers))
    with written.graph.open("wb") as graph, written.op_log.open("wb") as log:
        executions = bytearray(encode(1, BYTES, b"/job:worker/replica:0/task:0/device:GPU:0"))
        for tower, place, is_layer in places:
            nodes_of, stats_of, log_of = templates[is_layer]
            graph.write(nodes_of.of(tower, place))
            log.write(log_of.of(tower, place))
            executions += later(stats_of.of(tower, place), stamps[is_layer], micros)
            micros += NODE_MICROS * sizes[is_layer]
        log.write(pb.OpLogProto(id_to_string=log_texts()).SerializeToString())
        graph.write(pb.GraphDef(versions={"producer": 1882}).SerializeToString())
    heads = [b""]
    for number in (1, 1):  # DeviceStepStats in StepStats, which is in RunMetadata
        size = len(executions) + sum(map(len, heads))
        heads.insert(0, varint(number << 3 | BYTES) + varint(size))
    with written.run_meta.open("wb") as run:
        run.writelines([*heads, bytes(executions)])
    return written


def main() -> None:
    """Write the files and say where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--layers", type=int, default=24, help="of each tower (default 24)")
    given = parser.parse_args()
    for path in write(given.nodes, given.layers, given.folder):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
