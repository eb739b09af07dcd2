"""What a capture reveals of itself, and which runs lie in a folder."""

import pytest

import tfprof
from tests.insight.history.runs import START_NS, capture, logged
from tfprof.demo import demo_files
from tfprof.errors import InputError, MalformedProfileError
from tfprof.insight.history.record import found_runs, record_of
from tfprof.testing.xspace_builders import event, host, line, xspace


def test_a_capture_has_its_time_machine_versions_and_program(tmp_path):
    logged(tmp_path / "logs", 0, capture(1000, machine="worker-7", version="0.10.1"))
    [found] = found_runs([tmp_path / "logs"])
    record = record_of(found, commit="abc", labels={"branch": "main"})
    assert (record.began_ns, record.machine, record.program) == (START_NS, "worker-7", "train")
    assert (record.hardware, record.versions["jax"]) == ("CPU only", "0.10.1")
    assert record.versions["tfprof that measured"] == tfprof.__version__
    assert (record.commit, record.labels) == ("abc", {"branch": "main"})
    assert record.figures["step_time"].value == pytest.approx(1.001, abs=0.001)
    assert record.figures["mfu"].unknown


def test_the_program_is_the_folder_the_steps_and_the_functions_that_they_call(tmp_path):
    calls = {"tf_function_call": "notTraced-nonXla", "tracing_count": 1}
    events = [
        one
        for step in range(4)
        for one in (
            event("train", step * 1e6, 9e5, step_num=step, _r=1),
            event("train_step", step * 1e6 + 10, 8e5, **calls),
        )
    ]
    once = event("restore", 1e6 + 20, 10, **calls)
    for name in ("model-a", "model-b"):
        logged(tmp_path / name, 0, xspace(host(line(*events, once))))
    programs = [record_of(one).program for one in found_runs([tmp_path])]
    assert programs == ["model-a/train/train_step", "model-b/train/train_step"]


def test_the_same_files_are_the_same_run_anywhere(tmp_path):
    for folder in ("a", "b"):
        logged(tmp_path / folder, 0, capture(1000))
    logged(tmp_path / "c", 0, capture(1001))
    first, second, third = (found_runs([tmp_path / name])[0] for name in "abc")
    assert first.digest() == second.digest() != third.digest()
    assert first.source != second.source
    before = first.state()
    (tmp_path / "a" / "plugins/profile" / first.name / "vm.xplane.pb").write_bytes(b"")
    assert first.state() != before


def test_a_run_without_a_time_has_that_of_its_name_or_none(tmp_path):
    space = xspace(host(line(event("train", 0, 9e5, step_num=0, _r=1))))
    logged(tmp_path / "logs", 0, space)
    [found] = found_runs([tmp_path / "logs"])
    assert record_of(found).began.isoformat() == "2025-10-09T08:53:20+00:00"
    (tmp_path / "vm.xplane.pb").write_bytes(space.SerializeToString())
    [alone] = found_runs([tmp_path / "vm.xplane.pb"])
    assert record_of(alone).began_ns is None


def test_a_damaged_capture_has_no_figures(tmp_path):
    place = logged(tmp_path / "logs", 0, capture(1000)) / "vm.xplane.pb"
    place.write_bytes(place.read_bytes()[:-20])
    with pytest.raises(MalformedProfileError, match="truncated or damaged"):
        record_of(found_runs([tmp_path / "logs"])[0])
    place.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError):
        record_of(found_runs([tmp_path / "logs"])[0])
    place.unlink()
    assert found_runs([tmp_path / "logs"]) == found_runs([tmp_path / "logs"])


def test_a_graph_is_a_run_without_a_time():
    [found] = found_runs([demo_files().graph])
    record = record_of(found, program="resnet50")
    assert (record.program, record.began_ns, record.hardware) == ("resnet50", None, "")
    assert record.figures["parameters"].value > 25e6
    assert record.figures["step_time"].unknown
