"""What tools show of GPUs and kernels beside times, and what must not be lost."""

import signal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.cupti.sessions import BEGIN, captured, recorded, session
from tests.capture.cupti.stand_in import Cupti, call, copy, device, kernel
from tfprof import tools
from tfprof.capture.cupti.adapter import demangled, plain_call
from tfprof.capture.cupti.records import Multiprocessor, Records, occupancy_percent
from tfprof.capture.gpu_part import GpuPart, notes_on, with_gpus

A100 = Multiprocessor(8, 65536, 167936, 64, 32)
V100 = Multiprocessor(7, 65536, 98304, 64, 32)


@pytest.mark.parametrize(
    ("limits", "n_threads", "registers", "shared_bytes", "percent"),
    [
        (A100, 256, 32, 0, 100),  # 8 blocks of 8 warps
        (A100, 256, 128, 0, 25),  # 65536 / (128 * 32) = 16 warps
        (A100, 1024, 64, 0, 50),  # one block of 32 warps
        (A100, 32, 16, 0, 50),  # 32 blocks at most
        (A100, 128, 32, 48 * 1024, 18.75),  # 3 blocks of 49 KiB in 164 KiB
        (V100, 128, 32, 48 * 1024, 12.5),  # 2 blocks of 48 KiB in 96 KiB: nothing is reserved
        (A100, 96, 40, 0, 75),  # 51 warps by registers, 48 in fours: 16 blocks of 3
        (A100, 0, 32, 0, 0),
        (Multiprocessor(0, 0, 0, 0, 0), 256, 32, 0, 0),
    ],
)
def test_occupancy_worked_out_by_hand(limits, n_threads, registers, shared_bytes, percent):
    assert occupancy_percent(limits, n_threads, registers, shared_bytes) == percent


@given(st.integers(0, 2048), st.integers(0, 255), st.integers(0, 200_000))
def test_occupancy_is_a_share_and_falls_with_requested_resources(n_threads, registers, shared):
    found = occupancy_percent(A100, n_threads, registers, shared)
    assert 0 <= found <= 100
    assert occupancy_percent(A100, n_threads, registers, shared + 1024) <= found
    assert occupancy_percent(A100, n_threads, registers + 8, shared) <= found or not registers


def test_names_of_kernels_and_calls():
    assert demangled("f") == "f"  # not "float"
    assert demangled("nvjet_hsh_256x128") == "nvjet_hsh_256x128"
    assert demangled("_Z9probe_incPfi") in ("probe_inc(float*, int)", "_Z9probe_incPfi")
    assert demangled("_Znonsense\ud800") == "_Znonsense\ud800"
    assert plain_call("cudaLaunchKernel_v7000") == "cudaLaunchKernel"
    assert plain_call("cudaLaunchKernel_ptsz_v7000") == "cudaLaunchKernel_ptsz"
    assert plain_call("cuMemcpyHtoDAsync_v2") == "cuMemcpyHtoDAsync_v2"


def test_tools_know_the_gpu():
    """Kernel stats show the occupancy, and know tensor cores by the vendor."""
    records = recorded(
        Cupti(
            [device(), call(BEGIN + 5, BEGIN + 6, 1), kernel(BEGIN + 10, BEGIN + 2010, 1,
                    name="sm90_xmma_gemm_bf16bf16_bf16f32_tn_wgmma", registers_per_thread=128)]
        )
    )  # fmt: skip
    run = tools.open_run(with_gpus(captured().SerializeToString(), records))
    [row] = tools.kernel_stats(run).to_rows()
    assert row["occupancy_pct"] == 25
    assert row["is_kernel_using_tensor_core"]
    assert row["total_duration_us"] == 2
    [plane] = [p for p in run.hosts[0].space.planes if p.name == "/device:GPU:0"]
    assert plane.own_stats() == {
        "clock_rate": 1_410_000, "core_count": 108, "memory_bandwidth": 1_555_200_000_000,
        "memory_size": 40 << 30, "compute_cap_major": 8, "compute_cap_minor": 0,
        "device_vendor": "Nvidia", "gpu_device_name": "NVIDIA A100-SXM4-40GB",
    }  # fmt: skip


def test_another_clock_is_put_right():
    hour_ns = 3600 * 10**9
    moment = time.time_ns()
    ahead = [call(moment + hour_ns, moment + hour_ns + 5, 1), kernel(moment + hour_ns, 0, 1)]
    ahead[1].end = moment + hour_ns + 7
    found = recorded(Cupti(ahead, ahead_ns=hour_ns))
    slack_ns = 10**9  # the two clocks are read one after the other
    assert abs(found.activities[0].start_ns - moment) < slack_ns
    assert found.activities[0].end_ns - found.activities[0].start_ns == 7
    assert found.calls[0].start_ns == found.activities[0].start_ns
    same = recorded(Cupti([kernel(moment, moment + 7, 1)]))
    assert same.activities[0].start_ns == moment


