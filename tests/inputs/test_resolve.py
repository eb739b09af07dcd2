"""What a path is, and which commands take it: every kind of file in every command."""

import gzip
import json

import pytest
from click.testing import CliRunner

import tfprof
from tests.files.checkpoint.tables import entry, write_bundle
from tests.files.event_files import event_file, graph_event, run_event
from tests.files.stack_files import PPROF, SPEEDSCOPE
from tfprof.cli.program import cli
from tfprof.core.wire import messages as pb
from tfprof.errors import UnknownFormatError
from tfprof.inputs import resolve as module
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.resolve import Kind, resolve
from tfprof.testing.builders import graph, op, run, stat
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

GRAPH = graph(op("a", "MatMul"), op("b", "Relu", "a"))
RUN = run({"a": stat(5)}).SerializeToString()
CAPTURE = xspace(
    host(line(event("train", 0, 100, step_num=1, _r=1), event("y:MatMul", 10, 30)))
).SerializeToString()
TRACE = json.dumps([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 7}]).encode()
SAVED_MODEL = pb.SavedModel(
    saved_model_schema_version=1, meta_graphs=[pb.MetaGraphDef(graph_def=GRAPH)]
)
SAVED = tfprof.Profiler(GRAPH)
SAVED.add_step(0, run({"a": stat(9)}))
EVENTS = event_file(graph_event(GRAPH.SerializeToString()), run_event("t", RUN, step=7))
POD = b'{"podStatsSequence": {"podStatsMap": []}}'

FILES = {
    "host.xplane.pb": (CAPTURE, Kind.CAPTURE),
    "host.xplane.pb.gz": (gzip.compress(CAPTURE), Kind.CAPTURE),
    "renamed": (CAPTURE, Kind.CAPTURE),
    "logs/plugins/profile/run/host.xplane.pb": (CAPTURE, Kind.LOGS),
    "deep/run/host.xplane.pb": (CAPTURE, Kind.LOGS),
    "graph.pb": (GRAPH.SerializeToString(), Kind.GRAPH),
    "model/saved_model.pb": (SAVED_MODEL.SerializeToString(), Kind.GRAPH),
    "run_meta.pb": (RUN, Kind.RUN),
    "saved": (SAVED.serialize_to_string(), Kind.PROFILE),
    "folder/run_meta.pb": (RUN, Kind.FOLDER),
    "folder/graph.pb.gz": (gzip.compress(GRAPH.SerializeToString()), Kind.FOLDER),
    "events": (EVENTS, Kind.EVENTS),
    "torch.json": (TRACE, Kind.TRACE),
    "trace.json.gz": (gzip.compress(TRACE), Kind.TRACE),
    "stacks.txt": (b"main;work 5\nmain;rest 7\n", Kind.STACKS),
    "cpu.pprof": (gzip.compress(PPROF), Kind.STACKS),
    "py-spy.json": (SPEEDSCOPE, Kind.STACKS),
    "host.pod_viewer.json": (POD, Kind.RESULT),
    "old/host.pod_viewer.json": (POD, Kind.FOLDER),
    "notes.txt": (b"hello there, this is not a profile", Kind.OTHER),
    "empty.pb": (b"", Kind.OTHER),
    "damaged.gz": (b"\x1f\x8b\x08\x00damaged", Kind.OTHER),
}


