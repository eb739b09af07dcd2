"""The time of steps of TPU cores by kind."""

import numpy as np
import pytest

from tests.captures.tools.tpus import US, at, details, op, tpu
from tfprof.captures.events.steps.forest import build_forest
from tfprof.captures.events.steps.grouping import find_groups
from tfprof.captures.events.steps.step_events import Spent, StepEvents
from tfprof.captures.events.tpu.categories import spent_on
from tfprof.captures.events.tpu.cores import FIRST_SPARSE_CORE, tpu_cores
from tfprof.captures.events.tpu.duty import DutyCycle, duty_cycle
from tfprof.captures.events.tpu.steps import tpu_steps, waiting_for_input
from tfprof.captures.rules import OURS, REFERENCE
from tfprof.testing.xspace_builders import line, plane, timeline_of, xspace


def steps_of(*planes, waited=None, classic=False):
    timeline, rules = timeline_of(xspace(*planes)), REFERENCE if classic else OURS
    groups = find_groups(build_forest(timeline), rules=rules)
    return tpu_steps(timeline, groups, waited or {}, rules=rules)


def micros(values):
    return [float(value) / US for value in values]


def one_step(*ops, number=0, length=100):
    modules = [at("jit_f(1)", 0, length)]
    return tpu(number, steps=[at("5", 0, length)], modules=modules, ops=ops)


def test_time_of_a_category_is_that_of_ops_without_what_is_inside():
    found = steps_of(
        one_step(
            op("%while", "while", 0, 60),
            op("%conv", "convolution", 10, 20),
            op("%infeed", "infeed", 35, 5),
            op("%outfeed", "outfeed", 70, 10),
        )
    )
    (core,) = found.cores
    assert {name: micros(values) for name, values in core.category_ps.items()} == {
        "while": [35.0], "convolution": [20.0], "infeed": [5.0], "outfeed": [10.0],
    }  # fmt: skip
    assert micros(core.idle_ps) == [30.0]
    assert micros(core.active_ps) == [55.0]


def test_op_times_of_the_device_win():
    ops = [op("%conv", "convolution", 0, 50, device_offset_ps=0, device_duration_ps=20 * US)]
    (core,) = steps_of(one_step(*ops)).cores
    assert micros(core.of(("convolution",))) == [20.0]


def test_a_step_is_as_long_as_on_the_slowest_core_of_the_host():
    found = steps_of(one_step(number=0, length=80), one_step(number=1, length=100))
    assert [micros(core.span_ps) for core in found.cores] == [[100.0], [100.0]]
    assert [micros(core.idle_ps) for core in found.cores] == [[100.0], [100.0]]


def test_steps_have_the_numbers_of_the_device():
    assert list(steps_of(one_step()).names) == ["5"]
    assert list(steps_of(one_step(), classic=True).names) == ["0"]


def test_without_steps_runs_of_the_longest_program_count():
    device = tpu(
        modules=[at("jit_init(1)", 0, 5), at("jit_f(2)", 10, 20), at("jit_f(2)", 40, 20)],
        ops=[op("%conv", "convolution", 12, 10), op("%conv", "convolution", 41, 5)],
    )
    found = steps_of(device)
    assert found.program == "jit_f(2)"
    assert micros(found.cores[0].of(("convolution",))) == [10.0, 5.0]
    assert micros(found.cores[0].span_ps) == [20.0, 20.0]


def test_in_classic_mode_there_are_no_steps_then():
    found = steps_of(tpu(modules=[at("jit_f(2)", 10, 20)]), classic=True)
    assert len(found.groups) == 0 and not found.program


def test_idle_time_is_waiting_for_the_hosts_input_where_no_op_waits_for_it():
    conv = op("%conv", "convolution", 0, 70)
    (core,) = steps_of(one_step(conv), waited={0: 20 * US}).cores
    assert (micros(core.infeed_ps), micros(core.idle_ps)) == ([20.0], [10.0])
    (core,) = steps_of(one_step(conv), waited={0: 50 * US}).cores
    assert (micros(core.infeed_ps), micros(core.idle_ps)) == ([30.0], [0.0])
    assert micros(core.active_ps) == [70.0]


def test_ops_that_wait_for_input_count_before_what_the_host_waits_for():
    ops = [op("%conv", "convolution", 0, 70), op("%infeed", "infeed", 70, 5)]
    (core,) = steps_of(one_step(*ops), waited={0: 20 * US}).cores
    assert (micros(core.infeed_ps), micros(core.idle_ps)) == ([5.0], [25.0])