def test_one_call_leads_to_the_kernel():
    """The runtime's call makes one of the driver's with the same number, which is left out."""
    both = Cupti(
        [
            call(BEGIN + 10, BEGIN + 50, 9),
            call(BEGIN + 20, BEGIN + 40, 9, kind=Cupti.ActivityKind.DRIVER),
            kernel(BEGIN + 60, BEGIN + 90, 9),
        ]
    )
    run = tools.open_run(with_gpus(captured().SerializeToString(), recorded(both)))
    [host] = run.hosts
    timeline = host.timeline
    numbered = timeline.stat("correlation_id").events.tolist()
    assert [timeline.name(event) for event in numbered] == ["cudaLaunchKernel_v211", "gemm"]
    assert "cuLaunchKernel_v211" not in timeline.names


def test_each_call_is_there_once():
    """Calls of the driver inside one of the runtime are left out; others are the program's own."""
    driver = Cupti.ActivityKind.DRIVER
    records = recorded(
        Cupti(
            [
                call(100, 200, 1, cbid=1), call(110, 150, 2, cbid=2, kind=driver),
                call(160, 190, 1, cbid=3, kind=driver),
                call(120, 140, 3, cbid=4, kind=driver, thread=43),  # another thread
                call(150, 250, 4, cbid=5, kind=driver),  # longer than the runtime's
                call(300, 310, 5, cbid=6, kind=driver),  # of a program that uses the driver
                call(700, 710, 6, cbid=7), call(0, 0, 6, cbid=8, kind=driver),  # without a time
                kernel(400, 500, 2), kernel(500, 600, 5), kernel(600, 650, 77),
            ]
        )
    )  # fmt: skip
    assert sorted((call.name, call.correlation) for call in records.calls) == [
        ("cuLaunchKernel_v4", 3), ("cuLaunchKernel_v5", 4), ("cuLaunchKernel_v6", 5),
        ("cudaLaunchKernel_v1", 1), ("cudaLaunchKernel_v7", 6),
    ]  # fmt: skip
    assert [one.correlation for one in records.activities] == [1, 5, 77]
    assert sorted(records.launches()) == [1, 3, 4, 5, 6]


def test_devices_are_dumped_when_the_driver_runs_already():
    cupti = Cupti([device(), kernel(1, 2, 3)])
    assert recorded(cupti).gpus[0].name == "NVIDIA A100-SXM4-40GB"
    assert cupti.log.index("activity_register_callbacks") < cupti.log.index(
        "activity_enable_and_dump"
    )
    missing = type("FunctionNotFoundError", (RuntimeError,), {})("cuptiActivityEnableAndDump")
    for old in (
        Cupti([device(), kernel(1, 2, 3)], fails={"activity_enable_and_dump": missing}),
        Cupti([device(), kernel(1, 2, 3)], without=("activity_enable_and_dump",)),
    ):
        records = recorded(old)
        assert (len(records.activities), records.gpus) == (1, {})
        assert [note.message for note in notes_on(records)] == [
            "CUPTI did not describe GPU 0, so name, clock, cores and bandwidth are unknown"
        ]


@given(st.lists(st.integers(0, (1 << 64) - 1), min_size=6, max_size=6))
def test_any_numbers_can_be_written(numbers):
    """What a damaged buffer may hold: the host's capture stays readable."""
    begin, end, begin_call, end_call, stream, thread = numbers
    records = recorded(
        Cupti(
            [kernel(begin, end, 1, stream=stream & 0xFFFFFFFF, name="k\ud800"),
             call(begin_call, end_call, 1, thread=thread)]
        )
    )  # fmt: skip
    run = tools.open_run(with_gpus(captured().SerializeToString(), records))
    assert "train" in run.hosts[0].timeline.names


def test_the_capture_of_the_host_survives_the_gpu(tmp_path):
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    path = folder / "host.xplane.pb"
    path.write_bytes(b"\xff not an XSpace")
    part = GpuPart()
    part._records = Records()
    said = [note.message for note in part.add_to(tmp_path)]
    assert "could not be added" in said[-1]
    assert path.read_bytes() == b"\xff not an XSpace"
    assert [each.name for each in folder.iterdir()] == ["host.xplane.pb"]


def test_a_kernel_and_a_copy_alike_in_all_numbers():
    records = recorded(Cupti([kernel(5, 6, 1, stream=8), copy(5, 6, 1)]))
    assert [type(one).__name__ for one in records.timed()] == ["Copy", "Kernel"]


def test_ctrl_c_within_a_callback_reaches_the_program():
    # A shell that starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _press_ctrl_c_in_a_callback()
    finally:
        signal.signal(signal.SIGINT, before)


def _press_ctrl_c_in_a_callback():
    class Pressed:
        @property
        def kind(self):
            raise KeyboardInterrupt

    one = session(Cupti())
    one.start()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        one._completed([Pressed()])
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(0.005)
    one.stop(lambda: None)
