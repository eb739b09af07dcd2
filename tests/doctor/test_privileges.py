import pytest

from tests.doctor.conftest import ALL, DOCKER_DEFAULT, ORDINARY, by_name
from tfprof.doctor import privileges

DOCKER = "docker run --gpus all --cap-add=SYS_ADMIN IMAGE"
PODMAN = "podman run --device nvidia.com/gpu=all --cap-add=SYS_ADMIN IMAGE"


def all_of(facts):
    checks = (privileges.check_profiling, privileges.check_device_nodes)
    return by_name(result for check in checks for result in check(facts))


def test_without_a_gpu_nothing_is_reported(facts):
    assert all_of(facts()) == {}


@pytest.mark.parametrize(
    ("admin_only", "capabilities"), [(0, ORDINARY), (1, ALL), (0, DOCKER_DEFAULT)]
)
def test_allowed(machine, facts, admin_only, capabilities):
    machine.gpu(admin_only=admin_only, capabilities=capabilities)
    found = all_of(facts())
    assert {check.status for check in found.values()} == {"ok"}
    assert set(found) == {"profiling privileges", "device files"}


def test_new_cuda_traces_for_every_user(machine, facts):
    machine.gpu()
    machine.tensorflow()
    check = all_of(facts())["profiling privileges"]
    assert check.status == "note"
    assert check.message.endswith("kernels are recorded, but hardware counters are not")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in check.command
    assert check.command.endswith("\nsudo reboot")


@pytest.mark.parametrize("cuda", ["10.1", None])
def test_old_or_unknown_cuda_does_not(machine, facts, cuda):
    machine.gpu()
    if cuda:
        machine.tensorflow(cuda=cuda)
    check = all_of(facts())["profiling privileges"]
    assert check.status == "warning"
    assert "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in check.message


@pytest.mark.parametrize(
    ("file", "text", "container", "command"),
    [
        ("/.dockerenv", "", "Docker", DOCKER),
        ("/run/.containerenv", "", "Podman", PODMAN),
        ("/proc/1/cgroup", "12:cpu:/kubepods/besteffort/pod1\n", "Kubernetes", ""),
        ("/proc/self/cgroup", "1:name=systemd:/docker/0123\n", "Docker", DOCKER),
    ],
)
def test_containers(machine, facts, file, text, container, command):
    machine.gpu(capabilities=DOCKER_DEFAULT)
    machine.file(file, text)
    assert privileges.container_of(machine.environment()) == container
    check = all_of(facts())["profiling privileges"]
    assert check.remedy.startswith(f"Give the container ({container}) the capability SYS_ADMIN")
    assert "--privileged=true" in check.remedy
    assert check.command == command


def test_kubernetes_by_its_variable(machine):
    machine.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
    assert privileges.container_of(machine.environment()) == "Kubernetes"


def test_no_container(machine):
    machine.file("/proc/1/cgroup", "0::/init.scope\n")
    assert privileges.container_of(machine.environment()) == ""


def test_capabilities(machine):
    assert privileges.is_admin(machine.environment()) is None
    for bits, answer in ((0, False), (1 << 21, True), (~(1 << 21) & ALL, False), (ALL, True)):
        machine.file("/proc/self/status", f"Name:\tx\nCapEff:\t{bits:016x}\n")
        assert privileges.is_admin(machine.environment()) is answer


def test_parameters_that_can_not_be_read(machine, facts):
    machine.gpu()
    (machine.root / "proc/driver/nvidia/params").unlink()
    assert all_of(facts())["profiling privileges"].status == "unknown"
    machine.file("/proc/driver/nvidia/params", "EnableMSI: 1\n")
    assert all_of(facts())["profiling privileges"].status == "unknown"


def test_device_files_that_are_missing(machine, facts):
    machine.gpu(nodes=False)
    check = all_of(facts())["device files"]
    assert check.status == "warning"
    assert check.message.startswith("/dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl: missing")
    assert check.command == "sudo nvidia-modprobe -u -c 0"
    machine.file("/.dockerenv")
    assert all_of(facts())["device files"].command == "docker run --gpus all IMAGE"


def test_device_files_that_are_closed(machine, facts):
    machine.gpu()
    machine.closed = {"nvidia0"}
    check = all_of(facts())["device files"]
    assert check.status == "warning"
    assert check.message == "/dev/nvidia0: this user may not read and write them"


def test_windows_has_no_device_files(machine, facts):
    machine.program("nvidia-smi", "560.94, [N/A], Tesla T4\n")
    assert set(all_of(facts(system="Windows"))) == {"profiling privileges"}
