"""Peak rates that are measured and kept."""

from dataclasses import replace

import pytest

from tests.full_disk import files_of_at_most
from tfprof.doctor.peaks import measured_peaks, with_peaks
from tfprof.doctor.report import Report
from tfprof.errors import InputError
from tfprof.files import measured_peaks as kept
from tfprof.files.measured_peaks import MeasuredPeaks

PEAKS = MeasuredPeaks("worker", "Chip", 2, "2026-11-28", {"f32": 2e11, "f64": 1e11}, 1e10, "NumPy")


def checks(peaks):
    [area] = with_peaks(Report(()), lambda: peaks).areas
    return {check.name: check for check in area.checks}


def test_what_was_measured_is_shown_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.FOLDER, str(tmp_path))
    found = checks(PEAKS)
    assert "200.0 GFLOP/s by NumPy, 2 threads of Chip" in found["peak-f32"].message
    assert "10.0 GB/s" in found["peak-memory"].message
    assert str(tmp_path) in found["peak-kept"].message
    assert kept.read_peaks("worker") == PEAKS


def test_a_name_that_many_machines_have_keeps_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.FOLDER, str(tmp_path))
    found = checks(MeasuredPeaks("localhost", "", 2, "2026-11-28", {"f32": 2e11}, 1e10, "NumPy"))
    assert found["peak-kept"].status == "warning"
    assert found["peak-kept"].command == "tfprof utilization logs/ --device 2e+11,1e+10"
    assert not list(tmp_path.iterdir())


def test_without_a_folder_the_report_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.FOLDER, "")
    assert checks(PEAKS)["peak-kept"].status == "error"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(kept.FOLDER, str(tmp_path / "file"))
    assert "cannot be written" in checks(PEAKS)["peak-kept"].message


def test_a_full_disk_keeps_the_old_rates(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.FOLDER, str(tmp_path))
    path = kept.write_peaks(PEAKS)
    with pytest.raises(InputError, match="cannot be written"), files_of_at_most(20):
        kept.write_peaks(replace(PEAKS, bytes_per_s=1.0))
    assert kept.read_peaks(PEAKS.machine) == PEAKS
    assert [*tmp_path.iterdir()] == [path]


def test_another_processor_under_the_same_name_has_other_rates(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.FOLDER, str(tmp_path))
    kept.write_peaks(PEAKS)
    monkeypatch.setattr(kept.socket, "gethostname", lambda: "worker")
    monkeypatch.setattr(kept, "processor", lambda: "Chip")
    assert kept.read_peaks("worker") == PEAKS
    monkeypatch.setattr(kept, "processor", lambda: "Another chip")
    assert kept.read_peaks("worker") is None


def test_the_processor_is_named_by_the_system(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Chip 7 @ 2 GHz\nflags\t: fpu\n")
    assert kept.processor(info) == "Chip 7 @ 2 GHz"
    assert kept.processor(tmp_path / "absent") == ""


@pytest.mark.slow
def test_rates_are_measured():
    found = measured_peaks(seconds=0.0)
    assert found.flops_per_s["f32"] > found.flops_per_s["f64"] / 2 > 1e7
    assert 1e7 < found.bytes_per_s < 1e13
    assert found.n_threads >= 1
