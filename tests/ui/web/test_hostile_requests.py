"""Hostile addresses: each is answered, or refused with a reason."""

import pytest

starlette = pytest.importorskip("starlette.testclient")

import tfprof  # noqa: E402
from tfprof.errors import UsageError  # noqa: E402
from tfprof.inputs.opened import opened_profiler  # noqa: E402
from tfprof.testing.builders import graph, op, run, stat  # noqa: E402
from tfprof.ui.pages.site import Site  # noqa: E402
from tfprof.ui.pages.step_choice import chosen_steps  # noqa: E402
from tfprof.ui.web.server import application  # noqa: E402

pytestmark = pytest.mark.one_engine

MANY_DIGITS = "7" * 5000
NUMBERS = [MANY_DIGITS, f"1-{MANY_DIGITS}", f"{MANY_DIGITS}-1", "-" * 5000, "²", "٣", "\0", "1,\0"]


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
