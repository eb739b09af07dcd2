"""Slices of captures: small captures by hand, and laws on recorded ones."""

import json

import pytest

from tests.captures.slice.three_steps import three_steps, written
from tests.captures.tools import oracle
from tfprof import tools
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.model.xspace import SLICE_PLANE
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, MalformedProfileError, UsageError
from tfprof.testing.xspace_builders import event, host, line, plane, xspace
from tfprof.tools import SliceChoice, open_run, slice_capture

RECORDED = ("cpu-custom-loop-py", "cpu-jax-pmap", "cpu-keras-fit", "cpu-multi-worker",
            "gpu-synthetic", "tpu-synthetic")  # fmt: skip
OF_STEPS = ("hlo_stats", "kernel_stats", "op_profile", "op_stats", "roofline")
OF_ALL = (*OF_STEPS, "input_pipeline", "memory", "overview", "pod", "tf_data", "trace")


def cut(source, target, **choice):
    """The message of a slice, parsed by protobuf."""
    made = slice_capture(source, target, SliceChoice(**choice), overwrite=True)
    return pb.XSpace.FromString(made.hosts[0].path.read_bytes())


def names_of(plane):
    return [plane.event_metadata[one.metadata_id].name for own in plane.lines for one in own.events]


def planes_of(space):
    return {plane.name: plane for plane in space.planes}


def test_a_step(tmp_path):
    source = written(three_steps(hostname="w", warnings=["slow"]), tmp_path)
    space = cut(source, tmp_path / "part.xplane.pb", steps=(4, 4))
    planes = planes_of(space)
    assert names_of(planes["/host:CPU"]) == ["train", "op4:MatMul", "go", "beside"]
    assert names_of(planes["/device:GPU:0"]) == ["k"]
    texts = {entry.name for entry in planes["/host:CPU"].stat_metadata.values()}
    assert "only 4" in texts and "only 3" not in texts
    assert [e.name for e in planes["/host:metadata"].event_metadata.values()] == ["module(4)"]
    assert planes["/device:GPU:1"].name and planes["Task Environment"].stats
    assert (list(space.hostnames), list(space.warnings)) == (["w"], ["slow"])
    whole = planes_of(three_steps())["/host:CPU"]
    assert planes["/host:CPU"].lines[0].timestamp_ns == whole.lines[0].timestamp_ns
    assert [one.offset_ps for one in planes["/host:CPU"].lines[0].events] == [
        100_000, 110_000, 112_000]  # fmt: skip
    run = open_run(str(tmp_path / "part.xplane.pb"))
    assert run.hosts[0].groups().names == {0: "train 4"}


def test_a_time_is_as_if_recorded_just_then(tmp_path):
    source = written(three_steps(), tmp_path)
    space = cut(source, tmp_path / "part.xplane.pb", time=(105e-9, 200e-9))
    planes = planes_of(space)
    assert names_of(planes["/host:CPU"]) == ["op4:MatMul", "go", "beside"]
    again = cut(tmp_path / "part.xplane.pb", tmp_path / "b.xplane.pb", time=(111e-9, 1.0))
    assert names_of(planes_of(again)["/host:CPU"]) == ["go", "beside"]


@pytest.mark.parametrize(
    "choice, left",
    [
        ({"device": "GPU:1"}, {"/host:CPU", "/device:GPU:1"}),
        ({"planes": "GPU"}, {"/device:GPU:0", "/device:GPU:1"}),
        ({"planes": "GPU", "device": ":0$"}, {"/device:GPU:0"}),
    ],
)
def test_planes(tmp_path, choice, left):
    source = written(three_steps(), tmp_path)
    planes = planes_of(cut(source, tmp_path / "part.xplane.pb", **choice))
    always = {"/host:metadata", "Task Environment", SLICE_PLANE}
    assert set(planes) == left | always


