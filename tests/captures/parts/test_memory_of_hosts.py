"""Memory per host in the process that answers questions about many hosts."""

import gc
import tracemalloc

import pytest

from tests.captures.run.recorded_host import recorded
from tests.pods.many_hosts import Plan, write_run
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.parts.condense import HostFile, condense
from tfprof.captures.parts.condensed import Facts, condensed_run
from tfprof.captures.parts.part import Part
from tfprof.captures.tools.pod_viewer import pod

N_STEPS = 800  # many steps, so that other memory of a host is negligible


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """A host as a part with all facts for overview and pod."""
    folder = tmp_path_factory.mktemp("two")
    write_run(folder, recorded(N_STEPS), Plan(hosts=2))
    fleet = fleet_of(folder)
    fleet.run_for(lambda run: (overview(run), pod(run)))
    return fleet.facts.part


def run_of(part, n_hosts):
    one = part.hosts[0]
    hosts = {place: one._replace(label=f"host{place:03}") for place in range(n_hosts)}
    return condensed_run("", Facts(Part(hosts, part.sums), None, None))


@pytest.mark.parametrize("tool", [overview, pod])
def test_a_host_takes_few_bytes_for_a_step(part, tool):
    """It keeps eight columns of steps, and works with as many; no cell is an object."""

    def traced(n_hosts):
        run = run_of(part, n_hosts)
        gc.collect()
        tracemalloc.start()
        try:
            result = tool(run)
            assert len(result.notes) < 10
            return tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    traced(4)  # for the imports of modules
    few, many = traced(10), traced(30)
    kept, peak = ((more - less) / 20 / N_STEPS for less, more in zip(few, many, strict=True))
    assert kept < 8 * 9
    assert peak < 8 * 22


def test_hosts_share_names_and_groups_that_are_equal(part):
    steps = run_steps(run_of(part, 5))
    assert steps.n_steps == N_STEPS
    assert len({id(one.names) for one in steps.hosts}) == 1
    assert len({id(one.times.groups) for one in steps.hosts}) == 1


def test_of_large_answers_the_latest_are_kept(part, monkeypatch):
    from tfprof.captures.facts.framework import _of_host
    from tfprof.captures.facts.run_steps import _host_steps
    from tfprof.captures.parts import condensed

    monkeypatch.setattr(condensed, "_MOST_LATEST", 2)
    first, *others = run_of(part, 3).hosts
    large, small = _host_steps(first), _of_host(first)
    for host in others[:1]:
        assert _host_steps(host) is _host_steps(host)
    assert _host_steps(first) is large  # and it is now the latest
    for host in others:
        _of_host(host), _host_steps(host)
    assert _host_steps(first) is not large
    assert _host_steps(first).names == large.names
    assert _of_host(first) is small


def test_a_part_of_a_file_alone(tmp_path):
    """Bytes of steps with few kinds of time contain only these kinds, and are readable."""
    from tfprof.captures.facts.run_steps import _host_steps
    from tfprof.captures.parts.part import Wanted
    from tfprof.captures.run.run import open_run

    path = tmp_path / "host.xplane.pb"
    path.write_bytes(recorded(5).SerializeToString())
    key = _host_steps.key()
    part = condense(HostFile(0, str(path), 1), Wanted((key,)))
    [reported] = condensed_run("", Facts(part, None, None)).hosts
    [opened] = open_run(path).hosts
    times = [_host_steps(host).times for host in (reported, opened)]
    assert times[0].kinds == times[1].kinds
    assert len(times[0].kinds) == 3
    assert times[0].spent_ps.tolist() == times[1].spent_ps.tolist()
    assert (times[0].spent_ps.sum(axis=1) == times[0].duration_ps).all()
