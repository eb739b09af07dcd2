"""Our messages of the profiler service are those that TensorFlow's libraries hold."""

import importlib.util
import mmap
from pathlib import Path

import pytest

from tests.core.wire.compared import compare_messages
from tfprof.core.wire import messages

FILES = (
    "profiler_options.proto",
    "profiler_service_monitor_result.proto",
    "profiler_service.proto",
)
OURS = sorted(
    name
    for name in messages.message_names()
    if getattr(messages, name).DESCRIPTOR.file.name == "tfprof/profiler_service.proto"
)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def end_of_message(data, at):
    """Where the fields of a FileDescriptorProto end that begin here."""
    last = 0
    while True:
        key, after = varint(data, at)
        if key & 7 == 2 and last <= key >> 3 <= 12:
            size, after = varint(data, after)
            at, last = after + size, key >> 3
        else:
            return at


def file_descriptors(library, name):
    """The serialized files of this name that are compiled into a library."""
    with library.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        at = data.find(name)
        while at >= 0:
            for start in range(at - 2, max(at - 80, 0), -1):
                if data[start] == 0x0A and start + 2 + data[start + 1] == at + len(name):
                    yield bytes(data[start : end_of_message(data, start)])
            at = data.find(name, at + 1)


@pytest.fixture(scope="module")
def service_pool():
    """A pool with the service, out of the library of TensorFlow that has it."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

    # TensorFlow is not imported: no module of it has the service.
    # Once imported, it has folders of other packages, too.
    folder, *_ = importlib.util.find_spec("tensorflow").submodule_search_locations
    (library,) = Path(folder).rglob("_pywrap_profiler_plugin.so")
    pool = DescriptorPool()
    xplane = FileDescriptorProto()
    messages.XSpace.DESCRIPTOR.file.CopyToProto(xplane)
    pool.Add(xplane)
    known = [xplane.name]
    for name in FILES:
        found = None
        for serialized in file_descriptors(library, name.encode()):
            proto = FileDescriptorProto.FromString(serialized)
            if proto.message_type:
                found = proto
        assert found is not None, name
        del found.dependency[:]
        found.dependency.extend(known if name == FILES[-1] else [])
        known.append(found.name)
        pool.Add(found)
    return pool


def test_there_are_messages():
    assert {"ProfileRequest", "ProfileResponse", "MonitorRequest", "TerminateRequest"} <= set(OURS)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", OURS)
def test_message_equals_tensorflows(name, service_pool):
    ours = getattr(messages, name).DESCRIPTOR
    compare_messages(ours, service_pool.FindMessageTypeByName(ours.full_name))


@pytest.mark.tensorflow
def test_the_service_has_the_methods_that_are_called(service_pool):
    service = service_pool.FindServiceByName("tensorflow.ProfilerService")
    assert {"Profile", "Monitor", "Terminate"} <= set(service.methods_by_name)
    # The requests of these, but for the first, are empty.
    continuous = {"StartContinuousProfiling", "GetSnapshot", "StopContinuousProfiling"}
    assert continuous <= set(service.methods_by_name)
    start, get = (service.methods_by_name[n] for n in ("StartContinuousProfiling", "GetSnapshot"))
    assert start.input_type.full_name == "tensorflow.ProfileRequest"
    assert get.output_type.full_name == "tensorflow.ProfileResponse"
    profile = service.methods_by_name["Profile"]
    assert profile.input_type.full_name == "tensorflow.ProfileRequest"
    assert profile.output_type.full_name == "tensorflow.ProfileResponse"
