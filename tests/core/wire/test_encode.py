"""Columns as messages: small ones byte by byte, and random trees as protobuf writes them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.core.wire import encode as module
from tfprof.core.wire import messages as pb
from tfprof.core.wire.encode import (
    ELEMENT,
    LEFT_OUT,
    ROOT,
    Rows,
    Values,
    encode_tree,
    subtree_heights,
)
from tfprof.core.wire.encode_pure import Field, Kind, Table
from tfprof.core.wire.scan import Texts

native = module._native
needs_native = pytest.mark.skipif(native is None, reason="built without a compiler")


@pytest.fixture(params=["native", "pure"])
def _engine(request, monkeypatch):
    if request.param == "native" and native is None:
        pytest.skip("built without a compiler")
    monkeypatch.setenv("TFPROF_PURE", "1" if request.param == "pure" else "")


on_both = pytest.mark.usefixtures("_engine")


def ints(*values):
    return np.array(values, np.int64)


def encoded(columns, parents, message_class=pb.GraphNodeProto):
    return encode_tree(message_class, columns, ints(*parents)).data


def one(**columns):
    return encoded(columns, [ROOT])


def refused(match, **columns):
    with pytest.raises(ValueError, match=match):
        one(**columns)


@on_both
def test_children_stand_between_the_fields_of_smaller_and_of_larger_numbers():
    data = encoded({"float_ops": ints(5, 0), "name": Values(["a", "b"])}, [ROOT, 0])
    assert data == b"\x0a\x01a" + b"\x62\x03\x0a\x01b" + b"\x68\x05"


@on_both
@pytest.mark.parametrize(
    ("number", "varint"),
    [
        (1, b"\x01"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (2**63 - 1, b"\xff" * 8 + b"\x7f"),
        (-1, b"\xff" * 9 + b"\x01"),
        (-(2**63), b"\x80" * 9 + b"\x01"),
    ],
)
def test_numbers(number, varint):
    assert one(run_count=ints(number)) == b"\xa8\x01" + varint


@on_both
def test_zeros_and_empty_texts_are_left_out_as_proto3_does():
    assert one(name=Values([""]), run_count=ints(0)) == b""


@on_both
def test_what_is_there_although_it_is_empty():
    empty = Values([""])
    entry = {"key": ints(0), "value": Values([b""])}
    data = one(devices=empty, tensor_value=empty, input_shapes=Rows(entry, ints(0), ints(1)))
    assert data == b"\x52\x00" + b"\x7a\x00" + b"\x82\x01\x04\x08\x00\x12\x00"


@on_both
def test_keys_of_maps_keep_zeros_and_signs():
    entry = {"key": ints(0, 1, -1, 0), "value": Values([b"\x18\x01"], ints(0, 0, 0, -1))}
    message = pb.GraphNodeProto.FromString(one(input_shapes=Rows(entry, ints(0), ints(3))))
    assert sorted(message.input_shapes) == [-1, 0, 1]
    assert all(shape.unknown_rank for shape in message.input_shapes.values())


@on_both
def test_rows_share_values_and_may_have_none():
    columns = {"name": Values(["ä", b"b"], ints(1, -1, 0)), "run_count": ints(1, 2, 3)}
    message = pb.GraphNodeProto.FromString(encoded(columns, [ROOT, 0, 0]))
    assert [message.name, *(child.name for child in message.children)] == ["b", "", "ä"]


@on_both
def test_only_values_that_a_row_has_need_to_be_texts():
    assert one(name=Values(["a", "\ud800", None], ints(0))) == b"\x0a\x01a"


@on_both
def test_a_text_that_is_none_is_an_error():
    with pytest.raises(UnicodeEncodeError):
        one(name=Values(["\ud800"]))


@on_both
def test_texts_by_their_places_in_a_buffer():
    texts = Texts(b"one, two", ints(5, 0, 8), ints(3, 3, 0))
    message = pb.GraphNodeProto.FromString(encoded({"name": texts}, [ROOT, 0, 0]))
    assert [message.name, *(child.name for child in message.children)] == ["two", "one", ""]


@on_both
def test_texts_of_nothing():
    nothing = Texts(memoryview(b""), ints(0), ints(0))
    assert one(name=nothing, devices=nothing) == b"\x52\x00"


@on_both
def test_messages_in_messages_are_rows_of_another_table():
    members = {"name": Values(["a", "b", "c"]), "run_count": ints(1, 0, 3)}
    columns = {"graph_nodes": Rows(members, ints(1, 0), ints(1, 3)), "exec_micros": ints(7, 8)}
    data = encoded(columns, [ROOT, 0], pb.MultiGraphNodeProto)
    nodes = [{"name": "a", "run_count": 1}, {"name": "b"}, {"name": "c", "run_count": 3}]
    expected = pb.MultiGraphNodeProto(exec_micros=7)
    expected.children.add(exec_micros=8, graph_nodes=[pb.GraphNodeProto(**n) for n in nodes])
    assert data == expected.SerializeToString(deterministic=True)


@on_both
def test_no_rows():
    assert encoded({"run_count": ints()}, []) == b""
    assert one(input_shapes=Rows({}, ints(0), ints(0))) == b""


@on_both
def test_columns_may_be_spread_out_in_memory():
    matrix = np.arange(12, dtype=np.int64).reshape(3, 4)
    columns = {"run_count": matrix[::-1, 1], "float_ops": np.broadcast_to(np.int64(9), 3)}
    message = pb.GraphNodeProto.FromString(encoded(columns, [ROOT, 0, 0]))
    assert (message.run_count, [c.run_count for c in message.children]) == (9, [5, 1])
    assert [c.float_ops for c in message.children] == [9, 9]


@on_both
def test_messages_by_themselves_and_children_without_a_parent():
    columns = {"name": Values(["a", "b", "c", "d"])}
    data, starts = encode_tree(pb.GraphNodeProto, columns, ints(ROOT, ELEMENT, 1, ROOT))
    assert data == b"\x0a\x01a" + b"\x62\x08\x0a\x01b" + b"\x62\x03\x0a\x01c" + b"\x0a\x01d"
    assert starts.tolist() == [0, 3, 8, 13]


@on_both
def test_rows_that_are_left_out():
    columns = {"name": Values(["a", "b", "cut", "d"])}
    data, starts = encode_tree(pb.GraphNodeProto, columns, ints(ROOT, 0, LEFT_OUT, 1))
    assert data == b"\x0a\x01a" + b"\x62\x08\x0a\x01b" + b"\x62\x03\x0a\x01d"
    assert starts.tolist() == [0, 3, 8, 8]
    with pytest.raises(ValueError, match="row 3 does not stand in the subtree of its parent 2"):
        encode_tree(pb.GraphNodeProto, columns, ints(ROOT, 0, LEFT_OUT, 2))


@on_both
def test_no_depth_is_too_much():
    levels, parsed = 30_000, 90
    columns = {"exec_micros": np.arange(levels), "float_ops": np.ones(levels, np.int64)}
    data, starts = encode_tree(pb.GraphNodeProto, columns, np.arange(-1, levels - 1))
    ends_of_the_others = 2 * (levels - parsed)
    message = pb.GraphNodeProto.FromString(data[starts[-parsed] : len(data) - ends_of_the_others])
    for level in range(levels - parsed, levels):
        (message,) = message.children
        assert (message.exec_micros, message.float_ops) == (level, 1)


@on_both
def test_more_than_2_gib_are_refused_before_they_are_made():
    columns = {"name": Values(["x" * (1 << 20)], np.zeros(2048, np.int64))}
    parents = np.append(ROOT, np.zeros(2047, np.int64))
    with pytest.raises(OverflowError, match=r"GraphNodeProto of 2048 rows .* 2 GiB"):
        encode_tree(pb.GraphNodeProto, columns, parents)


@on_both
def test_exactly_as_many_bytes_as_there_may_be(monkeypatch):
    monkeypatch.setattr(module, "MAX_MESSAGE_BYTES", 8)
    columns = {"name": Values(["a", "b"])}
    assert len(encoded(columns, [ROOT, 0])) == 8
    monkeypatch.setattr(module, "MAX_MESSAGE_BYTES", 7)
    with pytest.raises(OverflowError):
        encoded(columns, [ROOT, 0])


@needs_native
def test_sizes_that_no_number_holds_are_refused(monkeypatch):
    monkeypatch.delenv("TFPROF_PURE", raising=False)
    n_nodes = 1 << 8
    text = Values(["x" * (1 << 24)], np.zeros(n_nodes, np.int64))
    zeros, all_of_them = np.zeros(n_nodes, np.int64), np.full(n_nodes, n_nodes)
    members = {"graph_nodes": Rows({"name": text}, zeros, all_of_them)}
    with pytest.raises(OverflowError):
        encode_tree(pb.MultiGraphNodeProto, members, np.arange(-1, n_nodes - 1))


@on_both
def test_columns_that_do_not_fit():
    refused("run_count has 2 rows, not 1", run_count=ints(1, 2))
    refused("value has 1 rows, not 2", input_shapes=Rows(
        {"key": ints(0, 1), "value": Values([b""])}, ints(0), ints(1)))  # fmt: skip
    refused("name cannot be made of ndarray", name=ints(1))
    refused("run_count cannot be made of Values", run_count=Values(["a"]))
    refused("name cannot be made of Rows", name=Rows({}, ints(0), ints(0)))
    refused("devices cannot be made of ndarray", devices=ints(1))


@on_both
def test_references_to_what_is_not_there():
    refused("name: row 0 refers to 1", name=Values(["a"], ints(1)))
    refused("name: row 0 refers to -2", name=Values(["a"], ints(-2)))
    refused("name: row 0 refers to 4", name=Texts(b"abc", ints(4), ints(0)))
    refused("name: row 0 refers to 3", name=Texts(b"abc", ints(1), ints(3)))
    refused("name: row 0 refers to -1", name=Texts(b"abc", ints(1), ints(-1)))
    huge = 2**63 - 1
    refused(f"name: row 0 refers to {huge}", name=Texts(b"abc", ints(1), ints(huge)))
    key = {"key": ints(1)}
    refused("input_shapes: row 0 refers to 2", input_shapes=Rows(key, ints(0), ints(2)))
    refused("input_shapes: row 0 refers to 1", input_shapes=Rows(key, ints(1), ints(0)))
    refused("input_shapes: row 0 refers to -1", input_shapes=Rows(key, ints(-1), ints(0)))


@on_both
def test_rows_that_are_not_in_preorder():
    columns = {"run_count": ints(1, 2, 3, 4)}
    with pytest.raises(ValueError, match="row 3 does not stand in the subtree of its parent 1"):
        encoded(columns, [ROOT, 0, 0, 1])
    with pytest.raises(ValueError, match="row 3 does not stand in the subtree of its parent 0"):
        encoded(columns, [ROOT, 0, ROOT, 0])
    with pytest.raises(ValueError, match="children: row 1 refers to 1"):
        encoded(columns, [ROOT, 1, 0, 0])
    with pytest.raises(ValueError, match="children: row 0 refers to -4"):
        encoded(columns, [-4, 0, 0, 0])


@on_both
def test_heights():
    assert subtree_heights(ints(ROOT, 0, 1, 1, 0, ELEMENT, 5)).tolist() == [3, 2, 1, 1, 1, 2, 1]
    assert subtree_heights(ints()).tolist() == []
    with pytest.raises(ValueError, match="row 1 refers to 1"):
        subtree_heights(ints(ROOT, 1))


def field_of(kind, first, second=None, source=None):
    return Field(1, kind, False, ints(*first), None if second is None else ints(*second), source)


@needs_native
@pytest.mark.parametrize(
    "field",
    [
        field_of(Kind.VALUES, [2], None, ("a", "b")),
        field_of(Kind.TEXTS, [4], [0], b"abc"),
        field_of(Kind.TEXTS, [-1], [1], b"abc"),
        field_of(Kind.TEXTS, [1], [2**63 - 1], b"abc"),
        field_of(Kind.ROWS, [0], [2], Table(1, [field_of(Kind.NUMBERS, [1])])),
        field_of(Kind.ROWS, [-1], [0], Table(1, [field_of(Kind.NUMBERS, [1])])),
        field_of(Kind.NUMBERS, [1, 2]),
        field_of(Kind.NUMBERS, [1])._replace(number=0),
        field_of(Kind.NUMBERS, [1])._replace(number=1 << 29),
    ],
)
def test_the_native_encoder_checks_for_itself(field):
    with pytest.raises(ValueError):
        native.encode(Table(1, [field]), 1, 12, ints(ROOT), ints(0), 1000)


@needs_native
@pytest.mark.parametrize(
    "changed",
    [
        {"n_before": 2},
        {"n_before": -1},
        {"children": 0},
        {"parents": ints(ROOT, 0)},
        {"parents": ints(0)},
        {"starts": ints()},
    ],
)
def test_the_native_encoder_checks_its_arguments(changed):
    arguments: dict[str, Any] = {"n_before": 1, "children": 12, "parents": ints(ROOT)}
    given_ones = SimpleNamespace(**{"starts": ints(0), **arguments, **changed})
    with pytest.raises(ValueError):
        native.encode(
            Table(1, [field_of(Kind.NUMBERS, [1])]),
            given_ones.n_before,
            given_ones.children,
            given_ones.parents,
            given_ones.starts,
            1000,
        )


# Random trees

METRICS = ("exec_micros", "float_ops", "run_count", "total_output_bytes")
numbers = st.one_of(st.just(0), st.integers(-(2**63), 2**63 - 1), st.integers(0, 300))
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@st.composite
def trees(draw):
    """Parents of rows in preorder; the first row is the only root."""
    depths = [0]
    for _ in range(draw(st.integers(0, 12))):
        depths.append(draw(st.integers(1, depths[-1] + 1)))
    chain: list[int] = []
    parents = []
    for row, depth in enumerate(depths):
        parents.append(chain[depth - 1] if depth else ROOT)
        chain[depth:] = [row]
    return parents


def columns_of(draw, size):
    def column(elements):
        return draw(st.lists(elements, min_size=size, max_size=size))

    return {
        **{key: column(numbers) for key in METRICS},
        "name": column(names),
        "devices": column(st.none() | st.sampled_from(["", "cpu:0", "gpu:0"])),
        "tensor_value": column(st.none() | st.integers(0, 3)),
        "shape": column(st.none() | st.tuples(st.integers(0, 300), numbers)),
    }


def plan_of(columns):
    devices = ["gpu:0", "", "cpu:0"]
    tensors = [pb.TFProfTensorProto(dtype=dtype).SerializeToString() for dtype in range(4)]
    shapes = [shape for shape in columns["shape"] if shape is not None]
    dims = [pb.TensorShapeProto(dim=[{"size": size}]).SerializeToString() for _, size in shapes]
    entries = {"key": ints(*(key for key, _ in shapes)), "value": Values(dims)}
    has_shape = ints(*(shape is not None for shape in columns["shape"]))
    stop = np.cumsum(has_shape)
    texts = [name.encode() for name in columns["name"]]
    ends = np.cumsum([len(text) for text in texts])
    return {
        **{key: ints(*columns[key]) for key in METRICS},
        "name": Texts(b"".join(texts), ends - [len(t) for t in texts], ints(*map(len, texts))),
        "devices": Values(
            devices, ints(*(-1 if d is None else devices.index(d) for d in columns["devices"]))
        ),
        "tensor_value": Values(
            tensors, ints(*(-1 if dtype is None else dtype for dtype in columns["tensor_value"]))
        ),
        "input_shapes": Rows(entries, stop - has_shape, stop),
    }


def message_of(columns, parents):
    """The same, field by field."""
    messages = {0: pb.GraphNodeProto()}
    for row, parent in enumerate(parents):
        message = messages[row] if row == 0 else messages[parent].children.add()
        messages[row] = message
        for key in ("name", *METRICS):
            setattr(message, key, columns[key][row])
        if columns["devices"][row] is not None:
            message.devices.append(columns["devices"][row])
        if columns["tensor_value"][row] is not None:
            message.tensor_value.SetInParent()
            message.tensor_value.dtype = columns["tensor_value"][row]
        if columns["shape"][row] is not None:
            key, size = columns["shape"][row]
            message.input_shapes[key].dim.add(size=size)
    return messages[0]


@given(data=st.data(), parents=trees())
def test_random_trees_have_the_bytes_that_protobuf_writes(data, parents):
    columns = columns_of(data.draw, len(parents))
    plan = plan_of(columns)
    expected = message_of(columns, parents).SerializeToString(deterministic=True)
    with pytest.MonkeyPatch.context() as patch:
        for pure in ("", "1"):
            patch.setenv("TFPROF_PURE", pure)
            encoded = encode_tree(pb.GraphNodeProto, plan, ints(*parents))
            assert encoded.data == expected


@needs_native
@given(data=st.data(), parents=trees())
def test_both_engines_place_rows_alike(data, parents):
    """Any rows may be messages or children by themselves; wrong orders are refused."""
    marks = st.sampled_from([None, None, ROOT, ELEMENT, LEFT_OUT])
    marked = [data.draw(marks) if row else None for row in range(len(parents))]
    where = ints(*(p if m is None else m for p, m in zip(parents, marked, strict=True)))
    columns = {"name": Values([data.draw(names) for _ in parents]), "run_count": where}
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for pure in ("", "1"):
            patch.setenv("TFPROF_PURE", pure)
            try:
                data_, starts = encode_tree(pb.GraphNodeProto, columns, where)
                found.append((data_, starts.tolist(), subtree_heights(where).tolist()))
            except ValueError as error:
                found.append((str(error), [], []))
    assert found[0] == found[1]
