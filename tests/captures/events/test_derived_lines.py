"""Derived lines, compared with the reference's, also where it has none."""

from collections import Counter

import pytest

from tests.captures.tools.oracle import CAPTURES, preprocessed, run_of
from tfprof.captures.events.derived.all import derive_lines
from tfprof.captures.events.derived.lines import HloSource
from tfprof.captures.events.timeline.names import is_derived
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.rules import REFERENCE
from tfprof.captures.trace.tracks import derived_lines
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, plane, xspace


def reference_lines(space, known, base_ns):
    """Name and events of each derived line by plane and id; ``known`` are the original lines."""
    found = {}
    for one in space.planes:
        starts = one.starts_ps(base_ns)
        groups = one.stat("group_id").integers(-1)
        shown = one.event_metadata
        for row in range(len(one.lines)):
            line_id = int(one.lines.ids[row])
            if not is_derived(line_id) or (one.name, line_id) in known:
                continue
            events = one.events_of(row)
            kinds = one.metadata_rows[events].tolist()
            found[one.name, line_id] = (
                one.lines.names[row],
                int(one.lines.display_ids[row]),
                list(
                    zip(
                        starts[events].tolist(),
                        one.events.durations_ps[events].tolist(),
                        [shown.names[kind] for kind in kinds],
                        [shown.display_names[kind] for kind in kinds],
                        groups[events].tolist(),
                        strict=True,
                    )
                ),
            )
    return found


def events_of(one):
    kinds = one.kinds.tolist()
    return list(
        zip(
            one.starts_ps.tolist(),
            one.durations_ps.tolist(),
            [one.names[kind] for kind in kinds],
            [one.display_names[kind] for kind in kinds],
            one.groups.tolist(),
            strict=True,
        )
    )


def is_offload(key):
    return key[1] in range(-559038729, -559038688)


@pytest.mark.parametrize("capture", CAPTURES)
def test_derived_lines_are_those_of_the_reference(capture):
    for one in run_of(capture).hosts:
        planes = one.space.planes
        own = {
            (planes[found.plane].name, found.id): (found.name, found.display_id, events_of(found))
            for found in derived_lines(one.by(REFERENCE)).lines
        }
        known = {(each.name, number) for each in planes for number in each.lines.ids.tolist()}
        base_ns = one.timeline.axis.base_ns
        theirs = reference_lines(read_xspace(preprocessed(capture, one.name)), known, base_ns)
        # The row of a copy to the host depends on an unstable order there.
        for name in {key[0] for key in theirs}:
            rows = [
                Counter(happened for key in found if key[0] == name and is_offload(key)
                        for happened in found[key][2])
                for found in (own, theirs)
            ]  # fmt: skip
            assert rows[0] == rows[1]
        kept = [{k: v for k, v in found.items() if not is_offload(k)} for found in (own, theirs)]
        assert kept[0] == kept[1]
        assert list(kept[0]) == list(kept[1])


def nothing_known(program, module, name):
    return None


def lines_of(space, hlo=nothing_known, **options):
    one = opened(space).hosts[0]
    found = derive_lines(one.timeline, one.groups(), hlo, **options)
    return {line.name: line for line in found.lines}


def test_launches_of_a_step_are_summed_up():
    root = event("train", 0, 100, step_num=7, _r=1)
    launches = (
        event("hipLaunchKernel", 10, 4, correlation_id=1, device_id=0),
        event("hipLaunchKernel", 20, 8, correlation_id=2, device_id=0),
        event("cuLaunchKernel", 40, 1, correlation_id=3, device_id=0),
        event("hipLaunchKernel", 50, 1, correlation_id=4, device_id=9),
    )
    kernels = (event("k", 60, 5, correlation_id=1), event("k", 70, 5, correlation_id=2))
    space = xspace(host(line(root, *launches)), gpu(line(*kernels, id=14, name="Stream #14")))
    found = lines_of(space)["Launch Stats"]
    assert events_of(found) == [(10_000, 18_000, "Launch Stats for train 7", "", 0)]
    assert found.stats[0]["num_launches"] == 2
    assert found.stats[0]["max_launch_time_us"] == pytest.approx(0.008)
    assert found.stats[0]["avg_launch_time_us"] == pytest.approx(0.006)


