"""Opening captured runs: good files, bad files, and their notes."""

import gzip
import threading

import pytest

from tests.captures.tools.small_captures import capture
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace

pytestmark = pytest.mark.slow


def written(folder, **captures):
    for name, space in captures.items():
        data = space if isinstance(space, bytes) else space.SerializeToString()
        (folder / f"{name}.xplane.pb").write_bytes(data)
    return folder


def messages(run):
    return [(note.severity, note.host, note.message) for note in run.notes]


def test_a_folder_of_several_hosts(tmp_path):
    run = open_run(written(tmp_path, b=capture(machine="m2"), a=capture(machine="m1")))
    assert (run.name, [one.name for one in run.hosts]) == (tmp_path.name, ["a", "b"])
    assert [one.machine for one in run.hosts] == ["m1", "m2"]
    assert run.notes == ()


@pytest.mark.parametrize(
    ("n_runs", "reported"),
    [
        (2, "another run is in this folder: 1"),
        (3, "2 other runs are in this folder: 1, 2"),
        (7, "6 other runs are in this folder, the latest: 2, 3, 4, 5, 6"),
    ],
)
def test_other_runs_have_a_note(tmp_path, n_runs, reported):
    for number in range(1, n_runs + 1):
        folder = tmp_path / "plugins/profile" / str(number)
        folder.mkdir(parents=True)
        written(folder, w=capture())
    run = open_run(str(tmp_path))
    assert run.name == str(n_runs)
    assert messages(run) == [("info", "", reported)]
    assert open_run(tmp_path, run="1").name == "1"


def test_files_bytes_and_messages(tmp_path):
    space = capture()
    path = written(tmp_path, w=space) / "w.xplane.pb"
    packed = tmp_path / "v.xplane.pb.gz"
    packed.write_bytes(gzip.compress(space.SerializeToString()))
    run = open_run([path, str(packed), space.SerializeToString(), space])
    assert [one.name for one in run.hosts] == ["w", "v", "host 2", "host 3"]
    assert {len(one.groups()) for one in run.hosts} == {3}


def test_files_of_one_name_get_numbers(tmp_path):
    paths = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        paths.append(written(tmp_path / name, w=capture(machine=name)) / "w.xplane.pb")
    run = open_run(paths)
    assert [one.name for one in run.hosts] == ["w", "w (2)"]
    assert messages(run) == [("info", "w (2)", "another file has the name 'w', too")]


def test_hosts_are_chosen_by_file_or_machine():
    run = opened(capture(machine="m"), capture(machine="m"), capture(machine="n"))
    assert [one.name for one in run.chosen("m")] == ["host 0", "host 1"]
    assert [one.name for one in run.chosen("host 2")] == ["host 2"]
    assert len(run.chosen(None)) == 3
    with pytest.raises(UsageError, match="no host 'z' in this run; it has: host 0, host 1, host 2"):
        run.chosen("z")


def test_one_broken_file_among_many_is_named_and_left_out(tmp_path):
    steps = capture().SerializeToString()
    hosts = {name: pb.XSpace(hostnames=[name]) for name in (f"w{n:02}" for n in range(100))}
    written(tmp_path, **{name: steps + one.SerializeToString() for name, one in hosts.items()})
    (tmp_path / "w50.xplane.pb").write_bytes(b"this is not a capture, and never was one")
    run = open_run(tmp_path)
    assert len(run.hosts) == 99
    [(severity, name, message)] = messages(run)
    assert (severity, name) == ("warning", "w50")
    assert message.startswith("not read, so no result includes it: ")
    assert run_steps(run).n_steps == 3


