"""Data in names of events and lines."""

import pytest

from tfprof.captures.events.timeline.names import DERIVED_BASE, DERIVED_LINES, is_derived, is_device
from tfprof.captures.events.timeline.op_names import (
    OpKind,
    OpName,
    display_name,
    iterator_type,
    name_scopes,
    parse_op_name,
    plain_iterator_type,
)

UNKNOWN, TF, DATASET, JAX = OpKind.UNKNOWN, OpKind.TENSORFLOW, OpKind.DATASET, OpKind.JAX


@pytest.mark.parametrize(
    "text, kind, name, type_",
    [
        ("a/b:MatMul", TF, "a/b", "MatMul"),
        ("a/b_1:_Send", TF, "a/b_1", "_Send"),
        (".dot/x:Op2", TF, ".dot/x", "Op2"),
        ("model/dense_3:", JAX, "model/dense_3", "dense"),
        ("model/Dense_3:", TF, "model/Dense_3", "Dense"),
        ("jit(f)/mul:mul", JAX, "jit(f)/mul", "mul"),
        ("jit(f)/reduce:reduce[axes=(0,)]", JAX, "jit(f)/reduce", "reduce"),
        ("Iterator::Root::Map", DATASET, "Iterator::Root::Map", "Dataset"),
        ("Iterator:", DATASET, "Iterator:", "Dataset"),
        ("MemcpyHToD", OpKind.COPY_H2D, "MemcpyHToD", "MemcpyHToD"),
        ("memcpydtoh 4 bytes", OpKind.COPY_D2H, "memcpydtoh 4 bytes", "MemcpyDToH"),
        ("MEMCPYDTOD", OpKind.COPY_D2D, "MEMCPYDTOD", "MemcpyDToD"),
        ("MemcpyHToH", OpKind.COPY_H2H, "MemcpyHToH", "MemcpyHToH"),
        ("MemcpyH2D", UNKNOWN, "MemcpyH2D", ""),
        ("plain", UNKNOWN, "plain", ""),
        ("a b:Not A Type", UNKNOWN, "a b:Not A Type", ""),
        ("", UNKNOWN, "", ""),
    ],
)
def test_names_of_events(text, kind, name, type_):
    assert parse_op_name(text) == OpName(kind, name, type_)


@pytest.mark.parametrize("text", [":", "::", "a:", ":B", "é:B", "a:B:C", "\x00:\x00", "x" * 9999])
def test_odd_names_have_an_answer(text):
    found = parse_op_name(text)
    assert isinstance(display_name(found, text), str)


def test_what_is_shown():
    for text, shown in (
        ("a/b:MatMul", "MatMul"), ("Iterator::Root::MapV2", "Iterator::MapV2"), ("x ", "x"),
    ):  # fmt: skip
        assert display_name(parse_op_name(text), text) == shown


@pytest.mark.parametrize(
    "long_name, written, plain",
    [
        ("Iterator::Root::ParallelMapV2", "ParallelMapV2", "ParallelMap"),
        ("Iterator::Root::ParallelInterleaveV4[12]", "ParallelInterleaveV4[12]",
         "ParallelInterleave"),
        ("Iterator::FlatMap[0]", "FlatMap[0]", "FlatMap"), ("Map", "Map", "Map"),
        ("Iterator::V2", "V2", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_types_of_iterators(long_name, written, plain):
    assert iterator_type(long_name) == written
    assert plain_iterator_type(long_name) == plain


def test_scopes():
    assert name_scopes("net/dense/MatMul") == ["net", "dense"]
    assert name_scopes("MatMul") == []


@pytest.mark.parametrize(
    "line, derived",
    [
        (DERIVED_BASE, True), (DERIVED_BASE - 1, False), (DERIVED_BASE + DERIVED_LINES - 1, True),
        (DERIVED_BASE + DERIVED_LINES, False), (0xDEADBEEF, True), (0, False), (2**63 - 1, False),
        (-(2**63), False),
    ],
)  # fmt: skip
def test_derived_lines(line, derived):
    assert is_derived(line) is derived


def test_devices():
    assert [is_device(name) for name in ("/device:GPU:0", "/device:CUSTOM:x", "/host:CPU", "")] == [
        True, True, False, False,
    ]  # fmt: skip
