"""What devices exchange and what of it is exposed, on captures worked out by hand."""

import pytest

from tests.captures.tools.recorded_workers import recorded, truth
from tests.captures.tools.tpus import at, tpu
from tests.captures.tools.tpus import op as tpu_op
from tests.hlo_programs import ADD, capture, op, program
from tfprof.captures.events.timeline.collective_names import algorithm_of_kernel, operation_of
from tfprof.captures.practices.practices import advice
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.testing.xspace_builders import event, gpu, host, line, opened, xspace
from tfprof.tools import collectives, pod, stragglers

US = 1000
MB = 1_000_000


def groups(*listed):
    """Groups of devices as programs of today hold them."""
    made = pb.CollectiveDeviceListProto()
    for one in listed:
        made.replica_groups.add(replica_ids=one)
    return {"collective_device_list": made}


PAIR = groups([0, 1])
REDUCE = {"calls": ["add"], **PAIR}


def rows(run, table="collectives", **options):
    return collectives(run, **options).to_rows(table)


def by_name(run, **options):
    return {row["name"]: row for row in rows(run, **options)}


def with_program(space, *protos):
    """A capture that also holds programs 1, 2, …"""
    space.planes.extend(capture(*protos).planes)
    return space


# GPUs: kernels on two streams.

SPLIT = program(
    add=ADD,
    main=[
        op("a", "parameter", "f32[250000]"),
        op("grad", "negate", "f32[250000]", "a"),
        op("all-reduce-start.1", "all-reduce-start", "f32[250000]", "grad", **REDUCE),
        op("inner", "abs", "f32[250000]", "a"),
        op("all-reduce-done.1", "all-reduce-done", "f32[250000]", "all-reduce-start.1"),
        op("free", "tanh", "f32[250000]", "a"),
        op("bound", "exponential", "f32[250000]", "all-reduce-done.1"),
        op("out", "add", "f32[250000]", "free", "bound"),
    ],
)
"""A program that computes ``inner`` during a collective, and ``free`` after it without need."""

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def kernel(name, start, duration, hlo="", number=1):
    stats = {"hlo_op": hlo, "hlo_module": "test", "program_id": 1} if hlo else {}
    return event(name, start * US, duration * US, correlation_id=number, **stats)


def gpu_step(number, compute, communicate=(), length=1000):
    """A step of 1000 µs with kernels of one stream or two."""
    begin = number * length

    def shifted(kernels):
        return [kernel(name, begin + start, took, hlo, number + 1)
                for name, start, took, hlo in kernels]  # fmt: skip

    marks = [
        event("train", begin * US, length * US, step_num=number, _r=1),
        event("cuLaunchKernel", begin * US, US, correlation_id=number + 1),
    ]
    return marks, shifted(compute), shifted(communicate)


def on_gpus(*steps, programs=(SPLIT,), devices=1, stats=None):
    marks = [one for step in steps for one in step[0]]
    planes = [
        gpu(
            line(*(one for step in steps for one in step[1]), id=7, name="Stream #7(Compute)"),
            line(*(one for step in steps for one in step[2]), id=9, name="Stream #9(Collective)"),
            ordinal=ordinal, stats=stats,
        )
        for ordinal in range(devices)
    ]  # fmt: skip
    return opened(with_program(xspace(host(line(*marks)), *planes), *programs))


ASYNC = (
    [("grad", 0, 100, "grad"), ("inner", 100, 60, "inner"), ("free", 300, 90, "free"),
     ("bound", 390, 110, "bound"), ("out", 500, 100, "out")],
    [(NCCL, 100, 200, "all-reduce-start.1")],
)  # fmt: skip