def test_calls_keep_their_numbers(tmp_path):
    calls = [event("FunctionRun", 100 * n, 90, _r=1) for n in range(5)]
    source = written(xspace(host(line(*calls))), tmp_path)
    slice_capture(source, tmp_path / "a.xplane.pb", SliceChoice(steps=(1, 3)))
    slice_capture(tmp_path / "a.xplane.pb", tmp_path / "b.xplane.pb", SliceChoice(steps=(2, None)))
    slice_capture(source, tmp_path / "c.xplane.pb", SliceChoice(steps=(2, 3)))
    b, c = (open_run(str(tmp_path / f"{name}.xplane.pb")) for name in "bc")
    assert list(run_steps(b).names) == list(run_steps(c).names) == ["2", "3"]
    assert (tmp_path / "b.xplane.pb").read_bytes() == (tmp_path / "c.xplane.pb").read_bytes()


def test_what_surrounds_a_call_does_not_become_it(tmp_path):
    calls = [event("FunctionRun", 100 * n + 10, 50, _r=1) for n in range(4)]
    source = written(xspace(host(line(event("fit", 0, 500), *calls))), tmp_path)
    space = cut(source, tmp_path / "part.xplane.pb", steps=(2, 2))
    assert names_of(planes_of(space)["/host:CPU"]) == ["FunctionRun"]


@pytest.mark.parametrize(
    "choice, stated",
    [
        ({"steps": (3, 9)}, "no step 9 in this run; it has: 3, 4, 5"),
        ({"device": "TPU"}, "no device matches 'TPU'; the capture has: /device:GPU:0"),
        ({"hosts": "^b"}, "no host matches '^b'; the run has: worker0"),
    ],
)
def test_what_is_not_there(tmp_path, choice, stated):
    source = written(three_steps(), tmp_path)
    with pytest.raises(UsageError) as raised:
        slice_capture(source, tmp_path / "part.xplane.pb", SliceChoice(**choice))
    assert stated in str(raised.value)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("wrong", [{"steps": (5, 3)}, {"time": (2.0, 1.0)}, {"planes": "("},
                                   {"time": (float("nan"), 1.0)}])  # fmt: skip
def test_wrong_choices(wrong):
    with pytest.raises(UsageError):
        SliceChoice(**wrong)


def test_nothing_left_writes_nothing(tmp_path):
    source = written(three_steps(), tmp_path)
    with pytest.raises(EmptyProfileError):
        slice_capture(source, tmp_path / "part.xplane.pb", SliceChoice(time=(5.0, 6.0)))
    assert list(tmp_path.iterdir()) == [source]