def named(path):
    """What a user names: a file, or the folder in which it lies."""
    return path.partition("/")[0]


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name, (data, _) in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    write_bundle(tmp_path / "m-1", {"v": entry(1, [2], bytes(8))}, bytes(8))
    (tmp_path / "budget.toml").write_text('step_time = "<= 25 s"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_kind_is_recognised(here):
    found = {one.path: one.kind for one in resolve([*map(named, FILES), "m-1", "gone", "a\0b"])}
    expected = {named(name): kind for name, (_, kind) in FILES.items()}
    assert found == {**expected, "m-1": Kind.CHECKPOINT, "gone": Kind.OTHER, "a\0b": Kind.OTHER}


def test_nothing_is_looked_at_twice(here, monkeypatch):
    looked, look_at = [], module.look_at
    monkeypatch.setattr(module, "look_at", lambda path: looked.append(path) or look_at(path))
    single = ["graph.pb", "renamed", "saved", "stacks.txt", "torch.json"]
    for name in single:
        open_paths([name])
    assert looked == single
    tfprof.open_profile("graph.pb", "run_meta.pb")
    assert looked == [*single, "graph.pb", "run_meta.pb"]


def test_what_a_large_packed_file_is_may_stand_at_its_end(here):
    content = json.loads(SPEEDSCOPE)
    schema = content.pop("$schema")
    content["name"] = "x" * (2 << 20)
    text = json.dumps({**content, "$schema": schema}).encode()
    (here / "large.json.gz").write_bytes(gzip.compress(text))
    [one] = resolve(["large.json.gz"])
    assert one.kind is Kind.STACKS
    [opened] = open_paths(["large.json.gz"])
    assert opened.stacks().types[0].unit == "nanoseconds"


def test_what_serves_for_nothing_says_what_takes_it(here):
    with pytest.raises(UnknownFormatError, match=r"^torch\.json: tfprof whatif reads captures"):
        tfprof.whatif("torch.json")
    with pytest.raises(UnknownFormatError, match=r"^stacks\.txt: .* call stacks: tfprof ui"):
        tfprof.open_profile("stacks.txt")
    with pytest.raises(UnknownFormatError, match=r"^empty\.pb: this file is empty"):
        tfprof.open_profile("empty.pb")


CAPTURES = {"host.xplane.pb", "host.xplane.pb.gz", "renamed", "logs", "deep"}
PROFILES = {"graph.pb", "model", "run_meta.pb", "saved", "folder", "events"}
TIMED = {"run_meta.pb", "saved", "folder", "events"}
FOREIGN = {"torch.json", "trace.json.gz", "stacks.txt", "cpu.pprof", "py-spy.json"}
RESULTS = {"host.pod_viewer.json", "old"}

ANSWERED = {
    "overview X": CAPTURES,
    "pod X": CAPTURES | RESULTS,
    "trace X -o OUT.json": {*CAPTURES, "trace.json.gz"},
    "tools X": CAPTURES,
    "slice X --steps 1 -o OUT.xplane.pb": CAPTURES,
    "whatif X": CAPTURES,
    "op X": CAPTURES | PROFILES,
    "info X": CAPTURES | PROFILES,
    "advise X": CAPTURES | PROFILES,
    "export X": CAPTURES | PROFILES,
    "timeline X -o OUT.json": CAPTURES | TIMED,
    "flops X": PROFILES - {"run_meta.pb"},
    "summary X": PROFILES - {"run_meta.pb"},
    "checkpoint X": {"m-1"},
    "check X --budget budget.toml": CAPTURES | TIMED,
    "report X -o OUT.html": CAPTURES | PROFILES | FOREIGN | RESULTS,
    "convert X OUT.pb": CAPTURES | PROFILES | FOREIGN,
    "convert X OUT.speedscope.json": CAPTURES | PROFILES | FOREIGN,
    "diff X saved": TIMED - {"saved"},
}
"""What each command answers; everything else it refuses."""

REMEDIES = {
    **dict.fromkeys(CAPTURES, "the commands for captures of the TensorFlow 2 profiler read it"),
    **dict.fromkeys(["torch.json", "trace.json.gz"], "tfprof ui shows it, tfprof query asks it"),
    **dict.fromkeys(["stacks.txt", "cpu.pprof", "py-spy.json"], "tfprof ui shows them"),
    "host.pod_viewer.json": "a result of an older profiler; tfprof ui shows it",
    "graph.pb": "It looks like a GraphDef; ",
    "model": "It looks like a SavedModel; ",
    "run_meta.pb": "It looks like a RunMetadata; ",
    "saved": "It looks like a ProfileProto; ",
    "events": "It looks like a TensorFlow events file; ",
    "m-1": "It looks like a TensorFlow checkpoint; ",
}
"""What an error says of a file that is of a known kind."""


@pytest.mark.parametrize("command", ANSWERED)
def test_every_kind_in_every_command(here, tmp_path_factory, command):
    out = str(tmp_path_factory.mktemp("out") / "out")
    for name in {*map(named, FILES), "m-1", "gone"}:
        words = [name if word == "X" else word.replace("OUT", out) for word in command.split()]
        extra = ["--force"] if "OUT" in command else []
        result = CliRunner().invoke(cli, [*words, *extra])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        if name in ANSWERED[command]:
            assert result.exit_code == 0, (name, result.stderr)
        elif result.exit_code == 3:
            assert result.stderr.startswith(f"tfprof: error: {name}: "), result.stderr
            if command != "checkpoint X" or (here / name).is_file():  # else it says what is missing
                assert REMEDIES.get(name, "") in result.stderr
        else:
            assert result.exit_code in (2, 4), (name, result.output)
            assert name not in FOREIGN or "check" in command