def test_a_collective_beside_computation_on_a_gpu():
    run = on_gpus(*(gpu_step(number, *ASYNC) for number in range(4)), devices=2)
    row = by_name(run)["all-reduce-start.1"]
    expected = {
        "opcode": "all-reduce", "collective_us": 200, "exposed_us": 140, "overlapped_us": 60,
        "waiting_us": 0, "transfer_us": 200, "count": 8, "run_us": 200, "least_us": 200,
        "run_bytes": 1_000_000, "element_type": "f32", "group_size": 2, "groups": "{{0,1}}",
        "axis": "all devices", "axis_basis": "inferred", "algorithm": "no tree", "ready_us": 90,
        "stream_kind": "collectives only", "program": "test", "link_gb_per_s": None,
        "bus_basis": "measured", "lines": "Stream #9(Collective)", "why_unknown": "",
    }  # fmt: skip
    assert {key: row[key] for key in expected} == pytest.approx(expected)
    # 1 MB once over the link of each of two devices in 200 µs.
    assert row["bus_gb_per_s"] == pytest.approx(5.0)
    assert list(collectives(run).verdict[:2]) == [
        "Collectives take 0.200 ms of a step on average (20.0%): 60.0 µs runs while the device "
        "computes, and 0.140 ms is exposed.",
        "None of the exposed time is waiting for a late device of this capture.",
    ]


def rules(run):
    return {one.rule: one for one in advice(run) if one.rule.startswith("collectives/")}


def test_computation_between_start_and_end_is_the_remedy_that_is_already_there():
    run = on_gpus(*(gpu_step(number, *ASYNC) for number in range(4)))
    assert "collectives/serial" not in rules(run)


SERIAL = program(
    add=ADD,
    main=[
        op("a", "parameter", "f32[250000]"),
        op("grad", "negate", "f32[250000]", "a"),
        op("all-reduce.1", "all-reduce", "f32[250000]", "grad", **REDUCE),
        op("free", "tanh", "f32[250000]", "a"),
        op("bound", "exponential", "f32[250000]", "all-reduce.1"),
        op("out", "add", "f32[250000]", "free", "bound"),
    ],
)
IN_A_ROW = [("grad", 0, 100, "grad"), ("free", 300, 90, "free"), ("bound", 390, 110, "bound"),
            ("out", 500, 100, "out")]  # fmt: skip
ALONE = (NCCL, 100, 200, "all-reduce.1")


def test_a_collective_on_the_compute_stream():
    steps = [gpu_step(number, [*IN_A_ROW, ALONE]) for number in range(4)]
    found = rules(on_gpus(*steps, programs=[SERIAL]))
    assert "collectives/serial" not in found
    one = found["collectives/compute-stream"]
    assert one.share == pytest.approx(0.2)
    # Only `free` can run meanwhile: 90 of 1000 µs.
    assert one.gain_fraction == pytest.approx(0.09)
    assert "90.0 µs in a step" in one.message
    [row] = rows(on_gpus(*steps, programs=[SERIAL]))
    assert row["stream_kind"] == "computation, too"


def test_a_collective_that_ends_before_what_does_not_need_it():
    steps = [gpu_step(number, IN_A_ROW, [ALONE]) for number in range(4)]
    one = rules(on_gpus(*steps, programs=[SERIAL]))["collectives/serial"]
    assert (one.share, one.gain_fraction) == pytest.approx((0.2, 0.09))
    assert one.evidence["op"] == "all-reduce.1"


CHAIN = program(
    add=ADD,
    main=[
        op("a", "parameter", "f32[250000]"),
        op("grad", "negate", "f32[250000]", "a"),
        op("all-reduce.1", "all-reduce", "f32[250000]", "grad", **REDUCE),
        op("free", "tanh", "f32[250000]", "all-reduce.1"),
        op("bound", "exponential", "f32[250000]", "free"),
        op("out", "add", "f32[250000]", "free", "bound"),
    ],
)


@pytest.mark.parametrize("on_compute", [True, False])
def test_nothing_to_overlap_gives_nothing_to_do(on_compute):
    if on_compute:
        steps = [gpu_step(number, [*IN_A_ROW, ALONE]) for number in range(4)]
    else:
        steps = [gpu_step(number, IN_A_ROW, [ALONE]) for number in range(4)]
    run = on_gpus(*steps, programs=[CHAIN])
    assert rules(run).keys() <= {"collectives/share"}
    assert rows(run)[0]["ready_us"] == 0


