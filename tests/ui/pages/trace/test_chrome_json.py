import gzip
import json

import pytest

from tfprof import tools
from tfprof.captures.trace.foreign import model_of_json
from tfprof.captures.trace.from_run import model_of_run
from tfprof.errors import InputError, MalformedProfileError
from tfprof.files.chrome_json import read_chrome_json
from tfprof.inputs.open_paths import opened_trace
from tfprof.inputs.resolve import Kind, look_at
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace
from tfprof.ui.pages.site import Site


def made(*events, **more):
    content = json.dumps({"traceEvents": events, **more}).encode()
    return model_of_json(read_chrome_json(content, "trace.json"))


def slices(model):
    return [
        (model.processes[track.process], track.name, model.names[int(track.names_of([place])[0])],
         track.start_ps(place), track.duration_ps(place))
        for track in model.tracks
        for place in range(len(track))
    ]  # fmt: skip


def x(name, ts, dur=1, *, pid=1, tid=1, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, **more}


def test_all_kinds_of_slices():
    model = made(
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
        x("whole", 0, 10, args={"shape": [2, 3]}, cat="op"),
        {"ph": "B", "name": "call", "ts": 2, "pid": 1, "tid": 1, "args": {"a": 1}},
        {"ph": "E", "ts": 5.5, "pid": 1, "tid": 1, "args": {"b": 2}},
        {"ph": "i", "name": "mark", "ts": 7, "pid": 1, "tid": 1, "s": "t"},
        {"ph": "b", "name": "load", "cat": "io", "id": "0x1", "ts": 1, "pid": 1, "tid": 1},
        {"ph": "b", "name": "load", "cat": "io", "id": "0x2", "ts": 2, "pid": 1, "tid": 1},
        {"ph": "e", "name": "load", "cat": "io", "id": "0x1", "ts": 3, "pid": 1, "tid": 2},
        {"ph": "e", "name": "load", "cat": "io", "id": "0x2", "ts": 4, "pid": 1, "tid": 2},
    )
    us = 10**6
    assert slices(model) == [
        ("python", "main", "whole", 0, 10 * us),
        ("python", "main", "call", 2 * us, 3.5 * us),
        ("python", "main", "mark", 7 * us, 0),
        ("python", "async io", "load", 1 * us, 2 * us),
        ("python", "async io", "load", 2 * us, 2 * us),
    ]
    assert len(model.tracks[1].lanes) == 2
    assert model.tracks[0].arguments(0) == {"shape": [2, 3], "cat": "op"}
    assert model.tracks[0].arguments(1) == {"a": 1, "b": 2}
    assert model.shown.dropped == 0


def test_arrows_and_counters():
    model = made(
        x("launch", 0, 5), x("inner", 1, 1), x("kernel", 10, 5, tid=2), x("later", 20, 5, tid=2),
        {"ph": "s", "id": 7, "name": "go", "ts": 1.5, "pid": 1, "tid": 1},
        {"ph": "f", "id": 7, "name": "go", "ts": 10, "pid": 1, "tid": 2, "bp": "e"},
        {"ph": "s", "id": 8, "name": "go", "ts": 3, "pid": 1, "tid": 1},
        {"ph": "f", "id": 8, "name": "go", "ts": 16, "pid": 1, "tid": 2},  # the next one
        {"ph": "C", "name": "bytes in use", "ts": 3, "pid": 1, "args": {"cpu": 5, "gpu": "7"}},
        {"ph": "C", "name": "bytes in use", "ts": 1, "pid": 1, "args": {"cpu": 4}},
    )  # fmt: skip
    assert list(zip(*(column.tolist() for column in model.flows), strict=True)) == [
        (0, 1, 1, 0), (0, 0, 1, 1),
    ]  # fmt: skip
    [counter] = model.counters
    assert [(each.name, each.unit, each.values.tolist()) for each in counter.series()] == [
        ("cpu", "bytes", [4, 5]), ("gpu", "bytes", [7]),
    ]  # fmt: skip


def test_slices_that_tell_their_arrows_themselves():
    model = made(
        x("a", 0, 5, bind_id="0x9", flow_out=True),
        x("b", 10, 5, tid=2, bind_id="0x9", flow_in=True),
    )
    assert [column.tolist() for column in model.flows] == [[0], [0], [1], [0]]


