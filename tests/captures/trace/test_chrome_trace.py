"""Traces as files of Chrome's JSON."""

import gzip
import io
import json

import pytest

from tests.captures.tools.oracle import folder
from tfprof.captures.run.run import open_run
from tfprof.captures.trace import counters
from tfprof.captures.trace.chrome_trace import write_trace
from tfprof.captures.trace.events import trace
from tfprof.core.text import trace_json
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, host, line, opened, xspace


def many(count):
    events = [event(f"op{n % 7}", 10 * n, 5, n=n, text=f"t{n % 3}") for n in range(count)]
    return opened(xspace(host(line(*events, name="python"))))


def test_a_file_holds_what_to_gviz_returns(tmp_path):
    run = many(20)
    size = write_trace(run, tmp_path / "trace.json")
    written = (tmp_path / "trace.json").read_bytes()
    assert len(written) == size
    assert json.loads(written) == trace(run).to_gviz()


def test_a_packed_file_by_its_name(tmp_path):
    write_trace(many(20), tmp_path / "trace.json.gz")
    packed = (tmp_path / "trace.json.gz").read_bytes()
    assert json.loads(gzip.decompress(packed)) == trace(many(20)).to_gviz()
    write_trace(many(20), tmp_path / "again.json.gz")
    assert (tmp_path / "again.json.gz").read_bytes() == packed


def test_a_stream(tmp_path):
    stream = io.BytesIO()
    size = write_trace(many(20), stream, step=None, host="host 0")
    assert size == len(stream.getvalue())
    assert json.loads(stream.getvalue()) == trace(many(20)).to_gviz()


def test_events_are_written_some_at_a_time(monkeypatch):
    for module in (counters, trace_json):
        monkeypatch.setattr(module, "EVENTS_PER_CHUNK", 6)
    chunks = list(trace(many(20)).pieces())
    assert len(chunks) == 6  # head with names, four blocks, tail
    assert json.loads(b"".join(chunks)) == trace(many(20)).to_gviz()


def test_a_file_is_replaced_only_if_that_is_wanted(tmp_path):
    write_trace(many(1), tmp_path / "trace.json")
    with pytest.raises(UsageError):
        write_trace(many(1), tmp_path / "trace.json", overwrite=False)


@pytest.mark.parametrize("capture", ["gpu-synthetic", "cpu-xla", "tpu-synthetic"])
def test_compiled_and_python_write_the_same(monkeypatch, capture):
    for classic in (False, True):
        fast = b"".join(trace(open_run(folder(capture)), classic=classic).pieces())
        monkeypatch.setenv("TFPROF_PURE", "1")
        assert b"".join(trace(open_run(folder(capture)), classic=classic).pieces()) == fast
        monkeypatch.delenv("TFPROF_PURE")