def test_without_its_program_it_is_unknown_what_a_kernel_exchanges():
    run = on_gpus(*(gpu_step(number, IN_A_ROW, [(NCCL, 100, 200, "")]) for number in range(4)),
                  programs=[])  # fmt: skip
    [row] = rows(run)
    unknown = ("run_bytes", "group_size", "bus_gb_per_s", "ready_us")
    assert [row[key] for key in unknown] == [None] * 4
    assert (row["opcode"], row["collective_us"]) == ("all-reduce", pytest.approx(200))
    assert row["waiting_us"] is None
    assert row["why_unknown"].startswith("the capture has one of the devices, and does not state")
    assert rules(run).keys() <= {"collectives/share"}


def test_devices_of_a_group_that_the_capture_lacks():
    run = on_gpus(*(gpu_step(number, *ASYNC) for number in range(4)), devices=1)
    [row] = rows(run)
    assert (row["waiting_us"], row["transfer_us"]) == (None, None)
    assert row["why_unknown"] == "the capture has 1 of the 2 devices that wait for each other"
    assert row["bus_basis"] == "at least"
    assert "waiting for other devices is not known" in collectives(run).verdict[1]


@pytest.mark.parametrize(
    "kernel_name, operation, algorithm",
    [
        (NCCL, "all-reduce", "no tree"),
        ("ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(x)", "all-reduce", "tree"),
        ("ncclDevKernel_AllGather_RING_LL(x)", "all-gather", ""),
        ("ncclDevKernel_SendRecv(x)", "send and receive", ""),
        ("ncclDevKernel_Generic(x)", "", ""),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(x)", "all-reduce", "no tree"),
        ("CollectiveReduceV2", "all-reduce", ""),
        ("CollectiveBcastSendV2", "broadcast", ""),
        ("CollectiveAllToAllV3", "all-to-all", ""),
        ("NcclReduce", "reduce", ""),
        ("sgemm", "", ""),
    ],
)
def test_what_names_tell(kernel_name, operation, algorithm):
    assert operation_of(kernel_name) == operation
    assert algorithm_of_kernel(kernel_name) == algorithm


# Many small ones.


def small_ones(count, size, *, is_chain=False):
    values = [op("a", "parameter", f"f32[{size}]")]
    before = "a"
    for number in range(count):
        values.append(op(f"all-reduce.{number}", "all-reduce", f"f32[{size}]", before, **REDUCE))
        before = f"all-reduce.{number}" if is_chain else "a"
    made = program(add=ADD, main=values)
    length = 400 // count
    kernels = [(NCCL, 500 + number * length, length, f"all-reduce.{number}")
               for number in range(count)]  # fmt: skip
    steps = [gpu_step(number, [("grad", 0, 500, "")], kernels) for number in range(4)]
    return on_gpus(*steps, programs=[made], devices=2)


def test_many_small_exchanges_could_be_one():
    one = rules(small_ones(8, 1000))["collectives/small"]
    assert one.share == pytest.approx(0.4)
    assert one.gain_fraction == pytest.approx(0.35)
    assert "8 small exchanges of one kind, all-reduce, 4.00 kB each" in one.message


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda: small_ones(8, 1000, is_chain=True), id="each needs the one before"),
        pytest.param(lambda: small_ones(8, 1_000_000), id="large"),
        pytest.param(lambda: small_ones(3, 1000), id="few"),
    ],
)
def test_exchanges_that_are_fine(run):
    assert "collectives/small" not in rules(run())


# TPUs: asynchronous pairs on one line.


GRAD = "%grad = f32[250000] negate(f32[250000] %a)"
START = "%all-reduce-start.1 = f32[250000] all-reduce-start(f32[250000] %grad)"
INNER = "%inner = f32[250000] abs(f32[250000] %a)"
DONE = "%all-reduce-done.1 = f32[250000] all-reduce-done(f32[250000] %all-reduce-start.1)"
FREE = "%free = f32[250000] tanh(f32[250000] %a)"


