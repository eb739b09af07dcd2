"""``tfprof convert`` into and from formats of other programs."""

import errno
import gzip
import json

import pytest

import tfprof
from tests.export.perfetto_reader import read
from tfprof.captures.trace.foreign import model_of_json
from tfprof.cli.commands.convert import _EXPORTS
from tfprof.demo import demo_capture
from tfprof.export import formats
from tfprof.files.chrome_json import read_chrome_json
from tfprof.files.pprof import stacks_of_pprof
from tfprof.testing.xspace_builders import event, host, line, xspace

pytestmark = pytest.mark.one_engine

ENDINGS = [
    "a.pftrace", "a.perfetto-trace.gz", "a.tar", "a.json", "a.json.gz", "a.speedscope.json",
    "a.pprof", "a.pprof.pb.gz", "a.collapsed", "a.folded", "a.callgrind", "a.otlp", "a.csv.gz",
    "a.jsonl",
]  # fmt: skip

LARGE = 2**64 - 1
"""A thread that no signed number holds."""

FOREIGN = {
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        {"ph": "X", "name": "out;er", "ts": 0, "dur": 10, "pid": 1, "tid": LARGE},
        {
            "ph": "X",
            "name": "inner",
            "ts": 2,
            "dur": 3,
            "pid": 1,
            "tid": LARGE,
            "args": {"a": 1},
        },
        {"ph": "X", "name": "late", "ts": 8, "dur": 9, "pid": 1, "tid": 3},
        {"ph": "s", "id": 1, "ts": 2, "pid": 1, "tid": LARGE},
        {"ph": "f", "id": 1, "ts": 8, "pid": 1, "tid": 3, "bp": "e"},
        {"ph": "C", "name": "memory", "ts": 3, "pid": 1, "args": {"bytes": 4}},
    ]
}


@pytest.fixture
def capture(tmp_path):
    spent = line(event("train", 0, 100, step_num=1, _r=1), event("y:MatMul", 10, 30))
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(xspace(host(spent)).SerializeToString())
    return path


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(FOREIGN))
    return path


def test_the_help_names_every_format():
    assert set(_EXPORTS) == set(formats.BY_NAME)


@pytest.mark.parametrize("name", ENDINGS)
def test_the_ending_chooses_the_format(call, capture, graph, runs, foreign, tmp_path, name):
    for source in ([capture], [graph, runs[0]], [foreign]):
        done = call("convert", *source, tmp_path / name, "--force")
        assert done.exit_code == 0, done.stderr
        data = (tmp_path / name).read_bytes()
        assert data
        form = formats.format_of(name)
        assert f"{tmp_path / name}: {form.name}, for {form.viewer}" in done.stderr


def test_perfetto_counts_what_it_was_given(call, foreign, tmp_path):
    done = call("convert", foreign, tmp_path / "a.pftrace")
    assert "4 events: 3 slices and 1 values of counters, dropped: 0" in done.stderr
    made = read((tmp_path / "a.pftrace").read_bytes())
    assert sorted(each[1:] for each in made.slices) == [
        ("inner", 2000, 5000, 1), ("late", 8000, 17000, 0), ("out;er", 0, 10000, 0),
    ]  # fmt: skip
    assert [len(ends) for ends in made.flows.values()] == [2]


def test_a_foreign_trace_is_the_same_when_it_is_written_again(call, foreign, tmp_path):
    assert call("convert", foreign, tmp_path / "again.json").exit_code == 0
    first, second = (
        model_of_json(read_chrome_json(path.read_bytes(), "x"))
        for path in (foreign, tmp_path / "again.json")
    )
    assert first.names == second.names
    assert first.shown == second.shown
    for one, other in zip(first.tracks, second.tracks, strict=True):
        assert one.starts.tolist() == other.starts.tolist()
        assert one.durations.tolist() == other.durations.tolist()
        assert one.name == other.name
    assert second.tracks[1].arguments(1) == {"a": 1}
    assert [column.tolist() for column in first.flows] == [c.tolist() for c in second.flows]


def test_stacks_of_other_programs_become_others(call, tmp_path):
    (tmp_path / "in.folded").write_text("main;work (a.py:12) 5\nmain 7\n")
    assert call("convert", tmp_path / "in.folded", tmp_path / "a.pb.gz").exit_code == 0
    found = stacks_of_pprof((tmp_path / "a.pb.gz").read_bytes(), "x")
    assert found.values.sum() == 12
    assert call("convert", tmp_path / "a.pb.gz", tmp_path / "out.folded").exit_code == 0
    lines = (tmp_path / "out.folded").read_text().splitlines()
    assert sorted(lines) == ["main 7", "main;work (a.py:12) 5"]


def test_a_saved_profile_stays_what_pb_gz_means(call, capture, tmp_path):
    assert call("convert", capture, tmp_path / "p.pb.gz").exit_code == 0
    assert tfprof.load(tmp_path / "p.pb.gz").steps == [1]
    done = call("convert", capture, tmp_path / "q.pb.gz", "--to", "pprof")
    assert done.exit_code == 0
    data = (tmp_path / "q.pb.gz").read_bytes()
    assert stacks_of_pprof(data, "x").values[0].sum() == 2
    assert gzip.decompress(data)[:2] != b"\x1f\x8b"  # packed once


