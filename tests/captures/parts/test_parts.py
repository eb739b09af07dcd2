"""Parts merge to the same in any order and grouping, with the same answers as open hosts."""

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.captures.parts.recorded_files import WANTED, files
from tfprof import tools
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.parts.condense import HostFile, condense, failed
from tfprof.captures.parts.part import Part, fact_of, merge
from tfprof.captures.run.fact import Key
from tfprof.errors import EmptyProfileError, MalformedProfileError
from tfprof.inputs.opened import opened_run
from tfprof.ui.pages.site import Site

pytestmark = pytest.mark.one_engine

MERGING = ("cpu-multi-worker", "cpu-xla", "gpu-synthetic", "tpu-synthetic")
TOOLS = (
    "overview", "input_pipeline", "tf_data", "op_stats", "kernel_stats", "memory", "pod",
    "stragglers", "collectives", "op_profile", "hlo_stats", "roofline", "compiles",
    "monitor", "latency",
)  # fmt: skip


@cache
def parts():
    """Parts of hosts with ops on threads, GPUs and TPUs, and of an unreadable one."""
    read = files(*MERGING)
    lost = HostFile(len(read), "lost.xplane.pb", 0)
    return (*(condense(one, WANTED) for one in read), failed(lost, WANTED, "no such file"))


@cache
def whole():
    return merge(parts()).to_bytes()


def test_the_sum_of_all_hosts_is_that_of_open_ones():
    run = tools.open_run([file.path for file in files(*MERGING)])
    part = Part.from_bytes(whole())
    for key in WANTED.summed:
        expected = fact_of(key).together(run.hosts, **dict(key.options))
        assert str(part.sum(key)) == str(expected)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_and_grouping_do_not_matter(random):
    left = list(parts())
    random.shuffle(left)
    while len(left) > 1:
        n = random.randint(2, len(left))
        some = merge(left[:n])
        if random.random() < 0.5:
            some = Part.from_bytes(some.to_bytes())
        left = [*left[n:], some]
    assert left[0].to_bytes() == whole()


def test_nothing_changes_nothing():
    one = parts()[0]
    assert Part().merge(one).to_bytes() == one.merge(Part()).to_bytes() == one.to_bytes()
    assert merge([]).to_bytes() == Part().to_bytes()


def test_no_host_counts_twice():
    one, other, *_ = parts()
    with pytest.raises(ValueError, match=f"would count twice: {one.hosts[0].label}"):
        one.merge(other).merge(one)


def test_other_bytes_are_refused():
    with pytest.raises(MalformedProfileError, match="no partial results"):
        Part.from_bytes(b"<html>")
    for name in ("captures.run.run:Host", "os:system", "captures.facts.environment:nothing"):
        with pytest.raises(MalformedProfileError, match="is not a fact of this version"):
            fact_of(Key(name))


CASES = [
    ("cpu-multi-worker",),
    ("gpu-synthetic",),
    ("gpu-rocm-jax-conv",),
    ("cpu-keras-fit", "cpu-memory-bfc"),
    ("cpu-jax-pmap", "cpu-xla"),
    ("tpu-synthetic", "tpu-v6e-jax"),
]


@pytest.mark.parametrize("captures", CASES, ids="+".join)
@pytest.mark.parametrize("classic", [False, True], ids=["default", "classic"])
def test_tools_answer_as_of_open_hosts(captures, classic):
    paths = [file.path for file in files(*captures)]
    opened = tools.open_run(paths)
    for name in TOOLS:
        tool = getattr(tools, name)

        def question(run, tool=tool):
            return json.dumps(tool(run, classic=classic).to_dict())

        fleet = fleet_of(paths)
        assert fleet.ask(question) == question(opened), name
        assert fleet.facts.n_rounds <= 1, name  # the second host may be of another kind
        assert not fleet.facts.n_reopened, name


def test_questions_about_one_host_or_step_are_answered_too():
    paths = [file.path for file in files("cpu-multi-worker")]
    opened = tools.open_run(paths)
    for options in ({"host": opened.hosts[1].name}, {"step": 1108}):
        for name in ("op_stats", "memory", "pod", "tf_data"):
            tool = getattr(tools, name)

            def question(run, tool=tool, options=options):
                return json.dumps(tool(run, **options).to_dict())

            fleet = fleet_of(paths)
            assert fleet.ask(question, host=options.get("host")) == question(opened)


def test_a_host_that_cannot_be_read_is_named(tmp_path):
    good = files("cpu-multi-worker")[0].path
    (tmp_path / "a.xplane.pb").write_bytes(b"<html>no capture</html>")
    paths = [str(tmp_path / "a.xplane.pb"), good, str(tmp_path / "gone.xplane.pb")]
    opened = tools.open_run(paths)
    answer = fleet_of(paths).ask(tools.op_stats)
    assert answer.to_dict() == tools.op_stats(opened).to_dict()
    assert {note.host for note in answer.notes if "not read" in note.message} == {"a", "gone"}
    with pytest.raises(EmptyProfileError, match=r"a\.xplane\.pb"):
        fleet_of([paths[0], paths[2]]).ask(tools.op_stats)


def test_the_wire_form_is_small():
    (file,) = files("gpu-v100-bert-modernized")
    fleet = fleet_of(file.path)
    for tool in (tools.kernel_stats, tools.pod, tools.tf_data):
        fleet.ask(tool)
        assert len(fleet.facts.part.to_bytes()) < 0.01 * file.n_bytes


@pytest.mark.parametrize(
    "page", ["start", "overview", "op-stats", "stragglers", "advice", "contents", "op"]
)
def test_pages_are_those_of_open_hosts(page):
    paths = [file.path for file in files("cpu-multi-worker")]

    def question(run):
        return Site([opened_run(run, "logs")]).page(page, {}).to_json()

    fleet = fleet_of(paths)
    assert fleet.ask(question) == question(tools.open_run(paths))
    assert (fleet.facts.n_rounds, fleet.facts.n_reopened) == (0, 0)


def test_a_trace_takes_one_host_at_a_time():
    paths = [file.path for file in files("cpu-multi-worker")]
    fleet = fleet_of(paths)
    for options in ({}, {"step": 1108}, {"host": "worker1_6009"}):
        reported = fleet.ask(lambda run, options=options: tools.trace(run, **options))
        opened = tools.trace(tools.open_run(paths), **options)
        assert reported.to_dict() == opened.to_dict()
        fleet.facts.n_reopened = 0
        assert b"".join(reported.pieces()) == b"".join(opened.pieces())
        assert fleet.facts.n_reopened <= len(paths)


def test_a_fleet_of_one_host():
    paths = [file.path for file in files("cpu-multi-worker")]
    fleet = fleet_of(paths)
    fleet.only("no such host")
    assert len(fleet.files) == 2
    fleet.only("worker1_6009")
    assert [file.path for file in fleet.files] == paths[1:]
