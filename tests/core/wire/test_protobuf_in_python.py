"""Where protobuf is Python alone, as on machines without a wheel of it, damage is reported, too."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.one_engine

PROGRAM = """
import tfprof
from google.protobuf.internal import api_implementation
from tfprof.testing.builders import graph, op, run_on
from tfprof.testing.xspace_builders import event, host, line, xspace
assert api_implementation.Type() == "python"
capture = xspace(host(line(event("a", 0), event("b", 5)))).SerializeToString()
(found,) = tfprof.open_run(capture[:-3]).hosts
print(found.space.n_events, found.space.notices[0].text)
profiler = tfprof.Profiler(graph(op("net/odd", "Relu")))
profiler.add_step(1, run_on({"/device:CPU:0": {"net/odd": 5}}))
try:
    tfprof.load(profiler.serialize_to_string().replace(b"net/odd", b"net/\\xff\\xff\\xff"))
except tfprof.MalformedProfileError as error:
    print(error)
"""


def test_damage_is_reported():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python", "TFPROF_PURE": "1"},
    )  # fmt: skip
    assert (done.stderr, done.returncode) == ("", 0)
    cut, text = done.stdout.splitlines()
    assert cut.startswith("2 xspace is truncated or damaged: it breaks at byte 57 of 65")
    assert "UTF-8" in text
