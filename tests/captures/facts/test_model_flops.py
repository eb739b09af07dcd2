"""Which products are work of the model."""

from tfprof.captures.facts.model_flops import model_flops
from tfprof.captures.facts.ran_ops import RanOp
from tfprof.captures.hlo.products import Product


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