def kernel(start, **stats):
    return event("k", start, 5, kernel_details="regs:1", **stats)


def test_a_kernel_of_an_unknown_program_keeps_its_own_op():
    reported = {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 3, "tf_op": "a/b:MatMul"}
    space = xspace(gpu(line(kernel(0, **reported), id=14, name="Stream #14(Compute)")))
    found = lines_of(space)
    assert events_of(found["Framework Ops - from #14"])[0][2:4] == ("a/b:MatMul", "MatMul")
    assert events_of(found["Framework Name Scope - from #14"])[0][2] == "a"
    assert events_of(found["XLA Modules - from #14"])[0][2] == "jit_f(3)"
    assert events_of(found["XLA Ops - from #14"])[0][2:4] == ("3/fusion.1", "fusion.1")
    assert "Framework Ops - from #14" not in lines_of(space, rules=REFERENCE)


def test_nested_instructions_are_levels():
    space = xspace(
        gpu(
            line(
                kernel(0, hlo_op="while.1::fusion.1", hlo_module="m"),
                kernel(10, hlo_op="while.1::fusion.2", hlo_module="m"),
                id=14, name="Stream #14(Compute)",
            )
        )
    )  # fmt: skip
    found = events_of(lines_of(space)["XLA Ops - from #14"])
    assert [(row[0], row[1], row[3]) for row in found] == [
        (0, 15_000, "while.1"),
        (0, 5_000, "fusion.1"),
        (10_000, 5_000, "fusion.2"),
    ]


def test_programs_tell_the_ops_of_xla_on_the_host():
    def hlo(program, module, name):
        return HloSource(f"layer/{name}:Dot", "train.py:3")

    ops = [event(f"dot.{n}", 10 * n, 5, hlo_op=f"dot.{n}", hlo_module="jit_f") for n in (1, 2)]
    space = xspace(host(line(*ops, name="main/1")))
    found = lines_of(space, hlo)
    assert {name: len(one) for name, one in found.items()} == {
        "main/1-Framework Ops": 2,
        "main/1-Framework Name Scope": 1,
        "main/1-XLA Modules": 1,
        "main/1-Source code": 1,
    }
    scopes = events_of(found["main/1-Framework Name Scope"])
    assert scopes == [(10_000, 15_000, "layer", "", -1)]
    assert not lines_of(space, hlo, rules=REFERENCE)


def offload(name, start, duration):
    return event(f"%{name} = f32[8]{{0:S(5)}} {name.partition('.')[0]}(…)", start, duration)


def test_copies_to_the_host_reach_from_start_to_done_side_by_side():
    events = [
        offload("copy-start", 0, 1), offload("copy-start.2", 2, 1), offload("copy-done", 10, 5),
        offload("copy-done.2", 20, 5), offload("copy-start", 30, 1), offload("copy-done", 40, 5),
        event("%copy-done.9 = f32[8]{0} copy-done(…)", 50, 5),
    ]  # fmt: skip
    shown = {one.name: one.name.split()[0][1:] for one in events}
    space = xspace(
        plane("/device:TPU:0", line(*events, name="XLA Ops"), display=shown),
    )
    found = {name: events_of(one) for name, one in lines_of(space).items()}
    assert found == {
        "Host Offload Ops row 0": [
            (0, 15_000, "", "offload-copy.0", -1), (30_000, 15_000, "", "offload-copy.0", -1),
        ],
        "Host Offload Ops row 1": [(2_000, 23_000, "", "offload-copy.2", -1)],
    }  # fmt: skip


def test_files_with_steps_have_their_lines_already():
    space = xspace(gpu(line(kernel(0, group_id=0, tf_op="a:MatMul"), id=14, name="Stream #14")))
    assert lines_of(space) == {}