def test_a_pair_of_instructions_of_a_tpu():
    cores = [
        tpu(
            number,
            steps=[at(str(step), step * 100, 100) for step in range(3)],
            modules=[at("test(1)", step * 100, 100) for step in range(3)],
            ops=[
                each
                for step in range(3)
                for each in (
                    tpu_op(GRAD, "non-fusion elementwise", step * 100, 10 + skew),
                    tpu_op(START, "all-reduce-start", step * 100 + 10 + skew, 2),
                    tpu_op(INNER, "loop fusion", step * 100 + 12 + skew, 30),
                    tpu_op(DONE, "all-reduce-done", step * 100 + 42 + skew, 18 - skew),
                    tpu_op(FREE, "loop fusion", step * 100 + 60, 20),
                )
            ],
            stats={"device_type_string": "TPU v5e"},
            metadata={
                name: {"program_id": 1, "symbol_id": symbol}
                for symbol, name in enumerate((GRAD, START, INNER, DONE, FREE), 1)
            },
        )
        for number, skew in ((0, 0), (1, 8))
    ]  # fmt: skip
    run = opened(with_program(xspace(*cores), SPLIT))
    row = by_name(run)["all-reduce-start.1"]
    expected = {
        # 10 … 60 and 18 … 60, mean of the two; 30 of each overlap.
        "collective_us": 46, "overlapped_us": 30, "exposed_us": 16, "waiting_us": 4,
        "transfer_us": 42, "count": 6, "least_us": 42, "run_bytes": 1_000_000,
        "link_gb_per_s": 200, "ready_us": 20, "algorithm": "", "stream_kind": "",
    }  # fmt: skip
    assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert row["bus_gb_per_s"] == pytest.approx(1_000_000 / 42e-6 / 1e9)
    assert row["link_share"] == pytest.approx(row["bus_gb_per_s"] / 200)
    devices = {one["device"]: one["waiting_us"] for one in rows(run, "devices")}
    assert devices == pytest.approx({"TPU 0": 8, "TPU 1": 0})
    # Of the 8 µs that the first core waits, it computes nothing in the first 2.
    first, second, *_ = collectives(run).verdict
    assert first.endswith("16.0 µs is exposed.")
    assert second.startswith("Of the exposed time, 1.00 µs is waiting")


# Devices of a CPU, in groups.


def launches(numbers):
    """What states which device has which number in programs."""
    return [
        event(f"[{at}] Execute", 0, 1, global_device_id=at, replica=0, partition=partition)
        for at, partition in enumerate(numbers)
    ]


GROUPED = program(
    add=ADD,
    main=[
        op("a", "parameter", "f32[1000]"),
        op("psum.1", "all-reduce", "f32[1000]", "a", calls=["add"], **groups([0, 1], [2, 3])),
    ],
)


def in_groups(*numbers):
    starts = (10, 50, 20, 30)  # of devices 0 … 3, all until 100
    threads = [
        line(
            *(
                event("psum.1", (step * 200 + start) * US, (100 - start) * US, hlo_op="psum.1",
                      hlo_module="test", program_id=1, device_ordinal=device, run_id=step)
                for step in range(3)
            ),
            id=10 + device,
        )
        for device, start in enumerate(starts)
    ]  # fmt: skip
    marks = [event("train", step * 200 * US, 150 * US, step_num=step, _r=1) for step in range(3)]
    return opened(with_program(
        xspace(host(line(*launches(numbers), *marks), *threads)), GROUPED
    ))  # fmt: skip


@pytest.mark.parametrize(
    "numbers, waits",
    [
        ((0, 1, 2, 3), {"CPU 0": 40, "CPU 1": 0, "CPU 2": 10, "CPU 3": 0}),
        ((0, 2, 1, 3), {"CPU 0": 10, "CPU 1": 0, "CPU 2": 0, "CPU 3": 20}),
    ],
)
def test_devices_wait_for_those_of_their_own_group(numbers, waits):
    run = in_groups(*numbers)
    found = {row["device"]: row["waiting_us"] for row in rows(run, "devices")}
    assert found == pytest.approx(waits)


