import numpy as np
import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.files.checkpoint.variable_values import VariableValue
from tfprof.testing.builders import graph, op, options
from tfprof.views.write.protos import MOST_VALUES, view_to_proto

NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "string": 7, "complex64": 8, "uint64": 23,
           "bool": 10, "float16": 19, "variant": 21}  # fmt: skip


class Values:
    """Values out of a dict; counts how often each is read."""

    def __init__(self, **values):
        self.values = values
        self.reads = []

    def value(self, name):
        if name not in self.values:
            return None
        self.reads.append(name)
        dtype, values = self.values[name]
        return VariableValue(name, dtype, NUMBERS[dtype], values, "m")

    def names(self):
        return list(self.values)


def message(dtype, values, classic=False):
    profiler = tfprof.Profiler(graph(op("v")), classic=classic)
    profiler._session.profile.variable_values = Values(v=(dtype, values))
    tree = profiler.view("scope", options(select=["tensor_value"]))
    return view_to_proto(tree).children[0].tensor_value, tree


TENTH = float(np.float32(0.1))


@pytest.mark.parametrize(
    ("dtype", "values", "default", "classic"),
    [
        ("float32", np.float32([[0.1], [2]]), {"value_double": [TENTH, 2]},
         {"value_double": [0.1, 2]}),
        ("float64", np.array(1 / 3), {"value_double": [1 / 3]}, {"value_double": [0.333333]}),
        ("int32", np.int32([1, -2]), {"value_int64": [1, -2]}, {"value_int64": [1, -2]}),
        ("float16", np.float16([0.5]), {"value_double": [0.5]}, {}),
        ("bool", np.array([True, False]), {"value_int64": [1, 0]}, {}),
        ("uint64", np.uint64([1, 2]), {"value_int64": [1, 2]}, {}),
        ("uint64", np.uint64([1, 2**64 - 1]), {"value_str": ["1", "18446744073709551615"]}, {}),
        ("complex64", np.complex64([1 + 2j]), {"value_str": ["(1+2j)"]}, {}),
        ("string", np.array([b"a", b"\xff"], np.object_), {"value_str": ["a", "\\xff"]},
         {"value_str": ["a", "\\xff"]}),
        ("variant", None, {}, {}),
    ],
)  # fmt: skip
def test_values_of_each_type(dtype, values, default, classic):
    for mode, fields in ((False, default), (True, classic)):
        found, _ = message(dtype, values, mode)
        assert found == pb.TFProfTensorProto(dtype=NUMBERS[dtype], **fields)


def test_many_values_are_cut_and_that_is_reported():
    values = np.arange(MOST_VALUES + 5, dtype=np.int32)
    found, tree = message("int32", values)
    assert list(found.value_int64) == list(range(MOST_VALUES))
    assert [notice.code for notice in tree.notices] == ["values-cut"]
    found, tree = message("int32", values, classic=True)
    assert len(found.value_int64) == MOST_VALUES + 5
    assert tree.notices == ()


def test_only_what_is_shown_is_read_and_once():
    profiler = tfprof.Profiler(graph(op("a"), op("a/b"), op("c")))
    values = profiler._session.profile.variable_values = Values(
        **{name: ("float64", np.zeros(1)) for name in ("a", "a/b", "c", "d")}
    )
    shown = {"select": ["tensor_value"], "hide_name_regexes": ["c"]}
    tree = profiler.view("scope", options(**shown))
    assert values.reads == []
    view_to_proto(tree)
    assert "tensor_value" in tree.to_rows()[0]
    assert values.reads == ["a", "a/b"]
    for cmd, select in (("op", "tensor_value"), ("scope", "micros")):
        tree = profiler.view(cmd, options(select=[select]))
        view_to_proto(tree)
        assert "tensor_value" not in tree.to_rows()[0]
    assert values.reads == ["a", "a/b"]


def test_without_values_nothing_changes():
    profiler = tfprof.Profiler(graph(op("v")))
    tree = profiler.view("scope", options(select=["tensor_value"]))
    assert not view_to_proto(tree).children[0].HasField("tensor_value")
    assert "tensor_value" not in tree.to_rows()[1]
