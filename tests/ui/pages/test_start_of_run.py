"""The first page of a captured run says once what the capture lacks."""

from __future__ import annotations

from typing import Any

import pytest

import tfprof
from tests.captures.tools.oracle import folder
from tfprof.testing.xspace_builders import event, host, line, plane, xspace
from tfprof.ui.pages.start_of_run import start_of_run

STEPS = [event("train", 100 * number, 90, step_num=number, _r=1) for number in range(4)]
LEVEL_1 = plane("Task Environment", stats={"profile_options": b"\x10\x01\x18\x01"})


def notes(*planes: Any) -> list[str]:
    blocks, _ = start_of_run("logs", tfprof.open_run(xspace(*planes)), {})
    return [str(item) for block in blocks if block["kind"] == "remarks" for item in block["items"]]


@pytest.mark.parametrize(
    ("planes", "said"),
    [
        ([host(line(*STEPS, event("cudaLaunchKernel", 5, 5)))], "the host launched kernels"),
        ([host(line(*STEPS)), plane("/device:GPU:0")], "has GPUs, but nothing was recorded"),
        ([host(line(*STEPS)), LEVEL_1], "host_tracer_level=1 records no ops"),
        ([host(line(event("work", 0, 5)))], "no steps were found"),
    ],
)
def test_what_is_missing_is_reported_once(planes: list[Any], said: str) -> None:
    found = notes(*planes)
    assert len([note for note in found if said in note]) == 1
    about = "device" if "kernels" in said or "GPUs" in said else said
    assert len([note for note in found if about in note]) == 1


def test_an_answer_that_is_too_long_for_one_line_has_its_reason_below() -> None:
    long = [event("train", 1000 * at, 900, step_num=at, _r=1) for at in range(4)]
    blocks, _ = start_of_run("logs", tfprof.open_run(xspace(host(line(*long)))), {})
    (answer,) = blocks[0]["items"]
    assert len(answer) <= 110
    caption = blocks[2]["blocks"][1]["caption"]
    (whole,) = tfprof.tools.overview(tfprof.open_run(xspace(host(line(*long))))).verdict[:1]
    assert answer.rstrip(".") in whole
    assert len(whole) > 110
    assert whole.partition(": ")[2].partition(". ")[0].rstrip(".").lower() in caption.lower()


def test_a_critical_finding_that_is_not_about_input_is_the_answer() -> None:
    """Steps that sleep 30 of 53 ms: nothing shows input, but what took the time has a name."""
    blocks, _ = start_of_run("logs", tfprof.open_run(str(folder("cpu-jax-steps"))), {})
    assert blocks[0]["items"] == ["In 57.3% of the step time no op runs while a step lasts."]
    cards = next(block for block in blocks if block["kind"] == "findings")
    assert cards["items"][0]["text"].startswith("The most of it is load_batch")
    caption = blocks[2]["blocks"][1]["caption"]
    assert caption.startswith("Whether the program waits for its input is not certain: ")


def test_what_most_of_a_step_goes_to_is_the_answer_where_input_is_unknown() -> None:
    """Four devices that compute and communicate: nothing shows whether they wait for input."""
    run = tfprof.open_run(str(folder("cpu-jax-pmap")))
    overview = tfprof.tools.overview(run)
    assert not overview.claims[0].is_known
    _, most, *_ = sorted(overview.to_rows("performance"), key=lambda row: -row["share"])
    blocks, _ = start_of_run("logs", run, {})
    assert blocks[0]["items"] == [f"{most['category']} takes {most['share']:.1%} of a step."]
    assert blocks[2]["blocks"][1]["caption"].startswith(overview.verdict[0])
