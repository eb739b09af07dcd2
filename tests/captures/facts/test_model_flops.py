"""Which products are work of the model."""

import numpy as np

import tfprof
from tfprof.captures.facts.model_flops import model_flops
from tfprof.captures.facts.ran_ops import RanOp
from tfprof.captures.facts.step_work import StepWork
from tfprof.captures.facts.utilization import (
    USER,
    OpWork,
    _Sums,
    _types,
    _with_given_cost,
    nothing_counted,
)
from tfprof.captures.hlo.call_costs import CallCosts
from tfprof.captures.hlo.products import Product
from tfprof.testing.xspace_builders import event, host, line, opened, xspace

HOST = opened(xspace(host(line(event("a", 0))))).hosts[0]


def ran(name, *products, program="p"):
    return RanOp(program, name, "dot", products=products)


def forward(flops=10, path="jit(f)/mlp/dot_general"):
    return Product(flops, "f32", path, 0, is_backward=False)


def again(flops=10, path="mlp/dot_general", depth=1):
    return Product(flops, "f32", path, depth, is_backward=False)


BACKWARD = Product(20, "f32", "jit(f)/mlp/dot_general", 0, is_backward=True)


def test_what_ran_before_is_not_work_a_second_time():
    ops = [ran("a", forward()), ran("b", again()), ran("c", BACKWARD)]
    assert model_flops(ops) == [10, 0, 20]


def test_what_has_no_first_computation_is_work():
    assert model_flops([ran("b", again()), ran("c", BACKWARD)]) == [10, 20]
    elsewhere = ran("a", forward(), program="other")
    assert model_flops([elsewhere, ran("b", again())]) == [10, 10]


def test_of_nested_checkpoints_the_outermost_counts():
    ops = [ran("b", again()), ran("c", again(depth=2))]
    assert model_flops(ops) == [10, 0]


def test_the_first_computation_is_found_by_its_size_if_scopes_have_other_names():
    ops = [ran("a", forward(path="jit(f)/block/dot_general")), ran("b", again())]
    assert model_flops(ops) == [10, 0]
    ops = [ran("a", forward(7, "jit(f)/block/dot_general")), ran("b", again())]
    assert model_flops(ops) == [7, 10]


def test_copies_of_the_compiler_are_work_only_if_it_removed_the_first():
    assert model_flops([ran("fusion.3", forward()), ran("fusion.3.remat", forward())]) == [10, 0]
    assert model_flops([ran("fusion.3.remat", forward())]) == [10]


def test_work_is_summed_run_by_run_in_the_order_of_the_steps():
    """Group 7 comes after group 9 in time; the op of group 8 is in no counted step."""
    ops = [ran("a", forward(10)), ran("b", again(10)), ran("never", forward(99))]
    columns = [
        np.array(column) for column in zip(
            # op, device, group, runs, self time
            (0, 0, 7, 2, 100), (1, 0, 7, 3, 40), (0, 1, 9, 5, 300), (0, 2, 8, 1, 9), strict=True
        )
    ]  # fmt: skip
    sums = _Sums(2, CallCosts())
    sums.add(HOST, StepWork(ops, *columns), np.array([9, 7]))
    executed, model, works = sums.all()
    assert (executed.tolist(), model.tolist()) == ([50.0, 50.0], [50.0, 20.0])
    found = [(one.op.name, one.runs, one.self_ps, one.model_flops) for one in works]
    assert found == [("a", 7, 400, 10), ("b", 3, 40, 0)]
    assert [one.product_flops for one in works] == [10, 10]
    assert (sums.n_devices, sums.overlap) == (2, False)
    sums.add(HOST, StepWork([], *[np.zeros(0, np.int64)] * 5, overlap=True), np.array([9, 7]))
    assert (sums.n_devices, sums.overlap) == (2, True)


def test_types_of_operands_by_their_share_of_what_was_executed():
    def work(flops, element_type, runs):
        product = Product(flops, element_type, "", 0, is_backward=False)
        return OpWork(ran("x", product), runs, 1, flops)

    works = [work(10, "bf16", 3), work(40, "f32", 2), work(90, "", 9), work(5, "bf16", 2)]
    assert _types(works) == [("f32", 80 / 120), ("bf16", 40 / 120)]
    assert _types([]) == []


def test_costs_of_the_user_replace_those_of_an_op():
    one = ran("flash", forward(1))._replace(n_bytes=7, path="mlp", unknown="a call")
    given = _with_given_cost(one, tfprof.register_cost("flash", flops=50))
    assert [(p.flops, p.path) for p in given.products] == [(50, "mlp")]
    assert (given.flops, given.n_bytes, given.source, given.unknown) == (50, 7, USER, "")
    assert _with_given_cost(one, tfprof.register_cost("flash", flops=50, bytes=3)).n_bytes == 3
    assert _with_given_cost(one, tfprof.register_cost("other", flops=50)) == one


def test_the_longest_op_that_is_not_counted_is_named():
    works = [
        OpWork(ran(name)._replace(unknown=unknown), 1, self_ps, 0)
        for name, unknown, self_ps in (("a", "x", 5), ("b", "it is a call", 9), ("c", "", 99))
    ]
    assert "(b takes the most time, and it is a call)" in nothing_counted(works)
    assert nothing_counted(works[2:]) == nothing_counted([]) == ""
