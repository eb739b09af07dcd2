"""Small pieces of recorded files, as inputs of ``fuzz_readers.py``.

    python -m fuzz.make_corpus FOLDER [--data ../shared/data]

Each file is one input: a byte that picks the target, then what the target reads.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import random
from collections.abc import Iterator
from pathlib import Path

import zstandard
from google.protobuf import text_format

import tfprof
from fuzz.foreign_targets import SMALL
from fuzz.targets import RECORDED, TARGETS
from fuzz.tools_target import small_captures
from tests import hlo_programs
from tests.core.wire.random_messages import MESSAGES, odd_message, random_message, random_plan
from tests.files.event_files import event_file, graph_event, run_event
from tfprof.core.wire import messages as pb
from tfprof.demo import demo_files

MAX_BYTES = 20_000
"""Of one piece."""


def corpus(data: Path | None = None) -> dict[str, bytes]:
    """Inputs by name, the same ones every time.

    Args:
        data: A folder with more recorded files (``*.xplane.pb``).
    """
    pieces = [*_recorded_step(), *_checkpoints(), *_for_the_scanner(), *_traces(data),
              *(("small", target, piece) for target, piece in SMALL.items())]  # fmt: skip
    places = {name: place for place, name in enumerate(TARGETS)}
    inputs = {}
    for name, target, piece in pieces:
        inputs[f"{target}-{name}"] = bytes([places[target]]) + piece
        also = {"graph": "flops", "run_metadata": "step", "profile": "views", "xspace": "changing"}
        if target in also:
            inputs[f"{also[target]}-{name}"] = bytes([places[also[target]]]) + piece
        if target not in ("sniff", "scan", "xspace_engines", "hlo"):
            inputs[f"sniff-{target}-{name}"] = bytes([places["sniff"]]) + piece[:MAX_BYTES]
    return inputs


def _recorded_step() -> Iterator[tuple[str, str, bytes]]:
    """Parts of the step of the demo, in all their forms."""
    files = demo_files()
    graph = pb.GraphDef.FromString(gzip.decompress(files.graph.read_bytes()))
    run = pb.RunMetadata.FromString(gzip.decompress(files.run_meta.read_bytes()))
    log = pb.OpLogProto.FromString(gzip.decompress(files.op_log.read_bytes()))
    stats = run.step_stats.dev_stats[0].node_stats[:12]
    small_run = pb.RunMetadata()
    small_run.step_stats.dev_stats.add(device="/device:CPU:0").node_stats.extend(stats)
    names = {stat.node_name for stat in stats}
    small_graph = pb.GraphDef(node=[node for node in graph.node if node.name in names][:12])
    names |= {node.name for node in small_graph.node}
    entries = [entry for entry in log.log_entries if entry.name in names]
    small_log = pb.OpLogProto(log_entries=entries[:12])
    used = {n for e in entries for t in e.code_def.traces for n in (t.file_id, t.function_id)}
    for key in sorted(used & set(log.id_to_string)):
        small_log.id_to_string[key] = log.id_to_string[key]
    profiler = tfprof.Profiler(small_graph, small_log)
    profiler.add_step(1, small_run)
    profile = profiler.serialize_to_string()
    messages = {"graph": small_graph, "run_metadata": small_run, "op_log": small_log}
    for target, message in messages.items():
        binary = message.SerializeToString(deterministic=True)
        yield "binary", target, binary
        yield "text", target, text_format.MessageToString(message).encode()
        yield "gzip", target, gzip.compress(binary, mtime=0)
        yield "xz", target, lzma.compress(binary)
        yield "zst", target, zstandard.compress(binary)
    yield "binary", "profile", profile
    parts = [message.SerializeToString(deterministic=True) for message in (small_graph, small_run)]
    yield "log", "events", event_file(graph_event(parts[0]), run_event("step1", parts[1], step=1))
    meta_graph = pb.MetaGraphDef(graph_def=small_graph)
    yield "meta", "graph", meta_graph.SerializeToString(deterministic=True)
    saved = pb.SavedModel(meta_graphs=[meta_graph])
    yield "saved-model", "graph", saved.SerializeToString(deterministic=True)


def _checkpoints() -> Iterator[tuple[str, str, bytes]]:
    for path in sorted(RECORDED.iterdir()):
        if path.suffix == ".index":
            yield path.stem, "checkpoint_index", path.read_bytes()
        elif path.suffix == ".v1" or path.name.startswith("old"):
            yield path.name, "checkpoint_v1", path.read_bytes()


def _for_the_scanner() -> Iterator[tuple[str, str, bytes]]:
    """Messages for a few plans; the scanner's targets take a plan's seed first."""
    for seed in range(2 * len(MESSAGES)):
        plan = random_plan(random.Random(seed))
        chance = random.Random(seed)
        data = odd_message(chance, plan) + random_message(chance, plan.message, depth=2)
        yield f"{seed:02d}", "scan", bytes([seed]) + data[:MAX_BYTES]


def _traces(data: Path | None) -> Iterator[tuple[str, str, bytes]]:
    """XSpace: one made by hand, and the beginnings of recorded ones."""
    space = pb.XSpace(hostnames=["host"], errors=["error"])
    plane = space.planes.add(id=1, name="/device:GPU:0")
    plane.event_metadata[1].name = "op"
    plane.stat_metadata[2].name = "flops"
    event = plane.lines.add(id=3, timestamp_ns=7).events.add(metadata_id=1, duration_ps=5)
    event.stats.add(metadata_id=2, uint64_value=9)
    event.stats.add(metadata_id=2, ref_value=2)
    event.stats.add(metadata_id=2, str_value="text")
    event.stats.add(metadata_id=2, double_value=1.5)
    plane.lines[0].events.add(metadata_id=1, offset_ps=300, duration_ps=2**40).stats.extend(
        event.stats
    )
    hand = space.SerializeToString(deterministic=True)
    yield from (("hand", target, hand) for target in ("xspace", "xspace_engines"))
    for place, program in enumerate(_programs()):
        yield f"program-{place}", "hlo", program.SerializeToString(deterministic=True)
    for place, capture in enumerate(small_captures()):
        yield f"small-{place}", "tools", capture.SerializeToString(deterministic=True)
    for path in sorted(data.rglob("*.xplane.pb")) if data is not None else ():
        if path.stat().st_size < 1 << 22:
            space = pb.XSpace.FromString(path.read_bytes())
            for place, plane in enumerate(space.planes):
                _shorten(plane)
                cut = pb.XSpace(planes=[plane]).SerializeToString(deterministic=True)
                if len(cut) <= MAX_BYTES:
                    name = f"{path.stem}-{place}"
                    yield from ((name, target, cut) for target in ("xspace", "xspace_engines"))


def _programs() -> Iterator[pb.HloProto]:
    """A loop around a fusion, and what communicates."""
    loop = [
        hlo_programs.op("p", "parameter", "(f32[4], s32[])"),
        hlo_programs.op("v", "get-tuple-element", "f32[4]", "p"),
        hlo_programs.op("fusion", "fusion", "f32[4]{0}", "v", calls=["fused"]),
        hlo_programs.op("i", "get-tuple-element", "s32[]", "p", tuple_index=1),
        hlo_programs.op("out", "tuple", "(f32[4], s32[])", "fusion", "i"),
    ]
    fused = [
        hlo_programs.op("a", "parameter", "f32[4]"),
        hlo_programs.op("b", "multiply", "f32[4]", "a", "a"),
    ]
    always = [
        hlo_programs.op("q", "parameter", "(f32[4], s32[])"),
        hlo_programs.op("t", "constant", "pred[]"),
    ]
    main = [
        hlo_programs.op("x", "parameter", "f32[4]"),
        hlo_programs.op("n", "parameter", "s32[]", parameter_number=1),
        hlo_programs.op("s", "tuple", "(f32[4], s32[])", "x", "n"),
        hlo_programs.op(
            "w", "while", "(f32[4], s32[])", "s", calls=["loop", "always"],
            backend_config=b'{"known_trip_count":{"n":"4"}}',
        ),
        hlo_programs.op("r", "get-tuple-element", "f32[4]", "w"),
        hlo_programs.op("d", "dot", "f32[]", "r", "r"),
        hlo_programs.op("sum", "all-reduce", "f32[]", "d", calls=["ADD"]),
    ]  # fmt: skip
    yield hlo_programs.program(
        "main", ADD=hlo_programs.ADD, fused=fused, loop=loop, always=always, main=main
    )


def _shorten(plane: pb.XPlane) -> None:
    """A few lines of a few events, and the metadata that they mention."""
    del plane.lines[3:]
    for line in plane.lines:
        del line.events[5:]
    events = {event.metadata_id for line in plane.lines for event in line.events}
    for key in [key for key in plane.event_metadata if key not in events]:
        del plane.event_metadata[key]
    for key in sorted(plane.stat_metadata)[60:]:
        del plane.stat_metadata[key]


def main() -> None:
    """Write the corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    inputs = corpus(options.data)
    for name, data in inputs.items():
        (options.folder / name).write_bytes(data)
    print(f"{len(inputs)} inputs, {sum(map(len, inputs.values()))} bytes in {options.folder}")


if __name__ == "__main__":
    main()
