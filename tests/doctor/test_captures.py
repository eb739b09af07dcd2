from tests.doctor.conftest import by_name
from tests.doctor.hosts import HOST, STEPS, plane
from tfprof.core.wire import messages as pb
from tfprof.doctor.contents import check_capture


def check(*planes, **fields):
    space = pb.XSpace(planes=planes, hostnames=["worker0"], **fields)
    return by_name(check_capture(space.SerializeToString()))


def test_a_sound_capture():
    found = check(HOST, plane("/device:GPU:0", ("Stream #1", 2)), plane("/device:GPU:1"))
    assert [entry.status for entry in found.values()] == ["ok"]
    assert found["capture"].message == (
        "XSpace of worker0: 5 events, 1 of 2 devices busy, no marked steps, no ops, no kernels, "
        "0 µs covered, 125 B"
    )


def test_the_host_alone_is_fine_where_there_is_no_device():
    found = check(HOST)
    assert [entry.status for entry in found.values()] == ["ok"]
    words = found["capture"].message
    assert words.startswith("XSpace of worker0: 3 events, no device, no marked steps, no ops, 0 µs")


def test_nothing_was_captured():
    empty = plane("/host:CPU", ("python", 0))
    for planes in ((), (plane("/host:CPU"), plane("Task Environment")), (empty,)):
        (nothing,) = check(*planes).values()
        assert (nothing.name, nothing.status) == ("events", "error")
        assert nothing.message.startswith("holds no events: the profiler was stopped before")
        assert "Capture longer" in nothing.remedy


def test_of_a_damaged_capture_what_can_be_read_is_checked():
    space = pb.XSpace(planes=[HOST], hostnames=["worker0"])
    line = b"\x1a\x02\x22\x7f"
    broken = b"\x0a" + bytes([len(line)]) + line
    found = by_name(check_capture(space.SerializeToString() + broken))
    assert found["damage"].status == "error"
    assert "planes[1].lines[0]" in found["damage"].message
    words = found["capture"].message
    assert words.startswith("XSpace of worker0: 3 events, no device, no marked steps, no ops, 0 µs")


def test_devices_without_events():
    found = check(HOST, plane("/device:GPU:0"), plane("/device:GPU:1"))
    assert found["devices"].status == "warning"
    assert found["devices"].message.startswith(
        "no event of a device, although /device:GPU:0, /device:GPU:1 were there"
    )


def test_launches_without_a_device():
    host = plane("/host:CPU", ("python", 1), stats=[STEPS], names=["cudaLaunchKernel_v7000"])
    found = check(host)
    assert found["device planes"].message.startswith(
        "no event of a device, although the host launched kernels"
    )


def test_devices_without_a_host():
    found = check(plane("/device:TPU:0", ("Steps", 2)))
    assert found["host"].status == "warning"
    assert "steps" not in found


def test_no_steps():
    found = check(plane("/host:CPU", ("python", 3)))
    assert found["steps"].status == "warning"
    assert "with tfprof.capture.step(number):" in found["steps"].command
    assert "steps" in check(plane("/device:TPU:0", ("Steps", 0), ("XLA Ops", 1)))
    assert "steps" not in check(plane("/host:CPU", ("python", 3), stats=[("group_id", None)]))


def test_what_the_profiler_said():
    found = check(
        HOST,
        errors=["CUPTI could not be loaded or symbol\n could not be found."] * 2,
        warnings=["No step marker observed"],
    )
    assert found["recorded errors"].status == "error"
    assert found["recorded errors"].message == (
        "the profiler recorded: CUPTI could not be loaded or symbol could not be found."
    )
    assert "tfprof doctor" in found["recorded errors"].remedy
    assert (found["recorded warnings"].status, found["recorded warnings"].remedy) == ("warning", "")


def test_dropped_events():
    found = check(plane("/host:CPU", ("python", 3), stats=[STEPS, ("dropped_traces", 1200)]))
    assert found["dropped events"].message.startswith("the profiler dropped 1,200 events")
