"""Every link of every page leads to a page with the row, the event or the box that it names."""

import dataclasses
from collections import defaultdict

import pytest

from tests.captures.tools.oracle import CAPTURES, folder
from tests.ui.pages.links import Followed, Link, links_of
from tfprof.demo import DEMO_CAPTURES, demo_capture, demo_files, tutorial_files
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, host, line, opened, xspace
from tfprof.ui.pages.site import Site

FEW_MADE = 3
"""Pages that are made anew for each link: the drawn graph, and choices on a page."""
MOST_OF_A_PLACE = 60
"""Of the links of a table or a drawing to one page, so many are followed, from all of it."""


def sampled(links):
    """Some links of each place on a page, evenly from the first to the last."""
    places = defaultdict(list)
    for link in links:
        places[link.page, link.place, link.to].append(link)
    for some in places.values():
        is_made = some[0].to in ("model-graph", some[0].page)
        n = min(len(some), FEW_MADE if is_made else MOST_OF_A_PLACE)
        for at in range(n):
            yield some[at * (len(some) - 1) // max(n - 1, 1)]


def dead(followed, links):
    """Links that lead nowhere, with what is wrong."""
    wrong = [(link, followed.trouble(link)) for link in sampled(links)]
    return [(link, trouble) for link, trouble in wrong if trouble]


def site_of(*captures):
    return Site(open_paths([str(folder(capture)) for capture in captures]))


@pytest.mark.thorough
@pytest.mark.one_engine
@pytest.mark.parametrize("capture", CAPTURES)
def test_every_page_that_is_not_grey_shows_something_and_its_links_lead_where_they_say(capture):
    followed = Followed(site_of(capture))
    pages = dict(followed.pages())
    kinds = {page: {block["kind"] for block in blocks} for page, blocks in pages.items()}
    assert [page for page, found in kinds.items() if "empty" in found] == []
    links = [link for page, blocks in pages.items() for link in links_of(page, blocks)]
    assert dead(followed, links) == []
    assert len({link.to for link in links}) > 1


@pytest.mark.thorough
@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("captures", "common"),
    [
        (["cpu-jax-pmap"], {"step": "4"}),
        # The second worker numbers its steps otherwise than the run.
        (["cpu-multi-worker"], {"host": "worker1_6009"}),
        (["cpu-multi-worker"], {"host": "worker1_6009", "step": "1104-1106"}),
        # Programs and instructions of the second run are not those of the first.
        (["gpu-rocm-jax-attention", "gpu-rocm-jax-conv"], {"against": "gpu-rocm-jax-conv"}),
        (["cpu-xla", "cpu-jax-steps"], {"against": "cpu-jax-steps"}),
    ],
)
def test_links_lead_where_they_say_with_a_step_a_host_or_another_run(captures, common):
    followed = Followed(site_of(*captures), captures[0], **common)
    links = [link for page, blocks in followed.pages() for link in links_of(page, blocks)]
    assert dead(followed, links) == []
    assert len({link.to for link in links}) > 1


def test_views_do_not_deny_a_formula_for_ops_of_jax():
    site = Site(open_paths([str(next(folder("gpu-rocm-jax-conv").glob("*.xplane.pb*")))]))
    told = [
        item["text"]
        for block in site.page("op", {}).blocks
        if block["kind"] == "remarks"
        for item in block["items"]
    ]
    assert not [text for text in told if "no formula" in text]
    assert [text for text in told if "conv_general_dilated" in text and "HLO stats" in text]


@pytest.mark.thorough
@pytest.mark.one_engine
def test_every_link_of_the_demo_leads_where_it_says():
    files = demo_files()
    paths = [demo_capture(name) for name in DEMO_CAPTURES]
    paths += [tutorial_files() / "slow-worker"]
    site = Site([
        *open_paths([str(path) for path in paths]),
        *open_paths([str(path) for path in (files.graph, files.run_meta, files.op_log)]),
    ])  # fmt: skip
    for one in site.opened:
        followed = Followed(site, one.name)
        links = [link for page, blocks in followed.pages() for link in links_of(page, blocks)]
        assert dead(followed, links) == [], one.name
        assert links


def iterator_site():
    iterators = [
        event("Iterator::Root::Prefetch", 10, 500), event("Iterator::Root::Prefetch::Map", 20, 400)
    ]  # fmt: skip
    steps = [event("train", 1000 * at, 900, step_num=at, _r=1) for at in range(3)]
    ops = [event("dense/MatMul:MatMul", 1000 * at + 600, 100) for at in range(3)]
    return Site([opened_run(opened(xspace(host(line(*steps, *ops, *iterators)))))])


def test_ops_and_iterators_of_the_host_are_found_in_the_trace_by_their_whole_names():
    site = iterator_site()
    followed = Followed(site)
    blocks = dict(followed.pages())["op-stats"]
    links = [link for link in links_of("op-stats", blocks) if link.place == "ops.operation"]
    found = {dict(link.params)["find"]: link.to for link in links}
    assert found == {
        "dense/MatMul": "trace", "Iterator::Root::Prefetch": "trace",
        "Iterator::Root::Prefetch::Map": "trace",
    }  # fmt: skip
    assert all(followed.trouble(link) == "" for link in links)


def test_a_link_that_leads_nowhere_is_found():
    followed = Followed(iterator_site())
    nowhere = Link("op-stats", "ops.operation", "trace", (("find", "Conv2D"),))
    assert followed.trouble(nowhere) == "no such event"
    assert followed.trouble(nowhere._replace(to="op-stats")) == "no such row"
    assert followed.trouble(nowhere._replace(to="op-statistics")) == "no such page"
    assert "no GPU kernels" in followed.trouble(nowhere._replace(to="kernel-stats"))


def test_rows_that_stand_for_nothing_in_particular_have_no_link():
    site = Site(open_paths([str(next(folder("cpu-memory-bfc").glob("*.xplane.pb*")))]))
    blocks = dict(Followed(site).pages())
    linked = {dict(link.params).get("find") for link in links_of("memory", blocks["memory"])}
    assert "(unknown op)" not in linked and len(linked) > 1
    of_idle = {dict(link.params).get("find") for link in links_of("op-stats", blocks["op-stats"])}
    assert "IDLE" not in of_idle and len(of_idle) > 1


def test_rows_of_two_runs_keep_their_links():
    def run(*names):
        return opened(
            xspace(host(line(*(event(f"{n}:MatMul", 10 * i, 5) for i, n in enumerate(names)))))
        )

    both = Site([
        dataclasses.replace(opened_run(run("a/x", "b/x")), name="first"),
        dataclasses.replace(opened_run(run("c/x", "b/x", "d/x")), name="second"),
    ])  # fmt: skip
    page = both.page("op-stats", {"run": "first", "against": "second"})
    links = [link for link in links_of("op-stats", page.blocks) if link.place == "ops.operation"]
    assert sorted(dict(link.params)["find"] for link in links) == ["a/x", "b/x", "c/x", "d/x"]
    assert {link.to for link in links} == {"trace"}
