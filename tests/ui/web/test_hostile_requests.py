"""Hostile addresses: each is answered, or refused with a reason."""

import pytest

starlette = pytest.importorskip("starlette.testclient")

import tfprof  # noqa: E402
from tfprof.errors import UsageError  # noqa: E402
from tfprof.inputs.opened import opened_profiler, opened_run  # noqa: E402
from tfprof.testing.builders import graph, op, run, stat  # noqa: E402
from tfprof.testing.xspace_builders import event, host, line, xspace  # noqa: E402
from tfprof.tools import open_run  # noqa: E402
from tfprof.ui.pages.site import Site  # noqa: E402
from tfprof.ui.pages.step_choice import chosen_steps  # noqa: E402
from tfprof.ui.web.server import application  # noqa: E402

pytestmark = pytest.mark.one_engine

MANY_DIGITS = "7" * 5000
NUMBERS = [MANY_DIGITS, f"1-{MANY_DIGITS}", f"{MANY_DIGITS}-1", "-" * 5000, "²", "٣", "\0", "1,\0"]


@pytest.fixture(scope="module")
def allocating():
    """A step with an op, and with an allocation of a device."""
    sizes = {"bytes_allocated": 8, "allocation_bytes": 8, "allocator_name": "GPU_0_bfc"}
    steps = [event("train", 0, 90, step_num=0, _r=1), event("a:MatMul", 10, 30)]
    run = open_run(xspace(host(line(*steps, event("MemoryAllocation", 20, 1, **sizes)))))
    return Site([opened_run(run)])


@pytest.fixture
def of_profile():
    profiler = tfprof.Profiler(graph(op("a")))
    profiler.add_step(0, run({"a": stat(700)}))
    return Site([opened_profiler(profiler)])


def statuses(site, pages):
    client = starlette.TestClient(application(site))
    return {
        (page, number[:20]): client.get(f"/api/page/{page}", params={"step": number}).status_code
        for page in pages
        for number in NUMBERS
    }


def test_steps_of_captures(site):
    pages = ["op-stats", "overview", "trace", "scope", "start", "model-graph"]
    assert set(statuses(site, pages).values()) <= {200, 400}


def test_steps_of_profiles(of_profile):
    pages = ["scope", "code", "memory-over-time", "model-graph", "start"]
    assert set(statuses(of_profile, pages).values()) <= {200, 400}


FAR = ["1e308", "-1e308", "1e999", "nan", MANY_DIGITS, "-1", "²", "\0"]


@pytest.mark.parametrize(
    ("page", "parameter"),
    [
        ("memory", "at_ms"), ("start", "at_ms"), ("utilization", "flops_per_step"),
        ("utilization", "tokens_per_step"), ("latency", "request"), ("graph-viewer", "width"),
        ("memory-viewer", "memory_space"), ("op", "max_depth"), ("op", "min_bytes"),
        ("pod", "show"), ("overview", "by"),
    ],
)  # fmt: skip
def test_numbers_of_pages(allocating, page, parameter):
    client = starlette.TestClient(application(allocating))
    found = {
        text[:9]: client.get(f"/api/page/{page}", params={parameter: text}).status_code
        for text in FAR
    }
    assert set(found.values()) <= {200, 400, 404}, found


_OF_TRACES = {
    "tiles": ("k", "number", "tracks"),
    "nearest": ("time", "tracks"),
    "busy": ("t0", "processes", "pixels"),
    "calls": ("t1",),
    "difference": ("a1",),
}


@pytest.mark.parametrize(
    ("path", "parameter"),
    [(path, parameter) for path in _OF_TRACES for parameter in _OF_TRACES[path]],
)
def test_numbers_of_the_trace(site, path, parameter):
    client = starlette.TestClient(application(site))
    usual = {"t0": "0", "t1": "9", "a0": "0", "a1": "9", "k": "3", "number": "0", "time": "0"}
    found = {
        text[:9]: client.get(f"/api/trace/{path}", params={**usual, parameter: text}).status_code
        for text in [*FAR, "9", f"0-{MANY_DIGITS}", "0,-", str(1 << 62), str(-(1 << 62))]
    }
    assert set(found.values()) <= {200, 400, 404}, found


def test_reasons_are_short():
    with pytest.raises(UsageError) as refused:
        chosen_steps(f"1-{MANY_DIGITS}")
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("name", ["\0.js", "a\0.js", "../\0.js", "a" * 5000 + ".js"])
def test_names_of_static_files_in_tensorboard(name):
    pytest.importorskip("tensorboard")
    from tfprof.ui.web.tensorboard_plugin import TfprofPlugin

    statuses = []
    plugin = TfprofPlugin.__new__(TfprofPlugin)
    request = {"PATH_INFO": f"/data/plugin/tfprof/static/{name}"}
    plugin._static(request, lambda status, headers: statuses.append(status))
    assert statuses[0].startswith("404")
