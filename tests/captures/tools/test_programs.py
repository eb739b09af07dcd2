"""Programs have the names of the capture, the same in every tool."""

import json

import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.captures.model.xspace import METADATA_PLANE
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

CAPTURES = ("gpu-rocm-jax-attention", "gpu-rocm-jax-conv", "tpu-v6e-jax", "cpu-xla")

TOOLS = {
    "op_profile": tools.op_profile,
    "op_profile by category": lambda run, **how: tools.op_profile(run, by="category", **how),
    "op_profile by provenance": lambda run, **how: tools.op_profile(run, by="provenance", **how),
    "hlo_stats": tools.hlo_stats,
    "roofline": tools.roofline,
    "op_stats": tools.op_stats,
    "kernel_stats": tools.kernel_stats,
    "overview": tools.overview,
    "memory_viewer": tools.memory_viewer,
    "graph_viewer": tools.graph_viewer,
    "trace": tools.trace,
}


def octets(capture):
    (path,) = folder(capture).glob("*.xplane.pb")
    return path.read_bytes()


def renumbered(data):
    """The capture as XLA of 2026 writes it: entries numbered by name, and a stat with the id."""
    space = pb.XSpace.FromString(data)
    for plane in space.planes:
        if plane.name != METADATA_PLANE:
            continue
        stat = max(plane.stat_metadata, default=0) + 1
        plane.stat_metadata[stat].id, plane.stat_metadata[stat].name = stat, "program_id"
        entries = []
        for key in sorted(plane.event_metadata, key=lambda key: plane.event_metadata[key].name):
            entry = pb.XEventMetadata.FromString(plane.event_metadata[key].SerializeToString())
            entry.stats.add(metadata_id=stat, int64_value=key)
            entries.append(entry)
        for key in list(plane.event_metadata):
            del plane.event_metadata[key]
        for number, entry in enumerate(entries, 1):
            entry.id = number
            plane.event_metadata[number].CopyFrom(entry)
    return space.SerializeToString()


@pytest.fixture(scope="module")
def pairs():
    """Each capture, original and renumbered, opened once."""
    opened = {}

    def pair(capture):
        if capture not in opened:
            data = octets(capture)
            other = renumbered(data)
            assert other != data
            opened[capture] = tools.open_run([data]), tools.open_run([other])
        return opened[capture]

    return pair


def stated(result):
    """The whole result of a tool as text."""
    if result.tool == "trace":
        return json.dumps(result.to_gviz(), sort_keys=True)
    return json.dumps([result.to_dict(), result.to_gviz()], sort_keys=True)


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("capture", CAPTURES)
def test_numbers_of_entries_change_no_answer(pairs, capture, tool, classic):
    """Nor in HLO stats and op profile of xprof 2.24."""
    answers = []
    for run in pairs(capture):
        try:
            answers.append(stated(TOOLS[tool](run, classic=classic)))
        except UsageError as error:  # the reference has no such answer
            answers.append(str(error))
    assert answers[0] == answers[1]


def test_time_stands_under_the_name_of_the_program_that_took_it():
    run = tools.open_run([octets("cpu-jax-pmap")])
    rows = tools.op_profile(run).to_rows()
    programs = {row["name"]: row["time_share"] for row in rows if row["level"] == 1}
    # The events have these names and numbers as hlo_module and program_id.
    assert list(programs) == ["jit__fun(6)", "jit_rnn(14)", "jit__multi_slice(8)"]
    assert programs["jit__fun(6)"] == pytest.approx(0.746, abs=5e-4)
    assert not {row["category"] for row in rows} & {"unknown"}
    assert all(row["model_flop_rate"] is not None for row in tools.hlo_stats(run).to_rows())


def test_a_program_that_the_capture_does_not_hold_has_its_own_name_all_the_same():
    space = pb.XSpace.FromString(octets("cpu-jax-pmap"))
    for plane in space.planes:
        if plane.name == METADATA_PLANE:
            plane.Clear()
    run = tools.open_run([space.SerializeToString()])
    rows = tools.op_profile(run).to_rows()
    assert [row["name"] for row in rows if row["level"] == 1] == [
        "jit__fun(6)", "jit_rnn(14)", "jit__multi_slice(8)",
    ]  # fmt: skip


def test_ops_of_no_program_are_in_none_of_number_0():
    """GPU kernels of TensorFlow's ops beside a program with id 0."""
    from tests.hlo_programs import capture, op, program
    from tfprof.testing.xspace_builders import event, gpu, line

    space = capture(
        program(main=[op("a", "parameter", "f32[4]"), op("n", "negate", "f32[4]", "a")])
    )
    entries = space.planes[0].event_metadata
    entries[0].CopyFrom(entries[1])
    entries[0].name = "jit_f(0)"
    del entries[1]
    stats = {"hlo_op": "n", "hlo_module": "jit_f", "program_id": 0}
    space.planes.append(gpu(line(event("k", 0, 5, **stats), event("gemm", 9, 3, tf_op="x:MatMul"))))
    rows = tools.op_profile(tools.open_run([space.SerializeToString()])).to_rows()
    assert [(row["name"], row["time_us"]) for row in rows if row["level"] == 1] == [
        ("jit_f(0)", 0.005), ("in no compiled program", 0.003),
    ]  # fmt: skip
