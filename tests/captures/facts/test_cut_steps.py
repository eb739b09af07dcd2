"""Steps that an end of the capture has cut, and marked steps without computation."""

import numpy as np
import pytest

from tests.captures.tools.oracle import CAPTURES, folder, run_of
from tests.captures.tools.small_captures import capture
from tests.captures.tools.tpus import at, op, tpu
from tfprof.captures.events.steps.cut_steps import (
    BEGAN_EARLIER,
    MORE_KERNELS,
    NO_END,
    NO_KERNELS,
    NOT_ON_ALL_CORES,
    UNMARKED,
)
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.practices.evidence import Evidence
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
from tfprof.captures.tools.monitor_report import monitor
from tfprof.captures.tools.pod_viewer import pod
from tfprof.core.wire import messages as pb
from tfprof.testing.xspace_builders import START_NS, event, gpu, host, line, opened, plane, xspace

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

LENGTH = 1000


def on_gpu(n_steps, *, first=0, unmarked=(), lost=(), machine=""):
    """Steps of 900 that launch two kernels each; some without a marker, or without kernels."""
    host_events, kernels = [], []
    for place in range(n_steps):
        start = place * LENGTH
        if place in unmarked:
            host_events.append(event("FunctionRun", start + 5, 890, _r=1))
        else:
            host_events.append(event("train", start, 900, step_num=first + place, _r=1))
        for number, at_ns in ((2 * place + 1, 100), (2 * place + 2, 500)):
            host_events.append(event("cuLaunchKernel", start + at_ns, 20, correlation_id=number))
            if number not in lost:
                kernels.append(event("sgemm", start + at_ns + 50, 300, correlation_id=number))
    streams = line(*kernels, id=14, name="Stream #14(Compute)")
    return xspace(host(line(*host_events)), gpu(streams), hostname=machine)


def cuts(run):
    """Names of steps with what cut them, by host."""
    return [
        (one.label, name, one.cut[group])
        for one in run_steps(run).hosts
        for name, group in zip(one.names, one.times.groups.tolist(), strict=True)
        if group in one.cut
    ]


def reported(run):
    return [(note.severity, note.message) for note in run_steps(run).notes]


def test_whole_steps_are_not_cut():
    for run in (opened(on_gpu(3)), opened(capture(3)), opened(on_gpu(1, unmarked=[0]))):
        steps = run_steps(run)
        assert not steps.is_cut.any()
        assert steps.whole is steps
        assert steps.shown_names == list(steps.names)


def test_a_step_without_marker_at_the_beginning_is_cut():
    run = opened(on_gpu(4, unmarked=[0]))
    assert cuts(run) == [("host 0", "0", UNMARKED)]
    assert reported(run) == [
        ("info", "step 0: cut by the beginning of the capture (its marker is not in the capture); "
         "averages are of the others")
    ]  # fmt: skip
    steps = run_steps(run)
    assert steps.shown_names == ["0 (cut)", "train 1", "train 2", "train 3"]
    assert steps.whole.names == ["train 1", "train 2", "train 3"]


def test_a_step_without_marker_at_the_end_is_cut():
    run = opened(on_gpu(4, unmarked=[3]))
    assert cuts(run) == [("host 0", "3", UNMARKED)]
    assert reported(run)[0][1].startswith("step 3: cut by the end of the capture")


def test_calls_between_marked_steps_are_not_cut():
    assert cuts(opened(on_gpu(4, unmarked=[1, 2]))) == []


def test_the_last_step_without_its_kernels_is_cut():
    run = opened(on_gpu(4, lost=[8]))
    assert cuts(run) == [("host 0", "train 3", NO_KERNELS)]
    assert cuts(opened(on_gpu(4, lost=[4]))) == []  # in the middle: the recorder lost some
    assert cuts(opened(on_gpu(4, lost=[2, 8]))) == []
    assert cuts(opened(on_gpu(1, lost=[2]))) == []  # no other step for comparison


def test_the_last_step_with_kernels_of_the_next_one_is_cut():
    def followed(start, launched=True):
        """The marker of the next step and the group of its launch are missing."""
        space = on_gpu(2)
        threads, streams = space.planes[0].lines[0], space.planes[1].lines[0]
        for own, name in ((threads, "cuLaunchKernel"), (streams, "sgemm")):
            one = own.events.add()
            one.CopyFrom(next(e for e in own.events if name_of(space, own, e) == name))
            one.offset_ps = (start + 20 * (own is streams)) * 1000
            one.stats[0].int64_value = 99
        if not launched:
            del threads.events[-1]
        return cuts(opened(space))

    assert followed(1950) == [("host 0", "train 1", MORE_KERNELS)]
    assert followed(1950, launched=False) == []  # these may belong to the step
    assert followed(950) == []


def name_of(space, own, happened):
    plane_of = next(one for one in space.planes if own in list(one.lines))
    return plane_of.event_metadata[happened.metadata_id].name


