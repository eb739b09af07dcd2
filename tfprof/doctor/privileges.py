"""Checks of what this process may do with the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfprof.doctor.environment import Environment
from tfprof.doctor.facts import Facts, release_of
from tfprof.doctor.report import Check, Status

_CAP_SYS_ADMIN = 21  # bit of a capability set (linux/capability.h)
_TRACING_IS_FREE = (10, 2)
"""First CUDA that records activity for ordinary users; hardware counters still need an admin."""

_CGROUPS = (
    ("kubepods", "Kubernetes"),
    ("libpod", "Podman"),
    ("docker", "Docker"),
    ("containerd", "Docker"),
    ("lxc", "LXC"),
)
_WITH_GPUS = {
    "Docker": "docker run --gpus all IMAGE",
    "Podman": "podman run --device nvidia.com/gpu=all IMAGE",
}
_PRIVILEGED = {
    "Docker": "docker run --gpus all --cap-add=SYS_ADMIN IMAGE",
    "Podman": "podman run --device nvidia.com/gpu=all --cap-add=SYS_ADMIN IMAGE",
}
_HOST_REMEDY = (
    "Run as root, or allow profiling for every user and restart (on Debian and Ubuntu, first run "
    "update-initramfs -u).",
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | "
    "sudo tee /etc/modprobe.d/nvidia-profiling.conf\nsudo reboot",
)


def container_of(environment: Environment) -> str:
    """Kind of container that this process runs in; empty: no container was recognized."""
    groups = (environment.text("/proc/1/cgroup") or "") + (
        environment.text("/proc/self/cgroup") or ""
    )
    if environment.variables.get("KUBERNETES_SERVICE_HOST"):
        return "Kubernetes"
    if environment.exists("/run/.containerenv"):
        return "Podman"
    if environment.exists("/.dockerenv"):
        return "Docker"
    return next((kind for word, kind in _CGROUPS if word in groups), "")


def is_admin(environment: Environment) -> bool | None:
    """Whether the process has CAP_SYS_ADMIN, as root has outside containers; None: unknown."""
    capabilities = re.search(
        r"^CapEff:\s*([0-9a-fA-F]+)", environment.text("/proc/self/status") or "", re.M
    )
    return None if capabilities is None else bool(int(capabilities[1], 16) >> _CAP_SYS_ADMIN & 1)


def check_profiling(facts: Facts) -> Iterator[Check]:
    """Whether the driver lets this process profile."""
    environment = facts.environment
    if not facts.gpus.driver:
        return
    params = environment.text("/proc/driver/nvidia/params")
    admin_only = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", params or "", re.M)
    if admin_only is None:
        why = "cannot be read" if params is None else "has no RmProfilingAdminOnly"
        yield Check(
            "profiling privileges",
            "unknown",
            f"it is unknown who may profile: /proc/driver/nvidia/params {why}",
        )
    elif admin_only[1] == "0":
        yield Check(
            "profiling privileges", "ok", "every user may profile (RmProfilingAdminOnly: 0)"
        )
    elif is_admin(environment):
        yield Check(
            "profiling privileges",
            "ok",
            "only admins may profile, and this process is one (SYS_ADMIN)",
        )
    else:
        yield _restricted(facts)


def _restricted(facts: Facts) -> Check:
    cuda = release_of(facts.tensorflow.cuda_version) if facts.tensorflow else ()
    if cuda >= _TRACING_IS_FREE:
        status: Status = "note"
        loss = "kernels are recorded, but hardware counters are not"
    else:
        status = "warning"
        loss = (
            "hardware counters are not recorded, and before CUDA 10.2 no GPU activity at all "
            "(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)"
        )
    message = (
        f"only admins may profile (RmProfilingAdminOnly: 1), and this process is not one: {loss}"
    )
    container = container_of(facts.environment)
    if not container:
        return Check("profiling privileges", status, message, *_HOST_REMEDY)
    return Check(
        "profiling privileges",
        status,
        message,
        f"Give the container ({container}) the capability SYS_ADMIN, or run it with "
        "--privileged=true.",
        _PRIVILEGED.get(container, ""),
    )


def check_device_nodes(facts: Facts) -> Iterator[Check]:
    """Whether the device files exist and this process may use them."""
    environment = facts.environment
    if not facts.gpus.driver or environment.text("/proc/driver/nvidia/version") is None:
        return  # Windows and WSL have none
    gpus = [name for name in environment.names("/dev", "nvidia*") if name[-1].isdigit()]
    wanted = ["/dev/nvidia-uvm", *(gpus or ["/dev/nvidia0"]), "/dev/nvidiactl"]
    missing = [name for name in wanted if not environment.exists(name)]
    closed = [name for name in wanted if not environment.can_use(environment.path(name))]
    if missing:
        yield _missing_nodes(missing, container_of(environment))
    elif closed:
        yield Check(
            "device files",
            "warning",
            f"{', '.join(closed)}: this user may not read and write them",
            "Join the group that owns them (see ls -l /dev/nvidia*), and log in again.",
            'sudo usermod -aG video "$USER"',
        )
    else:
        yield Check("device files", "ok", "device files can be used")


def _missing_nodes(missing: Sequence[str], container: str) -> Check:
    message = f"{', '.join(missing)}: missing, so programs find no GPU"
    if container:
        remedy = f"Start the container ({container}) with its GPUs."
        return Check("device files", "warning", message, remedy, _WITH_GPUS.get(container, ""))
    command = "sudo nvidia-modprobe -u -c 0"
    return Check("device files", "warning", message, "Create them with NVIDIA's tool.", command)
