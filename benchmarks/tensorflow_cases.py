"""The cases as TensorFlow's own profiler answers them.

"Core" is the C++ engine alone, called through its native module with serialised bytes. The rest
goes through ``tf.compat.v1.profiler`` and a live graph, as users do. TensorFlow has one engine
per process, so each repetition deletes the one before it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError
from measure import VIEWS, Input, Result, options, peak_mb, resident_mb, timed
from tensorflow.core.profiler.tfprof_output_pb2 import GraphNodeProto, MultiGraphNodeProto
from tensorflow.python.profiler import model_analyzer
from tensorflow.python.util import _pywrap_tfprof as core

tf1 = tf.compat.v1
PROTO = {
    "scope": GraphNodeProto,
    "graph": GraphNodeProto,
    "op": MultiGraphNodeProto,
    "code": MultiGraphNodeProto,
}


def serialised(output: str = "none") -> bytes:
    return bytes(model_analyzer._build_options(options(output)).SerializeToString())


def fresh(data: Input) -> None:
    """A new engine that has seen the step."""
    core.DeleteProfiler()
    core.NewProfiler(data.graph, data.op_log)
    core.AddStep(0, b"", data.run_meta, b"")


def add_step_core(folder: Path, repeat: int) -> Result:
    """``AddStep`` as TensorFlow's Python calls it, with the run metadata alone, and the parser."""
    data = Input.load(folder)
    found: Result = {"parse": [], "add_step": [], "run_meta_only": [], "new_profiler": []}
    for _ in range(repeat):
        seconds, _message = timed(tf1.RunMetadata.FromString, data.run_meta)
        found["parse"].append(seconds)
        for name, graph, log in (
            ("add_step", data.graph, data.op_log),
            ("run_meta_only", b"", b""),
        ):
            core.DeleteProfiler()
            seconds, _ok = timed(core.NewProfiler, data.graph, data.op_log)
            found["new_profiler"].append(seconds)
            seconds, _coverage = timed(core.AddStep, 0, graph, data.run_meta, log)
            found[name].append(seconds)
    return found


def add_steps(graph: Any, run_meta: Any, repeat: int) -> Result:
    """``Profiler(graph)``, then ``add_step`` for a first and a later step."""
    found: Result = {"new_profiler": [], "first": [], "later": []}
    profiler: Any = None
    for _ in range(repeat):
        del profiler
        seconds, profiler = timed(tf1.profiler.Profiler, graph)
        found["new_profiler"].append(seconds)
        for step, name in enumerate(("first", "later")):
            seconds, _none = timed(profiler.add_step, step, run_meta)
            found[name].append(seconds)
    return found


def add_step_python(folder: Path, repeat: int) -> Result:
    """Through Python on a graph imported from the file; its call stacks are the importer's."""
    data = Input.load(folder)
    graph = tf.Graph()
    with graph.as_default():
        tf1.import_graph_def(tf1.GraphDef.FromString(data.graph), name="")
    return add_steps(graph, tf1.RunMetadata.FromString(data.run_meta), repeat)


def add_step_built(folder: Path, repeat: int) -> Result:
    """Through Python on the graph as the training script builds it, its own call stacks kept."""
    graph = built_graph(int(folder.name.rpartition("x")[2]))
    return add_steps(graph, tf1.RunMetadata.FromString(Input.load(folder).run_meta), repeat)


def built_graph(towers: int) -> Any:
    """The training step, built some times side by side under the names of the generator."""
    from record_resnet50 import training_step

    graph = tf.Graph()
    collections: dict[str, list[Any]] = {}
    with graph.as_default():
        for tower in range(towers):
            with tf1.variable_scope(f"rep_{tower}" if towers > 1 else tf1.get_variable_scope()):
                training_step(batch=8)
            # Each tower has its own variables only, as if it were a script of its own.
            for key in graph.get_all_collection_keys():
                collections.setdefault(key, []).extend(graph.get_collection(key))
                graph.clear_collection(key)
    for key, values in collections.items():
        for value in values:
            graph.add_to_collection(key, value)
    return graph


def parse(view: str, answer: bytes) -> bool:
    """Parse an answer as ``tf.compat.v1.profiler`` does; False where protobuf refuses."""
    try:
        PROTO[view]().ParseFromString(answer)
    except DecodeError:
        return False
    return True


def views(folder: Path, repeat: int) -> Result:
    """Each view on an engine of its own: the native call, and with the parsing that follows it."""
    data = Input.load(folder)
    found: Result = {}
    for view in VIEWS:
        for _ in range(repeat):
            fresh(data)
            seconds, answer = timed(core.Profile, view.encode(), serialised())
            more, parsed = timed(parse, view, answer)
            found.setdefault(f"{view}_core", []).append(seconds)
            found.setdefault(view, []).append(seconds + more)
            found[f"{view}_parsed"] = [float(parsed)]
    return found


def views_again(folder: Path, repeat: int) -> Result:
    """Each view on an engine that has shown it before: the native call and the parsing."""
    fresh(Input.load(folder))
    found: Result = {}
    for view in VIEWS:
        parse(view, core.Profile(view.encode(), serialised()))
        for _ in range(repeat):
            seconds, answer = timed(core.Profile, view.encode(), serialised())
            more, _parsed = timed(parse, view, answer)
            found.setdefault(view, []).append(seconds + more)
    return found


def scope_file(folder: Path, repeat: int) -> Result:
    """The scope view written to a file, on an engine that has not computed it yet."""
    data = Input.load(folder)
    found: Result = {"file": []}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "scope.txt"
        for _ in range(repeat):
            fresh(data)
            wanted = serialised(f"file:outfile={path}")
            seconds, answer = timed(core.Profile, b"scope", wanted)
            more, _parsed = timed(parse, "scope", answer)
            found["file"].append(seconds + more)
        found["lines"] = [float(path.read_bytes().count(b"\n"))]
    return found


def memory(folder: Path, _repeat: int) -> Result:
    """Resident after one step and the four views."""
    before = resident_mb()
    fresh(Input.load(folder))
    for view in VIEWS:
        parse(view, core.Profile(view.encode(), serialised()))
    return {"before_mb": [before], "after_mb": [resident_mb()], "peak_mb": [peak_mb()]}