def test_what_is_not_understood_is_counted_and_said():
    events = [
        x("good", 1), 5, {"ph": "O", "ts": 1}, {"ts": 1}, x("no time", None), x("backwards", 5, -3),
        {"ph": "E", "ts": 3, "pid": 9, "tid": 9}, x("nan", "nan"), x("text", "12.5", "2"), {},
        {"ph": "C", "name": "c", "ts": 1, "args": {"a": "many"}}, x("years later", 1e17),
        {"ph": "B", "name": "open", "ts": 2, "pid": 1, "tid": 1},
    ]  # fmt: skip
    model = made(*events)
    assert [each[2] for each in slices(model)] == ["good", "open", "text"]
    assert dict(model.shown.left_out) == {
        "is not an object": 1, "is of the kind 'O', which is not shown": 1, "has no kind": 1,
        "has no time": 2, "takes no time that makes sense": 1, "ends what has not begun": 1,
        "counts no number": 1, "is at a time far from all others": 1,
    }  # fmt: skip
    assert model.shown.dropped == 9
    assert "1 event has no end" in model.remarks[0]


@pytest.mark.parametrize("pid", ["--5", "-", "7" * 5000, "²", "٣", None, 1e300, [], {}, "\0"])
def test_any_process_has_a_key(pid):
    assert [each[2] for each in slices(made(x("a", 1, pid=pid)))] == ["a"]


def test_lists_and_files_that_were_cut_off():
    events = [x("a", 0), x("b", 5)]
    whole = json.dumps(events).encode()
    assert len(slices(model_of_json(read_chrome_json(whole, "x")))) == 2
    for cut in (whole[:-1] + b",", whole[:-1], whole[:-10]):
        read = read_chrome_json(cut, "x")
        assert 1 <= len(slices(model_of_json(read))) <= 2
        assert "cut off" in read.remarks[0]
    inside = b'{"traceEvents": ' + whole[:-4]
    assert len(slices(model_of_json(read_chrome_json(inside, "x")))) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"5", b'{"a": [1]}', b"\x00\xff", b"[" * 10**5])
def test_other_files_than_traces_are_refused(content):
    with pytest.raises(MalformedProfileError, match=r"trace\.json"):
        read_chrome_json(content, "trace.json")


def test_times_since_the_machine_was_started_begin_at_zero():
    model = made(x("a", 1.7e15), x("b", 1.7e15 + 2))
    assert [each[3] for each in slices(model)] == [0, 2 * 10**6]


def test_a_trace_that_was_written_here_is_the_same_again(tmp_path):
    space = xspace(
        host(line(event("train", 0, 90, step_num=0, _r=1), event("op", 10, 30, correlation_id=1))),
        gpu(line(event("sgemm", 50, 20, correlation_id=1), id=14, name="Stream #14")),
    )
    run = tools.open_run(space)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(b"".join(tools.trace(run).pieces())))
    assert look_at(str(path)).kind is Kind.TRACE
    opened = opened_trace(path)
    ours, theirs = model_of_run(run), opened.trace()
    assert slices(theirs) == slices(ours)
    assert [each.tolist() for each in theirs.flows] == [each.tolist() for each in ours.flows]
    assert [step.name for step in theirs.steps] == [step.name for step in ours.steps]
    assert (opened.name, opened.run) == ("trace", None)
    site = Site([opened])
    assert [entry["id"] for entry in site.to_dict()["pages"]] == ["trace"]
    assert json.loads(site.data("trace/search", {"text": "sgemm"}))["n_events"] == 1


def test_files_that_are_not_traces(tmp_path):
    path = tmp_path / "notes.json"
    path.write_text('{"a": 1}')
    assert look_at(str(path)).kind is not Kind.TRACE
    with pytest.raises(MalformedProfileError):
        opened_trace(path).trace()
    with pytest.raises(InputError):
        opened_trace(tmp_path / "gone.json").trace()


def test_braces_in_what_was_cut_off_do_not_matter():
    whole = json.dumps([x("a", 0), x("b", 2)])
    read = read_chrome_json(f'{whole[:-1]}, {{"name": "{"}" * 500}'.encode(), "trace.json")
    assert [name for _, _, name, _, _ in slices(model_of_json(read))] == ["a", "b"]
    assert "cut off" in read.remarks[0]


def test_of_many_kinds_that_are_not_shown_a_few_are_named():
    model = made(x("a", 0), *({"ph": f"kind {at}" + "x" * 900, "ts": 1} for at in range(50)))
    assert len(model.shown.left_out) == 21
    assert sum(count for _, count in model.shown.left_out) == 50
    assert max(len(reason) for reason, _ in model.shown.left_out) < 80


def test_processes_of_one_name_have_their_numbers():
    name = {"ph": "M", "name": "process_name", "args": {"name": "p"}}
    named = [{**name, "pid": 1}, {**name, "pid": 2}]
    model = made(x("a", 0, pid=1), x("b", 0, pid=2), x("c", 0, pid=3), *named)
    assert model.processes == ["p (1)", "p (2)", "process 3"]
