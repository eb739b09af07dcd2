import pytest

from tfprof.profiles.model.executions import Processor, device_role
from tfprof.testing.builders import CPU, GPU, GPU_STREAMS


@pytest.mark.parametrize(
    ("name", "label", "part"),
    [
        (CPU, "CPU:0", ""),
        (GPU, "GPU:0", ""),
        (GPU_STREAMS, "GPU:0", "stream:all"),
        ("/device:GPU:3/stream:16", "GPU:3", "stream:16"),
        ("/gpu:1/memcpy", "GPU:1", "memcpy"),
        ("/device:GPU:0:stream:all", "GPU:0", "stream:all"),
        ("/cpu:0", "CPU:0", ""),
        ("/job:worker/replica:0/task:2/device:GPU:1", "worker:2/GPU:1", ""),
        ("/job:ps/task:1/cpu:0", "ps:1/CPU:0", ""),
    ],
)
def test_names_of_processors_and_their_parts(name, label, part):
    role = device_role(name.lower())
    assert role is not None
    assert (role.processor.label, role.part) == (label, part)


def test_a_stream_belongs_to_the_gpu_of_this_process():
    stream, gpu = device_role(GPU_STREAMS.lower()), device_role(GPU.lower())
    assert stream is not None
    assert gpu is not None
    assert stream.processor == gpu.processor == Processor("localhost", 0, "gpu", 0)


@pytest.mark.parametrize("name", ["", "/host:cpu", "/device:tpu:0", "stream:all", "gpu:x", "recv"])
def test_other_names_are_not_processors(name):
    assert device_role(name) is None
