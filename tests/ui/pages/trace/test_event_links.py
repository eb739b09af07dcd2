"""Where the details of an event lead to."""

import json

import numpy as np
import pytest

from tests.captures.tools.oracle import folder
from tfprof import tools
from tfprof.errors import UsageError
from tfprof.inputs.open_paths import open_paths
from tfprof.inputs.opened import opened_run
from tfprof.testing.xspace_builders import event, gpu, host, line, xspace
from tfprof.ui.pages.site import Site


def links_of(site, track_name, event_name):
    """Pages and parameters of the first event of a name on a track."""
    model = site.opened[0].events()
    for number, track in enumerate(model.tracks):
        names = [model.names[at] for at in track.names_of(np.arange(len(track))).tolist()]
        if track.name == track_name and event_name in names:
            answer = site.data("trace/links", {"id": f"{number}.{names.index(event_name)}"})
            return {each["page"]: each["params"] for each in json.loads(answer)["links"]}
    raise AssertionError("no such event")


@pytest.mark.parametrize(
    ("capture", "track", "name", "expected"),
    [
        ("tpu-v6e-jax", "XLA Ops", "copy-done.4", {
            "graph-viewer": {"node": "copy-done.4", "program": "12190760917235803885"},
            "hlo-stats": {"find": "copy-done.4"},
        }),
        ("gpu-rocm-jax-attention", "Stream #16(Kernel)", "wrapped_transpose.kd", {
            "graph-viewer": {"node": "wrapped_transpose", "program": "30"},
            "hlo-stats": {"find": "wrapped_transpose"},
            "kernel-stats": {"find": "wrapped_transpose.kd"},
        }),
        ("gpu-rocm-jax-attention", "python", "PjitFunction(matmul)", {}),
    ],
)  # fmt: skip
def test_an_event_leads_to_the_pages_that_have_it(capture, track, name, expected):
    site = Site(open_paths([folder(capture)]))
    assert links_of(site, track, name) == expected
    for page, params in expected.items():  # and these pages know it
        assert site.page(page, params).blocks


def test_a_kernel_leads_to_its_op_and_a_name_alone_to_none():
    kernel = event("sgemm", 10, 50, correlation_id=1, annotation="a/b:MatMul#shape=(2)#",
                   kernel_details="regs:1 shm:0 grid:1,1,1 block:1,1,1")  # fmt: skip
    ops = [event("a/b:MatMul", 0, 5, correlation_id=1), event("MatMul", 6, 2)]
    space = xspace(host(line(*ops, name="python")), gpu(line(kernel, name="Stream #1")))
    site = Site([opened_run(tools.open_run(space))])
    found = links_of(site, "Stream #1", "sgemm")
    assert found == {"kernel-stats": {"find": "sgemm"}, "op-stats": {"find": "a/b"}}
    assert links_of(site, "python", "a/b:MatMul") == {"op-stats": {"find": "a/b"}}
    assert links_of(site, "python", "MatMul") == {}


def test_there_must_be_such_an_event():
    site = Site([opened_run(tools.open_run(xspace(host(line(event("a", 0, 1))))))])
    with pytest.raises(UsageError, match="no event"):
        site.data("trace/links", {"id": "7.7"})
