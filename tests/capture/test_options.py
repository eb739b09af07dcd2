"""Options, markers and checks that need neither TensorFlow nor JAX."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.capture.arrived import arrived
from tfprof.captures.facts.missing import Asked, notes_of_missing
from tfprof.captures.run.recorded_levels import recorded_levels
from tfprof.errors import InputError, MissingDependencyError, UsageError
from tfprof.testing.xspace_builders import event, host, line, plane, xspace

CaptureOptions = tfprof.capture.CaptureOptions


@pytest.mark.parametrize(
    "wrong",
    [
        {"host_tracer_level": 4},
        {"host_tracer_level": -1},
        {"python_tracer_level": 2},
        {"device_tracer_level": "1"},
        {"host_tracer_level": 1.0},
        {"delay": -1},
        {"delay": float("nan")},
        {"delay": 86401},
        {"duration": float("inf")},
        {"device_tracer_level": 10},
        {"duration": 0},
        {"duration": True},
        {"session_id": "a/b"},
        {"session_id": ".."},
        {"session_id": "a\nb"},
        {"framework": "torch"},
    ],
    ids=str,
)
def test_wrong_options_are_refused_with_their_values(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(UsageError, match=f"^{name}="):
        CaptureOptions(**wrong)


def test_levels_may_be_numbers_of_any_kind() -> None:
    levels = CaptureOptions(host_tracer_level=True).levels
    assert levels == {"host_tracer_level": 1, "device_tracer_level": 1, "python_tracer_level": 0}


def test_one_class_for_captures_from_within_and_from_outside() -> None:
    import tfprof.remote

    assert tfprof.remote.CaptureOptions is CaptureOptions
    assert CaptureOptions(device_tracer_level=9).levels["device_tracer_level"] == 9


def test_the_module_makes_captures_and_is_a_namespace() -> None:
    capture = tfprof.capture("logs", CaptureOptions(session_id="mine"))
    assert isinstance(capture, tfprof.capture.Capture)
    assert capture.options.session_id == "mine"
    assert str(capture) == "a capture into logs"
    assert not capture.is_active and capture.notes == () and capture.folder is None
    with pytest.raises(UsageError, match="was not started"):
        capture.stop()
    with pytest.raises(UsageError, match="has no result"):
        _ = capture.run
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tfprof.capture.nothing
    assert {"start", "stop", "step", "KerasCallback"} <= set(dir(tfprof.capture))


def test_stop_without_start() -> None:
    with pytest.raises(UsageError, match="none is active; start one"):
        tfprof.capture.stop()


def test_a_folder_that_cannot_be_made_or_is_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="no capture can be written there"):
        tfprof.capture.start(tmp_path / "file" / "logs")
    for where in ("gs://bucket/logs", "s3://ann:secret@bucket/logs", Path("s3://bucket/logs")):
        for wrong in (tfprof.capture.start, tfprof.capture.every):
            with pytest.raises(UsageError, match=r"folders of this machine only; name") as caught:
                wrong(where)
            assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_a_missing_framework_is_reported_with_a_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=r"pip install '?(tfprof\[tf\]|jax)"):
        tfprof.capture.start(tmp_path, CaptureOptions(framework=name))
    with pytest.raises(UsageError, match="none is active"):
        tfprof.capture.stop()


def test_generators_are_not_captured() -> None:
    def numbers() -> Any:
        yield 1

    with pytest.raises(UsageError, match="numbers is a generator"):
        tfprof.capture()(numbers)


def test_a_marker_without_a_profiler_does_nothing() -> None:
    for _ in range(2):
        with tfprof.capture.step(3), tfprof.capture.step(4, "inner") as inner:
            assert inner is None


def task(options: bytes) -> Any:
    return plane("Task Environment", stats={"profile_options": options})


def messages(notes: list[Any]) -> list[str]:
    return [note.message for note in notes]


def check(space: Any, *devices: str, **options: Any) -> list[str]:
    run = tfprof.open_run(space)
    (own,) = run.hosts
    unsupported = options.pop("unsupported", ())
    wanted = CaptureOptions(**options)
    asked = Asked(wanted, "TensorFlow", tuple(devices), tuple(unsupported))
    return messages(arrived(run, own.name, asked))


HONOURED = b"\x10\x02\x18\x01"
STEPS = [event("train", 100 * number, 90, step_num=number, _r=1) for number in range(2)]


def test_a_capture_with_all_requested_data_has_no_remarks() -> None:
    assert check(xspace(host(line(*STEPS)), task(HONOURED))) == []


def test_options_are_compared_with_those_of_the_capture() -> None:
    space = xspace(host(line(*STEPS)), task(HONOURED))
    assert recorded_levels(tfprof.open_run(space).hosts[0].space) == {
        "host_tracer_level": 2, "device_tracer_level": 1, "python_tracer_level": 0,
    }  # fmt: skip
    assert check(space, python_tracer_level=1, host_tracer_level=3) == [
        "host_tracer_level=3 was requested, and 2 recorded: it was not honoured",
        "python_tracer_level=1 was requested, and 0 recorded: it was not honoured",
    ]
    assert check(space, device_tracer_level=0, unsupported=("device_tracer_level",)) == [
        "device_tracer_level=0 was requested, and 1 recorded: TensorFlow has no such option"
    ]


@pytest.mark.parametrize("options", [None, b"\x10"], ids=["none", "damaged"])
def test_a_capture_that_does_not_say_its_options(options: bytes | None) -> None:
    planes = [host(line(*STEPS)), *([] if options is None else [task(options)])]
    (said,) = check(xspace(*planes))
    assert "could not be checked" in said


def test_no_events_no_steps_no_device() -> None:
    (said,) = check(xspace(host(), task(HONOURED)), "GPU:0")
    assert said.startswith("holds no events")
    off, only_programs = xspace(host(), task(b"")), host()
    (said,) = check(off, host_tracer_level=0, device_tracer_level=0)
    assert said.startswith(
        "holds no events: host_tracer_level=0 records nothing of the host, and "
        "device_tracer_level=0 records no devices. tfprof.capture"
    )
    only_programs.event_metadata[1].name = "jit_step(1)"
    (said,) = check(xspace(only_programs, task(b"\x18\x01")), host_tracer_level=0)
    assert said.startswith("holds no events, only programs: host_tracer_level=0 records nothing")
    unmarked = xspace(host(line(event("work", 0, 5))), task(HONOURED))
    (said,) = check(unmarked)
    assert "tfprof.capture.step(number)" in said
    (said,) = check(xspace(host(line(*STEPS)), task(HONOURED)), "GPU:0", "GPU:1")
    assert said.startswith("no event of a device, although TensorFlow has GPU:0, GPU:1")
    off = xspace(host(line(event("work", 0, 5))), task(b""))
    (said,) = check(off, "GPU:0", host_tracer_level=0, device_tracer_level=0)
    assert "host_tracer_level=0 records no markers" in said
    kernel = plane("/device:GPU:0", line(event("kernel", 0, 5)))
    assert check(xspace(host(line(*STEPS)), kernel, task(HONOURED)), "GPU:0") == []


def test_threads_that_mark_steps_at_the_same_time() -> None:
    marks = [event("train", 100 * number, 90, step_num=number, _r=1) for number in range(4)]
    later = [event("train", 100 * number + 10, 90, step_num=number, _r=1) for number in range(4)]
    after = [event("train", 1000 + 100 * number, 90, step_num=number, _r=1) for number in range(4)]
    threads = [line(*marks), line(*later, id=2), line(*later, id=3)]
    (said,) = check(xspace(host(*threads), task(HONOURED)))
    assert said.startswith("3 threads mark steps at the same time: tools show them all")
    assert "with tfprof.capture.step(number, name):" in said
    assert check(xspace(host(line(*marks), line(*after, id=2)), task(HONOURED))) == []
    nested = [event("epoch", 0, 400, step_num=0, _r=1), *marks]
    assert check(xspace(host(line(*nested)), task(HONOURED))) == []


def test_dropped_events_are_reported() -> None:
    lossy = plane("/host:CPU", line(*STEPS), stats={"dropped_traces": 7})
    (said,) = check(xspace(lossy, task(HONOURED)))
    assert said.startswith("the profiler dropped 7 events")


def test_one_step_a_level_without_ops_and_a_short_capture() -> None:
    (said,) = check(xspace(host(line(STEPS[0])), task(HONOURED)))
    assert said.startswith("only one step is marked")
    of_level_1 = xspace(host(line(*STEPS)), task(b"\x10\x01\x18\x01"))
    (said,) = check(of_level_1, host_tracer_level=1)
    (note,) = notes_of_missing(tfprof.open_run(of_level_1).hosts[0])
    assert said == note.message
    assert said == (
        "no op of the host was recorded: host_tracer_level=1 records no ops; with 2 or more it does"
    )
    (said,) = check(xspace(host(line(event("work", 0, 5_000))), task(HONOURED)))
    assert "the capture covers only 5 µs, and a step that it cuts may have no mark in it" in said
    (said,) = check(xspace(host(line(event("work", 0, 5_000_000))), task(HONOURED)))
    assert "covers" not in said


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        ("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "the program may not use the GPU's profiler"),
        ("CUPTI could not be loaded or symbol could not be found.", "was not found"),
        ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "another tool was profiling the GPU"),
        ("CUPTI failed", "nothing ran there, or the device's tracer"),
        ("a disk failed", "nothing ran there, or the device's tracer"),
    ],
)
def test_why_a_device_has_no_events(recorded: str, why: str) -> None:
    space = xspace(host(line(*STEPS)), task(HONOURED), errors=[recorded])
    first, said = check(space, "GPU:0")
    assert first == recorded
    assert why in said and "tfprof doctor" in said


def test_a_device_that_was_left_out_is_not_missing_to_the_one_who_asked() -> None:
    launched = host(line(*STEPS, event("cudaLaunchKernel", 300, 5)))
    space = xspace(launched, task(b"\x10\x02"))
    assert check(space, "GPU:0", device_tracer_level=0) == []
    (own,) = tfprof.open_run(space).hosts
    (note,) = notes_of_missing(own)
    assert note.message.startswith(
        "no event of a device, although the host launched kernels: device_tracer_level=0 records"
    )
