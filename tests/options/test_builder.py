import copy

import pytest

from tfprof.options.builder import ProfileOptionBuilder

pytestmark = pytest.mark.one_engine

FRESH = {
    "max_depth": 100,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": False,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}
SETTERS = {
    "with_max_depth": [(3,)],
    "with_min_memory": [(), (1,), (1, 2, 3, 4)],
    "with_min_execution_time": [(), (1,), (1, 2, 3)],
    "with_min_parameters": [(5,)],
    "with_min_occurrence": [(5,)],
    "with_min_float_operations": [(5,)],
    "with_static_float_operations": [(), (False,)],
    "with_accounted_types": [(["a"],), ([],)],
    "with_node_names": [
        (),
        (["a"],),
        (["a"], ["b"], ["c"], ["d"]),
        ([], [], [], []),
        (None, ["b"], None, ["d"]),
    ],
    "account_displayed_op_only": [(True,), (False,)],
    "with_empty_output": [()],
    "with_stdout_output": [()],
    "with_file_output": [("a/b",)],
    "with_timeline_output": [("a/b",)],
    "with_dot_output": [("a/b",)],
    "with_pprof_output": [("a/b",)],
    "order_by": [("bytes",)],
    "select": [(["bytes", "params"],)],
    "with_step": [(7,), (-1,)],
}
OURS_ALONE = {"with_dot_output", "with_static_float_operations"}
CALLS = [(name, arguments) for name, given in SETTERS.items() for arguments in given]
PRESETS = ["trainable_variables_parameter", "float_operation", "time_and_memory"]


def test_a_fresh_builder():
    assert ProfileOptionBuilder().build() == FRESH


@pytest.mark.parametrize(
    ("name", "arguments", "changes"),
    [
        ("with_max_depth", (3,), {"max_depth": 3}),
        (
            "with_min_memory",
            (1, 2),
            {"min_bytes": 1, "min_peak_bytes": 2, "min_residual_bytes": 0, "min_output_bytes": 0},
        ),
        (
            "with_min_execution_time",
            (1, 0, 3),
            {"min_micros": 1, "min_accelerator_micros": 0, "min_cpu_micros": 3},
        ),
        ("with_min_parameters", (5,), {"min_params": 5}),
        ("with_min_occurrence", (5,), {"min_occurrence": 5}),
        ("with_min_float_operations", (5,), {"min_float_ops": 5}),
        ("with_static_float_operations", (), {"static_float_ops": True}),
        ("with_static_float_operations", (False,), {"static_float_ops": False}),
        ("with_accounted_types", (["a"],), {"account_type_regexes": ["a"]}),
        (
            "with_node_names",
            (["a"], None, ["c"]),
            {"start_name_regexes": ["a"], "hide_name_regexes": ["c"]},
        ),
        ("account_displayed_op_only", (True,), {"account_displayed_op_only": True}),
        ("with_empty_output", (), {"output": "none"}),
        ("with_stdout_output", (), {}),
        ("with_file_output", ("x",), {"output": "file:outfile=x"}),
        ("with_timeline_output", ("x",), {"output": "timeline:outfile=x"}),
        ("with_pprof_output", ("x",), {"output": "pprof:outfile=x"}),
        ("with_dot_output", ("x",), {"output": "dot:outfile=x"}),
        ("order_by", ("bytes",), {"order_by": "bytes"}),
        ("select", (["bytes"],), {"select": ["bytes"]}),
        ("with_step", (7,), {"step": 7}),
    ],
)  # fmt: skip
def test_each_setter_changes_its_keys_and_returns_the_builder(name, arguments, changes):
    builder = ProfileOptionBuilder()
    assert getattr(builder, name)(*arguments) is builder
    assert builder.build() == FRESH | changes


def test_presets():
    preset = FRESH | {"max_depth": 10000, "account_displayed_op_only": True}
    assert ProfileOptionBuilder.trainable_variables_parameter() == preset | {
        "account_type_regexes": ["_trainable_variables"], "select": ["params"],
    }  # fmt: skip
    assert ProfileOptionBuilder.float_operation() == preset | {
        "min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"],
    }  # fmt: skip
    assert ProfileOptionBuilder.time_and_memory(min_micros=5) == preset | {
        "min_micros": 5, "min_bytes": 1, "min_accelerator_micros": 0, "min_cpu_micros": 0,
        "min_peak_bytes": 0, "min_residual_bytes": 0, "min_output_bytes": 0,
        "order_by": "micros", "select": ["micros", "bytes"],
    }  # fmt: skip


def test_dicts_are_copied_on_the_way_in_and_out():
    given = {"select": ["bytes"], "max_depth": 2}
    before = copy.deepcopy(given)
    builder = ProfileOptionBuilder(given)
    builder.with_max_depth(9)
    built = builder.build()
    built["select"].append("params")
    assert given == before
    assert builder.build() == {"select": ["bytes"], "max_depth": 9}


def test_lists_given_to_a_setter_are_copied():
    names = ["a"]
    builder = ProfileOptionBuilder().with_accounted_types(names)
    names.append("b")
    assert builder.build()["account_type_regexes"] == ["a"]


def test_every_public_method_is_tested_here():
    public = {name for name in vars(ProfileOptionBuilder) if not name.startswith("_")}
    assert public == {*SETTERS, *PRESETS, "build"}


def test_a_timeline_of_every_step():
    builder = ProfileOptionBuilder().with_timeline_output("a,b", every_step=True)
    assert builder.build()["output"] == "timeline:steps=all,outfile=a,b"


@pytest.fixture(scope="module")
def original():
    pytest.importorskip("tensorflow")
    from tensorflow.python.profiler import option_builder

    return option_builder.ProfileOptionBuilder


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=str)
def test_each_setter_equals_tensorflows(original, name, arguments):
    if name in OURS_ALONE:
        assert not hasattr(original, name)
        return
    ours = getattr(ProfileOptionBuilder(), name)(*arguments).build()
    assert ours == getattr(original(), name)(*arguments).build()


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_equals_tensorflows(original, name):
    assert getattr(ProfileOptionBuilder, name)() == getattr(original, name)()
    assert original(getattr(ProfileOptionBuilder, name)()).build() == getattr(original, name)()
    if name == "time_and_memory":
        numbers = range(1, 8)
        assert getattr(ProfileOptionBuilder, name)(*numbers) == getattr(original, name)(*numbers)


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("default")
def test_the_fresh_builder_and_its_methods_equal_tensorflows(original):
    assert ProfileOptionBuilder().build() == original().build()
    theirs = {name for name in vars(original) if not name.startswith("_")}
    assert theirs <= {*SETTERS, *PRESETS, "build"}