def test_without_numbers_of_devices_it_is_unknown_who_waits_for_whom():
    [row] = rows(in_groups())
    assert row["waiting_us"] is None
    assert row["why_unknown"] == "no event states which device has which number in the groups"


# Several hosts, and what other tools say.


@pytest.mark.parametrize("name", ["input", "compute", "alike"])
def test_waits_of_hosts_are_what_they_say_themselves(name):
    """A host waits as much longer in the exchange as it says, and all agree with ``stragglers``."""
    run = recorded(name)
    found = {row["host"]: row for row in rows(run, "devices")}
    own = [float(one["exchange"].mean()) for one in truth(name)]
    for (_, row), exchange in zip(sorted(found.items()), own, strict=True):
        # The program's own time includes the call of the exchange from Python.
        assert row["collective_us"] / 1e3 < exchange
        assert row["waiting_us"] / 1e3 == pytest.approx(exchange - min(own), rel=0.2, abs=1.0)
    for row in stragglers(run).to_rows("hosts"):
        mine = found[row["host"]]
        assert mine["collective_us"] == pytest.approx(row["collectives_us"])
        assert mine["exposed_us"] == pytest.approx(row["exposed_us"])
        assert mine["waiting_us"] == pytest.approx(row["waits_us"])


@pytest.mark.parametrize("name", ["input", "compute", "alike"])
def test_exposed_time_is_that_of_the_pod_viewer(name):
    run = recorded(name)
    whole = {row["host"]: 0.0 for row in rows(run, "devices")}
    count = dict.fromkeys(whole, 0)
    for row in pod(run).to_rows("workers"):
        whole[row["host"]] += row["device_collectives_us"]
        count[row["host"]] += 1
    for row in rows(run, "devices", step=tuple(range(16))):
        assert row["exposed_us"] == pytest.approx(whole[row["host"]] / count[row["host"]])


def test_one_host_alone_has_its_own_times_and_waits_for_all():
    run = recorded("input")
    [row] = rows(run, "devices", host="worker0")
    assert row in rows(run, "devices")


def test_a_capture_without_collectives_says_so():
    run = opened(xspace(host(line(event("train", 0, 100, step_num=1, _r=1)))))
    result = collectives(run)
    assert result.verdict == (
        "No collective of a device was recorded: devices did not exchange data, or what they did "
        "was not recorded.",
    )
    assert not result.tables


def test_without_steps_times_are_those_of_the_capture():
    thread = [event("psum.1", 100 * US, 50 * US, hlo_op="psum.1", hlo_module="test", program_id=1)]
    run = opened(with_program(xspace(host(line(*thread))), GROUPED))
    result = collectives(run)
    assert result.verdict[0].startswith("Collectives take 50.0 µs of the capture")
    assert any("there are no steps" in note.message for note in result.notes)


def test_a_kernel_of_xla_is_a_collective_by_its_instruction():
    """Its name does not show that: it counts as the instruction, here and in the steps."""
    own = ("all_reduce_kernel", 100, 200, "all-reduce.1")
    run = on_gpus(*(gpu_step(number, IN_A_ROW, [own]) for number in range(4)), programs=[SERIAL])
    [row] = rows(run)
    found = (row["name"], row["opcode"], row["collective_us"], row["stream_kind"])
    assert found == ("all-reduce.1", "all-reduce", pytest.approx(200), "collectives only")
    for step in pod(run).to_rows("workers"):
        assert step["device_collectives_us"] == pytest.approx(200)