def test_a_truncated_file_answers_with_what_was_readable(tmp_path):
    whole = capture(50).SerializeToString()
    run = open_run(written(tmp_path, w=whole[: len(whole) * 2 // 3]))
    [(severity, name, message)] = messages(run)
    assert (severity, name) == ("warning", "w")
    assert "truncated" in message
    assert overview(run).notes[0].message == message


def test_only_broken_files(tmp_path):
    with pytest.raises(InputError):
        open_run(written(tmp_path, w=b"this is not a capture, and never was one"))


@pytest.mark.parametrize("source", [[], ()])
def test_no_files(source):
    with pytest.raises(EmptyProfileError, match="no files"):
        open_run(source)


def test_an_empty_folder(tmp_path):
    with pytest.raises(EmptyProfileError, match="holds no capture"):
        open_run(tmp_path)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        open_run(tmp_path / "nowhere")


def test_a_folder_among_several_paths(tmp_path):
    path = written(tmp_path, w=capture()) / "w.xplane.pb"
    with pytest.raises(UsageError, match="a folder among several paths; give one folder alone"):
        open_run([path, tmp_path])


def test_an_error_names_only_some_of_many_hosts():
    run = opened(*[capture(1)] * 20)
    with pytest.raises(UsageError, match=r"it has: host 0, .*, host 3, …, host 17, .*, host 19$"):
        run.chosen("z")


def test_a_run_of_a_file_makes_no_sense(tmp_path):
    path = written(tmp_path, w=capture()) / "w.xplane.pb"
    with pytest.raises(UsageError, match="run='x' chooses a run of a log folder"):
        open_run(path, run="x")


@pytest.mark.parametrize("space", [b"", xspace(), xspace(host()), xspace(host(line()))])
def test_a_capture_without_events_has_a_note(space):
    run = open_run(space)
    [(severity, name, message)] = messages(run)
    assert (severity, name, message[:16]) == ("warning", "host 0", "holds no events:")


def test_messages_of_the_profiler_are_passed_on_once():
    run = opened(
        xspace(host(line(event("a", 0))), errors=["no CUPTI", "no CUPTI"], warnings=["slow"])
    )
    assert messages(run) == [("error", "host 0", "no CUPTI"), ("warning", "host 0", "slow")]
    rows = overview(run, classic=True).to_gviz()[6]["rows"]
    assert [[cell["v"] for cell in row["c"]] for row in rows][:2] == [
        ["ERROR", "no CUPTI"], ["WARNING", "slow"],
    ]  # fmt: skip


def test_few_messages_of_the_profiler_are_passed_on_however_many_there_are():
    """A worker's file may hold any number of them, of any length; ``capture.json`` repeats them."""
    errors = ["x" * 100_000, *(f"error {number}" for number in range(99_999))]
    run = opened(xspace(host(line(event("a", 0))), errors=errors, warnings=["slow"]))
    found = [message for _, _, message in messages(run)]
    assert found[0] == "x" * 4000 + "… (100,000 letters)"
    assert found[1:20] == errors[1:20]
    assert found[20:] == [
        "the profiler recorded 99,980 more errors; the file holds them all", "slow",
    ]  # fmt: skip


def test_dropped_events_have_a_note():
    run = opened(xspace(host(line(event("a", 0)), stats={"dropped_traces": 12345})))
    assert [note.message[:37] for note in run.notes] == ["the profiler dropped 12,345 events: t"]


def test_impossible_times_and_far_clocks_have_notes():
    space = xspace(host(line(event("a", 0), event("b", 5))), gpu(line(event("k", 0), name="S")))
    space.planes[0].lines[0].events[0].duration_ps = -5
    space.planes[1].lines[0].timestamp_ns = 0
    notes = [note.message for note in opened(space).notes]
    assert notes[0].startswith("1 events are left out")
    assert notes[1].startswith("the clock of ")
    assert len(notes) == 2


def test_hostile_names_do_no_harm(tmp_path):
    name = "a<script>\x1b[31m\n"
    run = open_run(written(tmp_path, **{name: capture()}))
    assert run.hosts[0].name == name
    assert run.chosen(name) == run.hosts


def test_planes_of_unknown_kinds_are_left_alone():
    run = opened(xspace(plane("/unknown:thing", line(event("a:B", 0, 9)))))
    assert [row["operation"] for row in op_stats(run).to_rows()] == []
    assert [note.severity for note in op_stats(run).notes] == ["info", "warning", "info"]
    assert messages(run) == [
        ("info", "host 0", "holds planes of an unknown kind: /unknown:thing (1 event). They are "
         "in the trace only")
    ]  # fmt: skip


def test_planes_of_recorders_need_no_note():
    names = ("/host:CPU", "/host:python-tracer", "/host:tfstreamz", "Syscalls", "#Chip0 ICI")
    run = opened(xspace(*(plane(name, line(event("a:B", 0, 9))) for name in names)))
    assert messages(run) == []


def test_answers_are_worked_out_once_also_by_several_threads():
    memo, made = Memo(), []

    def make():
        made.append(1)
        return len(made)

    threads = [threading.Thread(target=memo.once, args=("key", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (memo.once("key", make), memo.once("other", make), made) == (1, 2, [1, 1])


def test_a_memo_keeps_no_failure():
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.once("key", lambda: 1 // 0)
    assert memo.once("key", lambda: 3) == 3