def test_any_table_can_be_chosen(call, graph, runs, tmp_path):
    words = ["convert", graph, *runs, tmp_path / "steps.csv", "--table", "profile_steps"]
    assert call(*words).exit_code == 0
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 3


def test_a_run_of_a_log_folder_is_chosen(call, capture, tmp_path):
    for name in ("first", "second"):
        folder = tmp_path / "logs" / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(capture.read_bytes())
    done = call("convert", tmp_path / "logs", tmp_path / "a.pftrace")
    assert done.exit_code == 2
    assert "holds one run, and there are 2: second, first. Choose one with --run" in done.stderr
    assert not (tmp_path / "a.pftrace").exists()
    done = call("convert", tmp_path / "logs", tmp_path / "a.pftrace", "--run", "first")
    assert done.exit_code == 0
    assert call("convert", tmp_path / "logs", tmp_path / "a.csv").exit_code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 2 * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["CAPTURE", "a.parqet"], "no format has names that end in .parqet; there are .pftrace"),
        (["CAPTURE"], "no file to write: tfprof convert IN OUT"),
        (["STACKS", "a.pftrace"], "perfetto is made of events with times; convert them to pprof"),
        (["STACKS", "a.json"], "chrome is made of events with times"),
        (["CAPTURE", "a.csv", "--table", "no"], "--table no: there is no such table; there are:"),
        (["CAPTURE", "a.pprof", "--table", "steps"], "pprof is not a table"),
        (["CAPTURE", "a.pb", "--table", "steps"], "--table does not go with a saved profile"),
        (["CAPTURE", "a.pftrace", "--run", "no"], "--run no: there is no such run; there are:"),
        (["CAPTURE", "STACKS"], "exists already; --force overwrites it"),
    ],
)
def test_what_does_not_go(call, capture, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    stacks = tmp_path / "in.folded"
    stacks.write_text("main;work 5\n")
    names = {"CAPTURE": capture, "STACKS": stacks}
    done = call("convert", *(names.get(word, word) for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["host.xplane.pb", "in.folded"]
    assert stacks.read_text() == "main;work 5\n"


def test_a_full_disk_leaves_nothing_behind(call, capture, tmp_path, monkeypatch):
    path = tmp_path / "a.pftrace"
    path.write_bytes(b"older")

    def chunks(*_, **__):
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(formats, "export_chunks", chunks)
    done = call("convert", capture, path, "--force")
    assert done.exit_code == 3
    assert "cannot be written: No space left on device" in done.stderr
    assert path.read_bytes() == b"older"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.pftrace", "host.xplane.pb"]


def test_foreign_traces_and_stacks_can_be_queried(call, foreign, tmp_path):
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    done = call(
        "query", foreign, "select name, line_id, self_ps from events order by 1", "--format", "csv"
    )
    assert done.stdout.splitlines() == [
        "name,line_id,self_ps", "inner,-1,3000000", "late,3,9000000", "out;er,-1,7000000",
    ]  # fmt: skip
    (tmp_path / "in.folded").write_text("main;work (a.py:12) 5\nmain 7\n")
    statement = "select name, file, line, stack, value, unit from stacks order by 1"
    done = call("query", tmp_path / "in.folded", statement, "--format", "csv")
    assert done.stdout.splitlines()[1:] == [
        "main,,0,main,7,count",
        "work,a.py,12,main;work,5,count",
    ]


def test_foreign_stacks_have_a_page(tmp_path):
    from tfprof.inputs.open_paths import open_paths
    from tfprof.ui.pages.site import Site

    (tmp_path / "in.folded").write_text("main;work 5\nmain 7\n\x1b[31m;b 1\n")
    site = Site(open_paths([tmp_path / "in.folded"]))
    assert [page["id"] for page in site.to_dict()["pages"]] == ["stacks"]
    page = site.page("stacks", {})
    assert page.about == "3 samples of another program's call stacks."
    [block] = page.blocks
    assert block["n_rows"] == 5
    assert block["measures"][0]["whole"] == 13
    assert b"\x1b" not in page.to_json()


def test_a_demo_capture_keeps_its_events_through_chrome_json(call, tmp_path):
    """Capture to Chrome JSON, and that to Perfetto: nothing is lost on the way."""
    source = demo_capture("gpu")
    for words in ([source, tmp_path / "a.json"], [source, tmp_path / "direct.pftrace"]):
        assert call("convert", *words).exit_code == 0
    assert call("convert", tmp_path / "a.json", tmp_path / "b.pftrace").exit_code == 0
    direct, through = (
        read((tmp_path / name).read_bytes()) for name in ("direct.pftrace", "b.pftrace")
    )
    assert len(direct.slices) == len(through.slices)
    names = [sorted(name for _, name, *_ in made.slices) for made in (direct, through)]
    assert names[0] == names[1]
