from pathlib import Path

import pytest

from tfprof.capture.launched.spec import spec_of, text_of
from tfprof.errors import UsageError
from tfprof.files.hooked_processes import STATE_FOLDER


def test_the_log_folder_alone():
    spec = spec_of("logs", "/here")
    assert spec.logdir == Path("/here/logs") and spec.state == Path("/here/logs", STATE_FOLDER)
    assert spec.is_default and not spec.server and spec.options.host_tracer_level == 2


def test_every_option():
    spec = spec_of(
        "/a;steps=100-110;every=10m;after=5s;for=500ms;length=3;key;most-runs=4;run=r;state=/s;"
        "server=yes;host-tracer-level=1;python-tracer-level=1;device-tracer-level=0"
    )
    assert (spec.steps, spec.every, spec.after, spec.for_) == ((100, 110), 600.0, 5.0, 0.5)
    assert (spec.length, spec.key, spec.most_runs, spec.run) == (3, True, 4, "r")
    assert (spec.state, spec.server) == (Path("/s"), True)
    assert spec.options.levels == {
        "host_tracer_level": 1, "python_tracer_level": 1, "device_tracer_level": 0,
    }  # fmt: skip


def test_a_condition_keeps_its_signs():
    assert spec_of("logs;when=step_time >= 3 * median").when == "step_time >= 3 * median"


def test_what_the_command_writes_is_read():
    text = text_of("/a=b", {"steps": "7", "key": "yes"})
    spec = spec_of(text)
    assert (spec.logdir, spec.steps, spec.key) == (Path("/a=b"), (7, 7), True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "the log folder is missing"), (";steps=1", "the log folder is missing"),
        ("logs;steps=0:4", "counted from 1"), ("logs;steps=9:4", "counted from 1"),
        ("logs;steps=a", "counted from 1"), ("logs;every=soon", "not a duration"),
        ("logs;every=1ms", "0.1 s or more"), ("logs;length=0", "from 1 on"),
        ("logs;key=maybe", "yes or no"), ("logs;slow=3x", "'slow' is not one of"),
        ("logs;steps=1;steps=2", "given twice"), ("logs;run=a/b", "without slashes"),
        ("logs;when=step_time >", "step_time"), ("logs;when=step_time > 1s;steps=4", "choose one"),
        ("logs;host-tracer-level=7", "host_tracer_level"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text, match):
    with pytest.raises(UsageError, match=match):
        spec_of(text)


def test_a_semicolon_in_a_value_is_refused():
    with pytest.raises(UsageError, match="semicolon"):
        text_of("a;b", {})