def test_collectives_outside_of_the_steps_are_not_denied():
    marks = [event("train", at * 200 * US, 100 * US, step_num=at, _r=1) for at in range(3)]
    work = [event("dot.1", at * 200 * US, 90 * US, hlo_op="dot.1") for at in range(3)]
    other = event("psum.1", 900 * US, 50 * US, hlo_op="psum.1", hlo_module="test", program_id=1)
    run = opened(with_program(xspace(host(line(*marks, *work), line(other, id=2))), GROUPED))
    result = collectives(run)
    assert result.verdict[0].startswith("Collectives take 50.0 µs of the capture")
    assert any("no collective is in the steps" in note.message for note in result.notes)
    assert collectives(run, step=1).verdict == (
        "No collective ran in these steps; others are in the capture.",
    )
    assert not rules(run)


def test_a_kernel_in_a_graph_that_has_the_instruction_of_another_is_named_by_itself():
    steps = [gpu_step(number, IN_A_ROW, [(NCCL, 100, 200, "grad")]) for number in range(4)]
    [row] = rows(on_gpus(*steps, programs=[SERIAL]))
    assert (row["name"], row["opcode"], row["run_bytes"]) == (NCCL, "all-reduce", None)


def test_a_stream_with_little_computation_is_not_one_of_computations():
    """Beside a collective, a stream may have small kernels that prepare its arrays."""
    steps = [gpu_step(number, IN_A_ROW, [ALONE, ("pack", 90, 10, "")]) for number in range(4)]
    found = rules(on_gpus(*steps, programs=[SERIAL]))
    assert "collectives/compute-stream" not in found
    assert "collectives/serial" in found


FOUR = program(
    add=ADD,
    main=[
        op("a", "parameter", "f32[1000]"),
        op("all-reduce.1", "all-reduce", "f32[1000]", "a", calls=["add"], **groups([0, 1, 2, 3])),
    ],
)


def two_hosts(*starts, ahead_us=0):
    """Two hosts of two GPUs each, which all leave at 100 µs; the clock of the second is ahead."""
    spaces = []
    for number, own in enumerate(starts):
        later = number * ahead_us
        marks = [
            one
            for step in range(4)
            for one in (
                event("train", (later + step * 1000) * US, 1000 * US, step_num=step, _r=1),
                event("cuLaunchKernel", (later + step * 1000) * US, US, correlation_id=step + 1),
            )
        ]
        planes = [
            gpu(
                line(
                    *(
                        kernel(NCCL, later + step * 1000 + start, 100 - start, "all-reduce.1",
                               step + 1)
                        for step in range(4)
                    ),
                    id=9, name="Stream #9",
                ),
                line(
                    *(kernel("gemm", later + step * 1000 + 200, 100, "", step + 1)
                      for step in range(4)),
                    id=7, name="Stream #7",
                ),
                ordinal=ordinal,
            )
            for ordinal, start in enumerate(own)
        ]  # fmt: skip
        spaces.append(
            with_program(xspace(host(line(*marks)), *planes, hostname=f"m{number}"), FOUR)
        )
    return opened(*spaces)


def test_devices_of_several_hosts_wait_for_the_last_of_all():
    run = two_hosts((10, 20), (60, 50), ahead_us=5000)
    found = [row["waiting_us"] for row in rows(run, "devices")]
    assert found == pytest.approx([50, 40, 0, 10])
    [row] = rows(run)
    assert (row["waiting_us"], row["exposed_us"], row["least_us"]) == pytest.approx((25, 65, 40))
    # 4 kB, 1.5 times over each link, in 40 µs.
    assert row["bus_gb_per_s"] == pytest.approx(4000 * 1.5 / 40e-6 / 1e9)
    assert (row["bus_basis"], row["group_size"]) == ("measured", 4)


def test_one_host_of_two_does_not_know_who_came_last():
    [row] = rows(two_hosts((10, 20)))
    assert row["why_unknown"] == "the capture has 2 of the 4 devices that wait for each other"


def test_the_rate_of_links_that_the_user_gives():
    run = on_gpus(*(gpu_step(number, *ASYNC) for number in range(4)), devices=2)
    [row] = rows(run, link=50.0)
    assert (row["link_gb_per_s"], row["link_share"]) == pytest.approx((50.0, 0.1))
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="not a rate of links"):
            collectives(run, link=wrong)