def test_a_damaged_capture_is_not_cut(tmp_path):
    source = written(three_steps(), tmp_path)
    octets = source.read_bytes()
    for size in (len(octets) - 3, len(octets) // 2):
        source.write_bytes(octets[:size])
        with pytest.raises(MalformedProfileError):
            slice_capture(source, tmp_path / "part.xplane.pb", SliceChoice(time=(0.0, 1.0)))
    assert list(tmp_path.iterdir()) == [source]


def test_a_copy_has_no_steps_of_its_own(tmp_path):
    """Tools leave out a file with the bytes of another one."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.xplane.pb").write_bytes(three_steps().SerializeToString())
    with pytest.raises(UsageError, match=r"b.xplane.pb: has the same bytes as a.xplane.pb"):
        slice_capture(folder, tmp_path / "out", SliceChoice(steps=(4, 4)))
    assert not (tmp_path / "out").exists()
    made = slice_capture(folder, tmp_path / "out", SliceChoice(steps=(4, 4), hosts="a"))
    assert [one.host for one in made.hosts] == ["a"]


def test_never_onto_the_capture_or_over_files(tmp_path):
    source = written(three_steps(), tmp_path)
    with pytest.raises(UsageError, match="is the capture itself"):
        slice_capture(source, source, SliceChoice(), overwrite=True)
    (tmp_path / "there.xplane.pb").touch()
    with pytest.raises(UsageError, match="exists already"):
        slice_capture(source, tmp_path / "there.xplane.pb", SliceChoice())


def test_hosts_get_the_same_steps(tmp_path):
    def worker(first, later):
        steps = (event("train", 100 * n + later, 90, step_num=first + n, _r=1) for n in range(8))
        return xspace(host(line(*steps)))

    logs = tmp_path / "logs"
    run = logs / "plugins" / "profile" / "one"
    written(worker(10, 0), run, "a")
    written(worker(12, 200), run, "b")
    made = slice_capture(logs, tmp_path / "small", SliceChoice(steps=(13, 15)))
    assert [one.path.relative_to(tmp_path / "small").as_posix() for one in made.hosts] == [
        "plugins/profile/one/a.xplane.pb", "plugins/profile/one/b.xplane.pb"]  # fmt: skip
    steps = run_steps(open_run(str(tmp_path / "small")))
    assert [list(own.names) for own in steps.hosts] == [["train 13", "train 14", "train 15"]] * 2
    only = slice_capture(logs, tmp_path / "b.xplane.pb.gz", SliceChoice(hosts="b"))
    assert [one.host for one in only.hosts] == ["b"]
    assert open_run(str(tmp_path / "b.xplane.pb.gz")).hosts[0].space.n_events == 8
    with pytest.raises(UsageError, match="one file holds one host"):
        slice_capture(logs, tmp_path / "c.xplane.pb", SliceChoice())


def test_a_lying_slice_is_read(tmp_path):
    lies = plane(SLICE_PLANE, stats={"base_ns": -(1 << 62), "step_rows": b"123", "first_step": -9})
    space = three_steps()
    space.planes.append(lies)
    run = open_run(space.SerializeToString())
    assert list(run_steps(run).names) == ["train 3", "train 4", "train 5"]
    assert run.hosts[0].timeline.starts_ps.min() == 0


def recorded(capture):
    return sorted(path for path in oracle.folder(capture).rglob("*.xplane.pb*")
                  if "oracle" not in path.parts)  # fmt: skip


def answers(run, tool, **options):
    found = getattr(tools, tool)(run, **options).to_dict()
    found.pop("notes")
    return json.loads(json.dumps(found, default=str))


@pytest.mark.parametrize("capture", RECORDED)
def test_a_slice_of_all_answers_as_the_capture(tmp_path, capture):
    source = recorded(capture)
    made = slice_capture(source, tmp_path, SliceChoice())
    assert all(one.n_bytes <= one.n_whole_bytes for one in made.hosts)
    whole, part = open_run(source), open_run(str(tmp_path))
    for tool in OF_ALL:
        assert answers(part, tool) == answers(whole, tool), tool


@pytest.mark.parametrize("capture", RECORDED)
def test_steps_of_a_slice_answer_as_in_the_capture(tmp_path, capture):
    source = recorded(capture)
    whole = open_run(source)
    steps = run_steps(whole)
    numbers = [int(name.rpartition(" ")[2]) for name in steps.names]
    kept = tuple(numbers[1:-1])
    made = slice_capture(source, tmp_path, SliceChoice(steps=(kept[0], kept[-1])))
    assert sum(o.n_bytes for o in made.hosts) < sum(o.n_whole_bytes for o in made.hosts)
    part = open_run(str(tmp_path))
    found = run_steps(part)
    assert list(found.names) == list(steps.names)[1:-1]
    for own, theirs in zip(found.hosts, steps.hosts, strict=True):
        assert own.times.start_ps.tolist() == theirs.times.start_ps[1:-1].tolist()
        assert own.times.duration_ps.tolist() == theirs.times.duration_ps[1:-1].tolist()
    assert found.slowest_ps().tolist() == steps.slowest_ps()[1:-1].tolist()
    for tool in OF_STEPS:
        for step in (kept, kept[0]):
            assert answers(part, tool, step=step) == answers(whole, tool, step=step), tool
