import pytest

from tfprof.profiles.model.executions import Device


@pytest.mark.parametrize(
    "name",
    [
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/cpu:0",
        "/device:CPU:12",
        "/gpu:1",
        "/device:GPU:0",
    ],
)
def test_canonical_devices(name):
    device = Device.from_name(name)
    assert device.is_canonical
    assert not device.is_accelerator_stream
    assert device.name == name.lower()


@pytest.mark.parametrize(
    "name", ["/device:GPU:0/stream:all", "/device:GPU:0:stream:all", "stream:all"]
)
def test_streams_are_accelerator_time(name):
    device = Device.from_name(name)
    assert device.is_accelerator_stream
    assert not device.is_canonical


@pytest.mark.parametrize(
    "name",
    [
        "/device:GPU:0/stream:16",
        "/device:GPU:0/memcpy",
        "cpu:0",
        "/host:CPU",
        "/device:TPU:0",
        "/device:XLA_CPU:0",
        "/device:GPU:0 (0)",
        "/cpu:\u0660",  # a digit, but not an ASCII one
        "a\n/cpu:0",  # a dot of RE2 matches no newline
        "",
    ],
)
def test_other_devices_count_nothing(name):
    device = Device.from_name(name)
    assert not device.is_canonical
    assert not device.is_accelerator_stream


def test_a_device_can_be_both():
    device = Device.from_name("stream:all/cpu:0")
    assert device.is_canonical
    assert device.is_accelerator_stream


def test_only_ascii_letters_are_lowered():
    assert Device.from_name("/JOB:\u00c4/CPU:0").name == "/job:\u00c4/cpu:0"


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("/job:a/device:GPU:3", "/job:a/device:cpu:0"),
        ("/gpu:12", "/cpu:0"),
        ("/cpu:1", "/cpu:1"),
    ],
)
def test_host_of_a_gpu_is_its_first_cpu(name, host):
    assert Device.from_name(name).host_name == host
