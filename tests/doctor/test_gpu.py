import pytest

from tests.doctor.conftest import DRIVER, OPEN_DRIVER, by_name
from tfprof.core.text.how_to_capture import KEPT_GRAPHS_FLAG, NO_GRAPHS_FLAG
from tfprof.doctor import gpu


def all_of(facts):
    checks = (
        gpu.check_driver,
        gpu.check_tensorflow_build,
        gpu.check_toolkits,
        gpu.check_runtime,
        gpu.check_mig,
    )
    return by_name(result for check in checks for result in check(facts))


def test_no_gpu_is_one_line(machine, facts):
    machine.tensorflow()
    machine.variables["CUDA_HOME"] = "/nowhere"
    found = all_of(facts())
    assert [check.status for check in found.values()] == ["not_applicable"]


@pytest.mark.parametrize(("text", "version"), [(DRIVER, "535.104.05"), (OPEN_DRIVER, "580.65.06")])
def test_driver(machine, facts, text, version):
    machine.gpu(driver=text)
    machine.tensorflow()
    found = all_of(facts())
    assert found["driver"].message == f"driver {version}: NVIDIA A100-SXM4-40GB"
    assert found["tensorflow build"].message == "TensorFlow's CUDA: 12.5.1"


def test_several_gpus(machine, facts):
    machine.gpu()
    for place in ("0000:08:00.0", "0000:09:00.0"):
        machine.file(f"/proc/driver/nvidia/gpus/{place}/information", "Model: \t Tesla T4\n")
    message = all_of(facts())["driver"].message
    assert message == "driver 535.104.05: NVIDIA A100-SXM4-40GB, 2 × Tesla T4"


def test_a_gpu_without_a_driver(machine, facts):
    machine.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
    machine.file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
    machine.file("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n")  # its sound device
    machine.file("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n")
    assert facts().gpus.on_bus == 1
    assert all_of(facts())["driver"].status == "warning"


def test_driver_too_old_for_tensorflow(machine, facts):
    machine.gpu()
    machine.tensorflow(cuda="13.0")
    check = all_of(facts())["tensorflow build"]
    assert check.status == "error"
    assert "CUDA 13.0, which needs driver 580 or newer; this one is 535.104.05" in check.message


def test_tensorflow_without_cuda(machine, facts):
    machine.gpu()
    machine.tensorflow(cuda="", name="tensorflow-cpu")
    check = all_of(facts())["tensorflow build"]
    assert check.status == "warning"
    assert check.command == "pip uninstall -y tensorflow-cpu\npip install 'tensorflow[and-cuda]'"


def test_tensorflow_that_does_not_tell(machine, facts):
    machine.gpu()
    machine.tensorflow()
    (machine.site / "tensorflow/python/platform/build_info.py").write_text("nothing")
    assert all_of(facts())["tensorflow build"].status == "unknown"


def test_nvidia_smi_where_there_is_no_proc(machine, facts):
    machine.program("nvidia-smi", "560.94, Enabled, NVIDIA A100, 80 GB\n560.94, [N/A], Tesla T4\n")
    found = all_of(facts())
    assert found["driver"].message == "driver 560.94: NVIDIA A100, 80 GB, Tesla T4"
    assert found["mig"].status == "note"


@pytest.mark.parametrize("answer", [None, "", "No devices were found\n"])
def test_nvidia_smi_that_fails(machine, facts, answer):
    machine.program("nvidia-smi", answer)
    assert all_of(facts())["driver"].status == "not_applicable"


def test_mig(machine, facts):
    machine.gpu()
    assert "mig" not in all_of(facts())
    machine.file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "DeviceFileMinor: 12\n")
    assert all_of(facts())["mig"].status == "note"


def test_toolkits(machine, facts):
    machine.gpu()
    version = '{\n "cuda" : {\n "name": "CUDA SDK",\n "version" : "12.4.1" } }'
    machine.file("/usr/local/cuda-12.4/version.json", version)
    machine.file("/usr/local/cuda-10.1/version.txt", "CUDA Version 10.1.243\n")
    machine.file("/usr/local/cuda-9/README", "")
    machine.variables["CUDA_HOME"] = "/opt/cuda"
    found = all_of(facts())
    assert found["toolkit"].message == "CUDA toolkit in /usr/local: 10.1.243, 12.4.1"
    assert (found["CUDA_HOME"].status, found["CUDA_HOME"].command) == ("warning", "unset CUDA_HOME")


def test_nvidias_packages(machine, facts):
    machine.gpu()
    machine.tensorflow()
    check = all_of(facts())["nvidia packages"]
    assert (check.status, check.command) == ("warning", "pip install 'tensorflow[and-cuda]'")
    machine.file("/usr/local/cuda/README")
    assert "nvidia packages" not in all_of(facts())
    machine.package("nvidia-cuda-runtime-cu12", "12.5.82")
    machine.package("nvidia-cuda-cupti-cu12", "12.5.82")
    machine.package("nvidia-ml-py", "12.0")
    assert all_of(facts())["nvidia packages"].message == (
        "nvidia-cuda-cupti-cu12 12.5.82, nvidia-cuda-runtime-cu12 12.5.82"
    )


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        ("", "ok", "launches and gaps are not those of the real run"),
        (f"--xla_other=1 {KEPT_GRAPHS_FLAG}", "ok", "captures have the launches and gaps"),
        (NO_GRAPHS_FLAG, "note", "run without command buffers"),
        (f"{NO_GRAPHS_FLAG}FUSION", "ok", "launches and gaps are not those of the real run"),
    ],
)
def test_command_buffers(machine, facts, flags, status, words):
    assert list(gpu.check_command_buffers(facts())) == [], "no GPU"
    machine.gpu()
    machine.variables["XLA_FLAGS"] = flags
    (check,) = gpu.check_command_buffers(facts())
    assert (check.status, words in check.message) == (status, True)
