import pytest

from tfprof.doctor.environment import Environment

# What the driver's files look like, written down from NVIDIA's documentation and bug reports, as
# no machine with a GPU was at hand.
DRIVER = """\
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023
GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)
"""
OPEN_DRIVER = """\
NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)
GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)
"""
PARAMS = """\
ResmanDebugLevel: 4294967295
RmLogonRC: 1
ModifyDeviceFiles: 1
DeviceFileUID: 0
DeviceFileGID: 0
DeviceFileMode: 438
InitializeSystemMemoryAllocations: 1
UsePageAttributeTable: 4294967295
EnableMSI: 1
RmProfilingAdminOnly: {}
PreserveVideoMemoryAllocations: 0
RegistryDwords: ""
"""
INFORMATION = """\
Model: \t\t NVIDIA A100-SXM4-40GB
IRQ:   \t\t 158
GPU UUID: \t GPU-11111111-2222-3333-4444-555555555555
Video BIOS: \t 92.00.45.00.03
Bus Type: \t PCIe
"""
STATUS = "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t{:016x}\n"
ORDINARY, DOCKER_DEFAULT, ALL = 0, 0x00000000A80425FB, 0x000001FFFFFFFFFF

LDCONFIG = """\
3 libs found in cache `/etc/ld.so.cache'
\tlibcupti.so.12 (libc6,x86-64) => {folder}/libcupti.so.12
\tlibcupti.so (libc6,x86-64) => {folder}/libcupti.so
\tlibc.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libc.so.6
"""

BUILD_INFO = '''\
"""Auto-generated module providing information about the build."""
import collections

build_info = collections.OrderedDict([('cpu_compiler', 'clang'), ('cuda_compute_capabilities', \
['sm_60', 'compute_90']), ('cuda_version', '{cuda}'), ('cudnn_version', '9'), ('is_cuda_build', \
{is_cuda}), ('is_rocm_build', False), ('is_tensorrt_build', False)])
'''


class Machine:
    """A folder that stands for a machine; by default a bare one without packages."""

    def __init__(self, root):
        self.root = root / "machine"
        self.site = root / "site-packages"
        self.site.mkdir()
        self.variables = {"PATH": str(self.root / "bin")}
        self.answers = {}
        self.closed = set()
        self.import_problems = {}
        self.protobuf = "upb"

    def file(self, name, text=""):
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name, answer=None):
        self.file(f"bin/{name}").chmod(0o755)
        self.answers[name] = answer

    def package(self, name, version, *requires):
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {r}" for r in requires)]
        (folder / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n")

    def core(self):
        for name in ("click", "numpy", "prompt_toolkit", "protobuf", "rich"):
            self.package(name, "99.0")

    def tensorflow(self, cuda="12.5.1", version="2.21.0", name="tensorflow"):
        self.package(name, version)
        folder = self.site / "tensorflow/python/platform"
        folder.mkdir(parents=True)
        (self.site / "tensorflow/__init__.py").write_text("raise AssertionError('imported')")
        (folder / "build_info.py").write_text(BUILD_INFO.format(cuda=cuda, is_cuda=bool(cuda)))

    def gpu(self, driver=DRIVER, admin_only=1, capabilities=ORDINARY, nodes=True):
        self.file("/proc/driver/nvidia/version", driver)
        self.file("/proc/driver/nvidia/params", PARAMS.format(admin_only))
        self.file("/proc/driver/nvidia/gpus/0000:07:00.0/information", INFORMATION)
        self.file("/proc/self/status", STATUS.format(capabilities))
        for node in ("nvidia0", "nvidiactl", "nvidia-uvm") if nodes else ():
            self.file(f"/dev/{node}")

    def libcupti(self, folder, major=12):
        return self.file(f"{folder}/libcupti.so.{major}", "ELF")

    def ldconfig(self, folder):
        self.file("/sbin/ldconfig")
        self.answers["ldconfig"] = LDCONFIG.format(folder=folder)

    def environment(self, **changes):
        def run(command):
            return self.answers.get(command[0].rpartition("/")[2])

        settings = {
            "root": self.root, "variables": self.variables, "search_path": (self.site,),
            "python": "3.12.1", "system": "Linux", "machine": "x86_64",
            "protobuf_implementation": self.protobuf, "run": run,
            "import_problem": lambda module: self.import_problems.get(module, ""),
            "can_use": lambda path: path.name not in self.closed, "timeout_seconds": 0.3,
        }  # fmt: skip
        return Environment(**{**settings, **changes})


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def facts(machine):
    from tfprof.doctor.facts import gather

    return lambda **changes: gather(machine.environment(**changes))


def by_name(checks):
    """Checks by name, each name once."""
    checks = list(checks)
    found = {check.name: check for check in checks}
    assert len(found) == len(checks)
    return found