def test_a_step_before_the_recorder_is_cut():
    def began(offset_ns, first_ns):
        space = capture(3)
        space.planes[0].lines[0].timestamp_ns = first_ns
        task = plane("Task Environment", stats={"profile_start_time": START_NS + offset_ns})
        space.planes.append(task)
        return cuts(opened(space))

    assert began(5, START_NS) == [("host 0", "train 0", BEGAN_EARLIER)]
    assert began(0, START_NS) == [("host 0", "train 0", BEGAN_EARLIER)]  # cut off at that moment
    assert began(-5, START_NS) == []
    assert began(2005, START_NS) == [
        ("host 0", name, BEGAN_EARLIER) for name in ("train 0", "train 1", "train 2")
    ]
    assert began(123, -7) == [("host 0", "train 0", BEGAN_EARLIER)]  # lines count from the start
    assert began(123, 7) == []
    assert began(10**18, START_NS) == []  # another clock


def test_a_marker_without_an_end_is_cut():
    def last(duration):
        marker = event("train", 1000, duration, step_num=1, _r=1, _pt=1, _p=7)
        work = line(event("a:MatMul", 1010, 50, _ct=1, _c=7), id=2)
        first = event("train", 0, 900, step_num=0, _r=1), event("a:MatMul", 10, 500)
        return cuts(opened(xspace(host(line(*first, marker), work))))

    assert last(0) == [("host 0", "train 1", NO_END)]
    assert last(100) == []


def on_tpu(of_cores):
    """Steps of 100 by core."""
    planes = [
        tpu(
            number,
            steps=[at(str(step), step * 200, 100) for step in steps],
            modules=[at("jit_f(1)", step * 200, 100) for step in steps],
            ops=[op("fusion", "convolution", step * 200, 80) for step in steps],
        )
        for number, steps in enumerate(of_cores)
    ]
    return opened(xspace(host(line(event("main", 0, 1))), *planes))


def test_steps_that_a_tensor_core_lacks_are_cut():
    run = on_tpu([range(4), range(1, 4)])
    assert {name for _, name, _ in cuts(run)} == {"0"}
    assert {reason for _, _, reason in cuts(run)} == {NOT_ON_ALL_CORES}
    assert [message for _, message in reported(run)] == [
        "step 0: cut by the beginning of the capture (some cores do not have it); averages are of "
        "the others"
    ]
    assert cuts(on_tpu([range(3), range(3)])) == []
    assert cuts(on_tpu([range(3), ()])) == []  # a core without work


def test_averages_and_verdicts_are_of_whole_steps():
    # The last whole step has no period; in the cut capture, the third one has a period.
    whole, cut = opened(on_gpu(4)), opened(on_gpu(4, lost=[8]))
    for tool, words in ((overview, "(3 steps"), (pod, "host 0")):
        assert tool(cut).verdict == tool(whole).verdict
        assert words in " ".join(tool(cut).verdict)
    for tool in (overview, input_pipeline):
        averages, expected = (tool(run).table("steps").properties for run in (cut, whole))
        assert averages == expected
    assert Evidence(cut, cut.hosts).step_ms == Evidence(whole, whole.hosts).step_ms
    [figures], [expected] = (monitor(run).to_rows() for run in (cut, whole))
    assert {key for key in figures if figures[key] != expected[key]} == {"idle_percent"}


def test_tables_and_charts_show_cut_steps_as_such():
    run = opened(on_gpu(3, lost=[6]))
    expected = ["train 0", "train 1", "train 2 (cut)"]
    assert [row["stepnum"] for row in input_pipeline(run).to_rows("steps")] == expected
    assert [row["step"] for row in pod(run).to_rows()] == expected
    assert list(overview(run).charts[0].x) == expected
    known = {row["what"]: row["value"] for row in overview(run).to_rows("environment")}
    assert known["Steps"] == "3 (1 cut)"
    assert [row["stepnum"] for row in input_pipeline(run, step=2).to_rows()] == ["train 2 (cut)"]
    tpus = on_tpu([range(3), range(1, 3)])
    assert [row["stepnum"] for row in input_pipeline(tpus).to_rows()] == ["0 (cut)", "1", "2"]


def test_the_reference_does_not_know_of_cut_steps():
    for space in (on_gpu(4, unmarked=[0]), on_gpu(4, lost=[8])):
        steps = run_steps(opened(space).in_mode(classic=True))
        assert not steps.is_cut.any()
        assert steps.notes == ()


def test_hosts_are_aligned_without_steps_that_lack_their_numbers():
    run = opened(on_gpu(4, first=10, unmarked=[0]), on_gpu(4, first=10))
    steps = run_steps(run)
    assert steps.names == ["train 11", "train 12", "train 13"]
    assert [one.names for one in steps.hosts] == [steps.names, steps.names]
    assert reported(run)[0] == (
        "info", "step 0: cut by the beginning of the capture (its marker is not in the capture); "
        "left out, as other hosts may not have it",
    )  # fmt: skip