def test_waiting_on_several_threads_at_once_counts_once():
    wait, other = int(Spent.HOST_WAIT_INPUT), int(Spent.HOST_COMPUTE)
    columns = ([0, 0, 0, 1], [wait, wait, other, wait], [0, 5, 0, 30], [10, 15, 99, 33])
    events = StepEvents(*(np.array(column, np.int64) for column in columns))
    assert waiting_for_input(events) == {0: 15, 1: 3}


def test_an_old_sparse_core_waits_for_what_is_not_transformed():
    ops = [
        op("%in", "sparsecorev0 infeed", 0, 30),
        op("%out", "sparsecorev0 outfeed", 30, 20),
    ]
    (core,) = steps_of(one_step(*ops)).cores
    assert micros(core.sparse_transform_ps) == [20.0]
    assert micros(core.sparse_wait_ps) == [10.0]


def test_sparse_cores_have_ids_of_their_own_and_lines_of_their_own():
    sparse = plane(
        "/device:TPU:0 SparseCore 1",
        line(at("5", 0, 90), id=1, name="Sparse Core Steps"),
        line(at("jit_f(1)", 0, 90), id=2, name="Sparse Core Modules"),
        line(op("%gather", "custom-call", 10, 30), id=3, name="Sparse Core Ops"),
    )
    sparse.id = 4
    found = steps_of(one_step(), sparse)
    tensor, core = found.cores
    assert (tensor.core.id, core.core.id) == (0, FIRST_SPARSE_CORE + 4)
    assert core.core.label == "0 SparseCore 1"
    assert micros(core.span_ps - core.idle_ps) == [30.0]


def test_an_all_reduce_has_a_unique_id_or_an_instruction():
    ops = [
        op("%a", "all-reduce", 0, 5, all_reduce_unique_id=7),
        op("%b", "all-reduce fusion", 10, 6, all_reduce_unique_id=7),
        op("%c", "all-to-all", 20, 3),
    ]
    (core,) = steps_of(one_step(*ops)).cores
    by_id = {name: micros(values) for name, values in core.all_reduce_ps.items()}
    assert by_id == {"#7": [11.0], "%c": [3.0]}


@pytest.mark.parametrize(
    ("category", "spent"),
    [
        ("recv-done", Spent.DEVICE_TO_DEVICE),
        ("async-done", Spent.DEVICE_TO_DEVICE),
        ("all-reduce fusion", Spent.DEVICE_COLLECTIVES),
        ("host recv", Spent.DEVICE_WAIT_HOST),
        ("host send-done", Spent.DEVICE_TO_HOST),
        ("convolution fusion", Spent.DEVICE_COMPUTE_32),
    ],
)
@pytest.mark.parametrize("classic", [True, False])
def test_categories_are_those_of_the_reference(category, spent, classic):
    assert spent_on(category, rules=REFERENCE if classic else OURS) is spent


@pytest.mark.parametrize("category", ["all-gather", "reduce-scatter", "collective-permute-done"])
def test_all_collectives_are_communication(category):
    assert spent_on(category, rules=OURS) is Spent.DEVICE_COLLECTIVES
    assert spent_on(category, rules=REFERENCE) is Spent.DEVICE_COMPUTE_32


def test_the_place_of_a_core_comes_from_the_file():
    reported = {"core_details": details(ordinal=2, core=1, chip=5, host=b"worker")}
    (core,) = tpu_cores(timeline_of(xspace(tpu(3, id=26, stats=reported))))
    assert (core.id, core.ordinal, core.core, core.chip) == (26, 2, 1, 5)
    assert core.host_name == "worker"


def test_damaged_details_leave_the_name_of_the_plane():
    (core,) = tpu_cores(timeline_of(xspace(tpu(3, stats={"core_details": b"\x10"}))))
    assert (core.ordinal, core.chip, core.host_name) == (3, 3, "")


def test_cores_of_planes_without_ids_of_their_own_have_places():
    found = tpu_cores(timeline_of(xspace(tpu(0, id=0), tpu(1, id=0))))
    assert [core.id for core in found] == [0, 1]


def test_a_chip_works_when_one_of_its_cores_does():
    def core(number, start):
        reported = {"core_details": details(ordinal=number, core=number, chip=0)}
        ops = [op("%conv", "convolution", start, 30), op("%infeed", "infeed", 80, 10)]
        return tpu(number, modules=[at("jit_f(1)", 0, 100)], ops=ops, stats=reported)

    found = duty_cycle(timeline_of(xspace(core(0, 0), core(1, 20))))
    assert found == DutyCycle(50 * US, 50 * US)
    assert found.share == 0.5


def test_cores_that_did_nothing_have_no_duty():
    assert duty_cycle(timeline_of(xspace(tpu(0)))) == DutyCycle(0, 0)
    assert DutyCycle().share == 0.0
