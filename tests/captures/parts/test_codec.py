"""Facts as bytes: round trips, and errors for damage."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.captures.events.ops.device_ops import DeviceOp, DeviceOps, OpKey, Traffic
from tfprof.captures.events.timeline.op_names import OpKind
from tfprof.captures.facts.environment import Environment
from tfprof.captures.parts import codec
from tfprof.captures.parts.codec import decode, encode
from tfprof.errors import MalformedProfileError

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.sampled_from(OpKind)
    | st.builds(Environment, st.text(max_size=3), st.text(max_size=3), *[st.integers(0, 9)] * 3)
    | st.builds(OpKey, st.none() | st.integers(0, 2**63), st.text(max_size=3)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(-5, 5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
@settings(max_examples=150, deadline=None)
def test_what_goes_in_comes_out(value):
    data = encode(value)
    assert same(decode(data), value)
    assert encode(decode(data)) == data


def same(one, other):
    """Whether values are equal and have the same types: 1, 1.0 and True differ."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(map(str, one)) == list(map(str, other)) and all(
            same(a, b) for a, b in zip(one.values(), other.values(), strict=True)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.bool_, np.uint8, "<U3"])
@pytest.mark.parametrize("shape", [(0,), (5,), (3, 2), (2, 0)])
def test_arrays_keep_type_and_shape(dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    one, other = decode(encode([array, array[:1]]))
    assert one.dtype == array.dtype and one.shape == shape and np.array_equal(one, array)
    assert np.array_equal(other, array[:1])


def test_records_within_records():
    inner = DeviceOp(OpKey(None, "add"), expression="add(a, b)")
    op = DeviceOp(OpKey(2**64 - 1, "fusion.1", "jit"), traffic=Traffic(3, 2, ((1, 2, 3),)),
                  children=(inner,))  # fmt: skip
    assert decode(encode(DeviceOps((op, inner), 7, 5))) == DeviceOps((op, inner), 7, 5)


def test_equal_records_take_little():
    many = [OpKey(number, f"fusion.{number % 10}", "jit_train") for number in range(1000)]
    assert len(encode(many)) < 3000


def test_words_stand_for_what_is_not_written():
    class Owner:
        pass

    owner = Owner()
    data = encode({"of": Owner(), "n": 1}, stands_for={Owner: "owner"})
    assert decode(data, stands_for={"owner": owner}) == {"of": owner, "n": 1}


class Foreign:
    pass


def test_only_facts_can_be_written():
    with pytest.raises(TypeError, match=r"no fact may hold tests.*Foreign"):
        encode([Foreign()])
    with pytest.raises(TypeError, match="array of"):
        encode(np.array([None, 1]))


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_refused(data):
    with pytest.raises(MalformedProfileError, match=r"partial results"):
        decode(data)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_bytes_are_refused(data):
    whole = encode({"a": [1, 2, 3], "b": ("x", 2.5), "c": np.arange(4)})
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(MalformedProfileError, match=r"partial results"):
        decode(bytes(changed))
    with pytest.raises(MalformedProfileError, match=r"partial results"):
        decode(whole[:place])


@pytest.mark.parametrize(
    "column",
    [
        {"no such kind": []},
        {"lists": [-1], "of": [1]},
        {"lists": [1 << 60, 1], "of": []},
        {"arrays": [["|O", [1], [None]]]},
        {"arrays": [["<U1000000000", [1], ["a"]]]},
        {"arrays": [["<i8", [2], [1]]]},
        {"records": "model.xspace:np", "of": {}, "rows": [0]},
        {"records": "events.ops.device_ops:OpKey", "of": {}, "rows": [0]},
        {"calls": "events.ops.device_ops:OpKey", "of": [[]]},
        {"enums": "run.memo:Memo", "of": [1]},
        {"words": ["unknown"]},
        [],
        7,
    ],
)
def test_made_up_bytes_are_refused(column):
    """Any bytes can have a valid checksum; no content may lead to another error."""
    content = codec.zlib.compress(json.dumps(column).encode())
    header = codec._HEADER.pack(codec.MAGIC, codec.VERSION, codec.zlib.crc32(content))
    with pytest.raises(MalformedProfileError, match="partial results"):
        decode(header + content)


def test_another_version_has_a_remedy(monkeypatch):
    data = encode(1)
    monkeypatch.setattr(codec, "VERSION", 3)
    with pytest.raises(MalformedProfileError, match="version 2, and this tfprof has version 3"):
        decode(data)


def test_other_fields_say_what_to_do(monkeypatch):
    data = encode(OpKey(1, "a"))
    monkeypatch.setattr(OpKey, "_fields", ("program_id", "name"))
    with pytest.raises(MalformedProfileError, match="OpKey has other fields"):
        decode(data)