def test_a_step_that_is_cut_on_one_host_is_in_no_average():
    run = opened(on_gpu(3, lost=[6]), on_gpu(3))
    steps = run_steps(run)
    assert steps.is_cut.tolist() == [False, False, True]
    assert steps.whole.n_steps == 2
    assert [len(one.times) for one in steps.whole.hosts] == [2, 2]


def test_averages_are_of_all_steps_if_all_are_cut():
    space = capture(2)
    space.planes.append(plane("Task Environment", stats={"profile_start_time": START_NS + 5000}))
    steps = run_steps(opened(space))
    assert steps.is_cut.all()
    assert steps.whole is steps
    assert steps.notes[0].message.endswith("; there are no others")


def without_ops(n_steps, first=0):
    marks = [event("train", n * 100, 90, step_num=first + n, _r=1) for n in range(n_steps)]
    return xspace(host(line(*marks)))


def test_marked_steps_without_computation_are_steps():
    run = opened(without_ops(2, first=4))
    steps = run_steps(run)
    assert steps.names == ["train 4", "train 5"]
    assert steps.share_of("other") == 1.0
    [note] = steps.notes
    assert (note.severity, note.host) == ("warning", "host 0")
    assert "host_tracer_level is 2" in note.message
    reference = run_steps(opened(without_ops(2)).in_mode(classic=True))
    assert reference.notes[0].message.startswith("no steps w")


def test_some_marked_steps_without_computation():
    marks = [event("train", n * 100, 90, step_num=n, _r=1) for n in range(20)]
    run = opened(xspace(host(line(*marks, event("a:MatMul", 310, 50)))))
    assert run_steps(run).names == [f"train {number}" for number in range(20)]
    assert run_steps(run.in_mode(classic=True)).names == ["train 3"]


def test_marked_steps_without_kernels_have_a_note():
    run = opened(on_gpu(3, lost=[5, 6]))
    assert run_steps(run).names == ["train 0", "train 1"]
    assert [message for _, message in reported(run)] == [
        "1 marked step is left out, because no computation was found in it (train 2): the devices "
        "ran nothing for such a step, or ran it before or after the capture"
    ]


def test_marked_steps_that_a_tpu_lacks_have_a_note():
    space = xspace(
        host(line(*(event("train", n * 100, 90, step_num=n, _r=1) for n in range(2)))),
        tpu(0, steps=[at("7", 0, 100)], modules=[at("jit_f(1)", 0, 100)],
            ops=[op("fusion", "convolution", 0, 80)]),
    )  # fmt: skip
    notes = run_steps(opened(space)).notes
    assert [note.message.partition(",")[0] for note in notes] == ["2 marked steps are left out"]
    assert "no run of a program on the TPUs" in notes[0].message


@pytest.mark.parametrize("recorded", CAPTURES)
def test_recorded_captures_have_whole_steps_only(recorded):
    """Their recording, real or synthetic, began and ended between steps."""
    run = run_of(recorded)
    assert cuts(run) == []
    assert not [note for note in run_steps(run).notes if "marked step" in note.message]


def listened_to(space, hears):
    """The capture of a recorder of only some events; ``hears`` gets their starts and ends."""
    made = pb.XSpace()
    made.CopyFrom(space)
    for one in made.planes:
        for own in one.lines:
            starts = [own.timestamp_ns * 1000 + happened.offset_ps for happened in own.events]
            kept = [
                happened
                for happened, start in zip(own.events, starts, strict=True)
                if hears(start, start + happened.duration_ps)
            ]
            del own.events[:]
            own.events.extend(kept)
    return open_run(made)


@pytest.mark.parametrize("recorded", ["gpu-synthetic", "cpu-custom-loop-py", "tpu-synthetic"])
def test_whatever_the_ends_of_a_recorded_capture_cut_whole_steps_are_whole(recorded):
    """For recorders that begin later or end earlier, whole steps are as in the whole capture."""
    [path] = folder(recorded).glob("*.xplane.pb")
    space = pb.XSpace.FromString(path.read_bytes())
    steps = run_steps(open_run(path)).hosts[0]
    durations = dict(zip(steps.names, steps.times.own_ps.tolist(), strict=True))
    first, last = int(steps.times.start_ps[0]), int(steps.times.start_ps[-1])
    n_cut = n_whole = 0
    for since in np.linspace(first, last, 12).astype(np.int64).tolist()[1:]:
        moment = since + steps.host.timeline.axis.base_ns * 1000
        for hears in (lambda start, _, m=moment: start >= m, lambda _, end, m=moment: end <= m):
            found = run_steps(listened_to(space, hears))
            n_cut += int(found.is_cut.sum())
            if found.is_cut.all():
                continue
            one = found.whole.hosts[0]
            if one.is_implicit:  # no marker is left, as a note states
                continue
            for name, duration in zip(one.names, one.times.own_ps.tolist(), strict=True):
                assert duration == durations[name], (since, name)
                n_whole += 1
    assert n_whole > 20
    assert (n_cut > 5) == (recorded == "gpu-synthetic")  # in others the marker is lost, too
