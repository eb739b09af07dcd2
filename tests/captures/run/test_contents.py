"""The tools that have data."""

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.read.xspace import read_xspace
from tfprof.captures.run.contents import tools_with_data
from tfprof.cli.registry import COMMANDS
from tfprof.core.wire import messages as pb

ALL = [
    "overview", "input-pipeline", "tf-data", "op-stats", "utilization", "latency", "kernel-stats",
    "memory", "pod", "stragglers", "collectives", "op-profile", "hlo-stats", "roofline",
    "memory-viewer", "graph-viewer", "compiles", "monitor", "trace",
]  # fmt: skip


def plane(name, event, stat=""):
    event_metadata = {1: pb.XEventMetadata(id=1, name=event)}
    stat_metadata = {1: pb.XStatMetadata(id=1, name=stat)} if stat else {}
    lines = [pb.XLine(id=1, events=[pb.XEvent(metadata_id=1, offset_ps=1, duration_ps=5)])]
    return pb.XPlane(
        name=name, lines=lines, event_metadata=event_metadata, stat_metadata=stat_metadata
    )


def with_data(*planes):
    space = read_xspace(pb.XSpace(planes=planes, hostnames=["h"]).SerializeToString())
    return {data.tool for data in tools_with_data([space]) if not data.missing}


ALWAYS = {"overview", "op-stats", "monitor", "trace"}


def test_every_command_for_captures_is_listed():
    sections = {name: entry.section for name, entry in COMMANDS.items()}
    of_captures = [name for name in sections if sections[name] == sections["tools"]]
    others = (
        "capture",
        "record",
        "run",
        "slice",
        "tools",
        "top",
        "whatif",
    )  # these make captures, or list all tools
    assert [name for name in of_captures if name not in others] == list(ALL)


def test_nothing_at_all():
    found = tools_with_data([])
    assert [data.tool for data in found] == ALL
    assert all(data.missing for data in found)


@pytest.mark.parametrize(
    ("planes", "more"),
    [
        ([plane("/host:CPU", "MatMul")], set()),
        ([plane("/host:CPU", "Iterator::Map")], {"tf-data", "input-pipeline"}),
        ([plane("/host:CPU", "train", "_r")], {"input-pipeline", "pod", "utilization"}),
        (
            [plane("/host:CPU", "Profiled batch", "step_num")],
            {"input-pipeline", "pod", "utilization"},
        ),
        ([plane("/host:CPU", "MemoryAllocation")], {"memory"}),
        ([plane("/host:CPU", "Rendezvous")], {"collectives"}),
        ([plane("/host:CPU", "b/CollectiveReduceV2:CollectiveReduceV2")], {"collectives"}),
        ([plane("/host:CPU", "backend_compile_and_load")], {"compiles"}),
        ([plane("/host:CPU", "tf.function-graph_building")], {"compiles"}),
        ([plane("/host:CPU", "f", "traced-nonXla")], {"compiles"}),
        ([plane("/host:CPU", "thunk", "hlo_op")], {"op-profile", "hlo-stats", "roofline"}),
        (
            [plane("/device:GPU:0", "gemm", "kernel_details")],
            {"kernel-stats", "op-profile", "hlo-stats", "roofline"},
        ),
        (
            [plane("/host:CPU", "MatMul"), plane("/host:metadata", "jit_f(1)", "Hlo Proto")],
            {"memory-viewer", "graph-viewer"},
        ),
    ],
)
def test_what_planes_give(planes, more):
    assert with_data(*planes) == ALWAYS | more


def test_hosts_are_compared_if_there_are_two():
    step = pb.XSpace(planes=[plane("/host:CPU", "train", "_r")]).SerializeToString()
    bare = pb.XSpace(planes=[plane("/host:CPU", "MatMul")]).SerializeToString()
    for files, there in (([step], False), ([step, bare], False), ([step, step], True)):
        found = {data.tool: data.missing for data in tools_with_data(map(read_xspace, files))}
        assert (not found["stragglers"]) == there


def test_a_capture_with_xla_on_the_cpu():
    (path,) = folder("cpu-xla").glob("*.xplane.pb")
    missing = {data.tool for data in tools_with_data([read_xspace(path)]) if data.missing}
    assert missing == {"kernel-stats", "memory", "stragglers", "collectives", "compiles"}
