import subprocess
import sys

import pytest

import tfprof.doctor
from tests.cli.conftest import environment as process_environment
from tfprof.doctor.environment import Environment
from tfprof.doctor.examination import MACHINE_CHECKS
from tfprof.errors import UsageError


def titles(report):
    return [area.title for area in report.areas]


def test_without_a_gpu_its_areas_are_one_line(machine):
    machine.core()
    report = tfprof.doctor.examine(environment=machine.environment())
    assert titles(report) == ["Packages", "NVIDIA GPU", "Profiler servers"]
    assert report.worst == "note"  # no TensorFlow, no graphviz


def test_with_a_gpu(machine):
    machine.core()
    machine.gpu()
    machine.tensorflow()
    report = tfprof.doctor.examine(environment=machine.environment())
    assert titles(report) == [
        "Packages", "NVIDIA GPU", "CUPTI", "Privileges", "Profiler servers",
    ]  # fmt: skip
    assert report.worst == "error"  # there is no libcupti


def test_all_is_well_with_a_gpu(machine):
    machine.core()
    machine.gpu(admin_only=0)
    machine.tensorflow()
    machine.libcupti("/usr/local/cuda/extras/CUPTI/lib64")
    machine.variables["LD_LIBRARY_PATH"] = "/usr/local/cuda/extras/CUPTI/lib64"
    for name in (
        *("aiohttp", "cupti-python", "fsspec", "graphviz", "grpcio", "starlette", "uvicorn"),
    ):
        machine.package(name, "99.0")
    machine.program("dot")
    report = tfprof.doctor.examine(environment=machine.environment())
    assert report.worst == "ok"


def test_the_same_environment_the_same_report(machine):
    machine.gpu()
    first, second = (tfprof.doctor.examine(environment=machine.environment()) for _ in range(2))
    assert first == second


def test_files_and_servers(machine, tmp_path):
    report = tfprof.doctor.examine(
        [tmp_path / "missing"], ["localhost:1"], environment=machine.environment()
    )
    assert titles(report)[-2:] == ["Profiler servers", str(tmp_path / "missing")]
    assert [area.checks[0].status for area in report.areas[-2:]] == ["error", "error"]


def test_a_wrong_address_is_reported_before_anything_is_done(machine):
    with pytest.raises(UsageError, match="'nowhere' is not an address"):
        tfprof.doctor.examine(servers=["localhost:1", "nowhere"])


def test_every_check_copes_with_a_bare_machine(machine, facts):
    found = facts()
    for _, checks in MACHINE_CHECKS:
        for check in checks:
            for result in check(found):
                assert result.status != "ok" or result.message


def test_every_check_copes_with_odd_contents(machine, facts):
    noise = "\0\ufffd 9999999999999999999999\n: :\n"
    for name in (
        "/proc/driver/nvidia/version", "/proc/driver/nvidia/params", "/proc/self/status",
        "/proc/1/cgroup", "/sys/bus/pci/devices/x/vendor", "/sys/bus/pci/devices/x/class",
        "/usr/local/cuda/version.json", "/usr/local/cuda/version.txt", "/sbin/ldconfig",
        "/proc/driver/nvidia/gpus",
    ):  # fmt: skip
        machine.file(name, noise)
    machine.tensorflow()
    (machine.site / "tensorflow/python/platform/build_info.py").write_text(noise)
    machine.answers["ldconfig"] = noise
    machine.program("nvidia-smi", "1, 2, 3\n" + noise)
    machine.variables["LD_LIBRARY_PATH"] = ":::\0/x:/y"
    found = facts()
    assert found.gpus.driver == "1"
    for _, checks in MACHINE_CHECKS:
        for check in checks:
            list(check(found))


def test_this_machine():
    environment = Environment.current()
    assert environment.text("/nothing/there") is None
    assert environment.run([sys.executable, "-c", "print(3)"]).strip() == "3"
    assert environment.run([sys.executable, "-c", "raise SystemExit(3)"]) is None
    assert environment.run(["/nothing/there"]) is None
    report = tfprof.doctor.examine()
    assert titles(report)[0] == "Packages"
    assert report.areas[0].checks[0].message == f"tfprof {tfprof.__version__}"


def test_tensorflow_is_not_imported(machine):
    """What tfprof itself needs is: to see whether it can be."""
    code = (
        "import sys, tfprof.doctor\n"
        "tfprof.doctor.examine()\n"
        "print([m for m in ('tensorflow', 'keras', 'tf_keras') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, env=process_environment(), check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"
