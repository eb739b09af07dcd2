"""Classic mode compared with the reference's own answers, on every shared capture.

Table 4 of docs/differences.md lists what the tests do not compare, by the ids that they use.
"""

import re
from pathlib import Path

import pytest

from tests.captures.tools.oracle import CAPTURES, answer, differences, run_of
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.tools.gpu_kernels import kernel_stats
from tfprof.captures.tools.hlo_statistics import hlo_stats
from tfprof.captures.tools.input_pipeline_analyzer import input_pipeline
from tfprof.captures.tools.memory_profile import memory
from tfprof.captures.tools.op_profile_tree import op_profile
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.pod_viewer import pod
from tfprof.captures.tools.tf_data_bottleneck import tf_data

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

EXCEPTIONS = {
    "C1": "prose: recommendations, statements, tips, tooltips, HTML",
    "C2": "the deviation of one sample",
    "C3": "which of several equal allocations stands for all",
    "C4": "the order of siblings that took equally long, and which of them are cut off",
    "C5": "numbers of pipelines, and the order of hosts, by hash",
    "C6": "numbers of arrows, which are hashes that differ in each process",
    "C7": "in which row a trace shows copies to the host that overlap",
    "C8": "the idle time between steps of TPUs that were merged",
    "C9": "errors and warnings of the profiler itself beyond the first 20",
}

PROSE = re.compile(
    r".*(statement|conclusion|nextstep|summary_message"  # C1
    r"|/p/(kernel_launch|all_other|device_collectives)_bottleneck"
    r"|\[1\]/rows\[\d+\]/c\[10\]/v"  # tooltips
    r"|\[3\]/rows\[\d+\]/c\[\d\]/v|/diagnostics/warnings\[\d+\]|\[[46]\]/rows\[\d+\]/c\[1\]/v)"
)

TOOLS = {
    "kernel_stats.json": kernel_stats,
    "pod_viewer.json": pod,
    "input_pipeline_analyzer.json": input_pipeline,
    "framework_op_stats.json": op_stats,
    "overview_page.json": overview,
}


def is_prose(path):
    return PROSE.fullmatch(path) is not None


def found(ours, theirs, prose=is_prose):
    return [
        difference
        for difference in differences(ours, theirs, prose)
        if difference[2] not in ("nan", "-nan")  # C2
    ]


@pytest.mark.parametrize("file", TOOLS)
@pytest.mark.parametrize("capture", CAPTURES)
def test_tables_are_those_of_the_reference(capture, file):
    theirs = answer(capture, file)
    assert found(TOOLS[file](run_of(capture), classic=True).to_gviz(), theirs) == []


@pytest.mark.parametrize("capture", CAPTURES)
def test_hlo_stats_are_those_of_the_reference(capture):
    ours = hlo_stats(run_of(capture), classic=True).to_gviz()

    def source_column(path):  # HTML, C1
        return re.fullmatch(r"/rows\[\d+\]/c\[25\]/v", path) is not None

    assert found(ours, answer(capture, "hlo_stats.json"), source_column) == []


def in_one_order(tree):
    """Sort siblings of equal time by name, and drop those at the cut (C4)."""
    children = [in_one_order(child) for child in tree["children"]]
    if tree["numChildren"] > len(children):
        last = min(child["metrics"]["rawTime"] for child in children)
        children = [child for child in children if child["metrics"]["rawTime"] > last]
    children.sort(key=lambda child: (-child["metrics"]["rawTime"], child["name"]))
    return {**tree, "children": children}


@pytest.mark.parametrize("by", ["program", "category", "provenance"])
@pytest.mark.parametrize("capture", CAPTURES)
def test_op_profiles_are_those_of_the_reference(capture, by):
    theirs = answer(capture, f"op_profile.{by}.json")
    ours = op_profile(run_of(capture), classic=True, by=by).to_gviz()
    for name in (f"by{by.capitalize()}", f"by{by.capitalize()}ExcludeIdle"):
        ours[name], theirs[name] = in_one_order(ours[name]), in_one_order(theirs[name])
    assert found(ours, theirs) == []


def without_representatives(profile):
    """Drop values of one allocation that represents several (C3)."""
    for allocator in profile["memoryProfilePerAllocator"].values():
        for snapshot in allocator["memoryProfileSnapshots"]:
            del snapshot["timeOffsetPs"], snapshot["aggregationStats"]
            del snapshot["activityMetadata"]["address"]
    return profile


@pytest.mark.parametrize("capture", CAPTURES)
def test_memory_profiles_are_those_of_the_reference(capture):
    run = run_of(capture)
    for host in run.hosts:
        name = "memory_profile.json"
        if len(run.hosts) > 1:
            name = f"memory_profile.{host.name}.json"
        ours = memory(run, host=host.name, classic=True).to_gviz()
        theirs = answer(capture, name)
        pair = without_representatives(ours), without_representatives(theirs)
        assert found(*pair) == []


def calls(table):
    """Sorted rows of the graph with the numbers in their labels, without row numbers (C5)."""
    rows = []
    for row in table["rows"]:
        cells = [cell["v"] for cell in row["c"]]
        label = row["c"][3].get("f", "")
        numbers = re.findall(r"(?:: |from |, )(\d+)(?= us| calls|<)", label)
        kind = re.sub(r":\d+", "", cells[1])
        rows.append((cells[0], kind, *map(str, map(int_if_whole, cells[2:])), *numbers))
    return sorted(rows)


def int_if_whole(cell):
    return int(cell) if isinstance(cell, float) else cell


@pytest.mark.parametrize("capture", CAPTURES)
def test_pipelines_are_those_of_the_reference(capture):
    graph, pipelines, bottlenecks = tf_data(run_of(capture), classic=True).to_gviz()
    theirs = answer(capture, "tf_data_bottleneck_analysis.legacy.json")
    assert calls(graph) == calls(theirs[0])
    assert calls(pipelines) == calls(theirs[1])
    assert bottlenecks["p"]["is_input_bound"] == theirs[2]["p"]["is_input_bound"]
    ours = [[cell["v"] for cell in row["c"][:3]] for row in bottlenecks["rows"]]
    assert ours == [[cell["v"] for cell in row["c"][:3]] for row in theirs[2]["rows"]]
    assert all(row["c"][3]["v"] and row["c"][4]["v"] for row in bottlenecks["rows"])
    for mine, other in zip((graph, pipelines, bottlenecks), theirs, strict=True):
        assert mine["cols"] == other["cols"]


def test_every_exception_is_documented():
    page = Path(__file__).parents[3] / "docs" / "differences.md"
    reported = re.findall(r"^\| (C\d+) \|", page.read_text(), re.MULTILINE)
    assert reported == list(EXCEPTIONS)
