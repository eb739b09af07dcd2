import numpy as np
import pytest

from tests.files.checkpoint.tables import table
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, MalformedProfileError
from tfprof.files.checkpoint.saved_slices import SavedSlices
from tfprof.files.checkpoint.slices import Slice

pytestmark = pytest.mark.slow


def described(name, type_, shape, *parts):
    return pb.SavedSliceMeta(
        name=name,
        type=type_,
        shape={"dim": [{"size": size} for size in shape]},
        slice=[
            {"extent": [{"start": s, "length": n} if n >= 0 else {} for s, n in part]}
            for part in parts or [[(0, -1)] * len(shape)]
        ],
    )


def written(path, described_, values):
    """Write a file: what is in it, and values by name and ranges."""
    meta = pb.SavedTensorSlices(meta=pb.SavedTensorSliceMeta(tensor=described_))
    rows = [(b"", meta.SerializeToString())]
    for (name, ranges), tensor in values.items():
        message = pb.SavedTensorSlices(data=pb.SavedSlice(name=name, data=tensor))
        rows.append((Slice(ranges).key(name), message.SerializeToString()))
    path.write_bytes(table(rows))
    return path


@pytest.mark.parametrize(
    ("type_", "tensor", "values"),
    [
        (1, pb.TensorProto(float_val=[0.5, -1]), [0.5, -1]),
        (2, pb.TensorProto(double_val=[0.1, 2]), [0.1, 2]),
        (3, pb.TensorProto(int_val=[-1, 2]), [-1, 2]),
        (4, pb.TensorProto(int_val=[255, 2]), [255, 2]),
        (7, pb.TensorProto(string_val=[b"a", b""]), [b"a", b""]),
        (8, pb.TensorProto(scomplex_val=[1, 2, 3, 4]), [1 + 2j, 3 + 4j]),
        (9, pb.TensorProto(int64_val=[2**40, -1]), [2**40, -1]),
        (10, pb.TensorProto(bool_val=[True, False]), [True, False]),
        (18, pb.TensorProto(dcomplex_val=[1, 2, 3, 4]), [1 + 2j, 3 + 4j]),
        (19, pb.TensorProto(half_val=[0x3C00, 0xC000]), [1, -2]),
        (17, pb.TensorProto(int_val=[65535, 0]), [65535, 0]),
        (11, pb.TensorProto(int_val=[-128, 0]), [-128, 0]),
    ],
)
def test_values_of_each_type(tmp_path, type_, tensor, values):
    path = written(
        tmp_path / "old", [described("v", type_, [2])], {("v", ((0, -1),)): tensor}
    )  # fmt: skip
    made = SavedSlices([path])
    assert made.format == "V1"
    assert made.read("v", verify=True).tolist() == values
    assert made.missing_files() == ()


def test_sizes(tmp_path):
    path = written(tmp_path / "old", [described("v", 1, [2, 3]), described("s", 7, [2])], {})
    tensors = SavedSlices([path]).tensors
    assert {name: tensor.n_bytes for name, tensor in tensors.items()} == {"v": 24, "s": None}


def test_parts_in_several_files_become_one(tmp_path):
    top, below = ((0, 1), (0, -1)), ((1, 1), (0, -1))
    paths = [
        written(
            tmp_path / name,
            [described("v", 1, [2, 2], part)],
            {("v", part): pb.TensorProto(float_val=values)},
        )
        for name, part, values in (("a", top, [1, 2]), ("b", below, [3, 4]))
    ]
    assert SavedSlices(paths).read("v", verify=True).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(
        MalformedProfileError, match="a: variable v: damaged: its parts are not all"
    ):
        SavedSlices(paths[:1]).read("v", verify=True)


def test_parts_that_overlap(tmp_path):
    parts = [((0, 2),), ((1, 2),), ((0, 0),)]
    values = {("v", part): pb.TensorProto(float_val=[1] * part[0][1]) for part in parts}
    path = written(tmp_path / "a", [described("v", 1, [4], *parts)], values)
    with pytest.raises(MalformedProfileError, match="variable v: damaged: its parts overlap"):
        SavedSlices([path]).read("v", verify=True)


def test_a_part_that_is_named_often_is_not_read_often(tmp_path):
    parts = [((0, 0),)] * 100_000
    path = written(tmp_path / "a", [described("v", 1, [0], *parts)], {})
    with pytest.raises(MalformedProfileError, match="do not fit"):
        SavedSlices([path]).read("v", verify=True)


def test_files_that_disagree(tmp_path):
    paths = [written(tmp_path / str(n), [described("v", 1, [n])], {}) for n in (1, 2)]
    with pytest.raises(MalformedProfileError, match="another file gives it another shape"):
        SavedSlices(paths)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "one of its parts is missing"),
        ({("v", ((0, -1),)): pb.TensorProto(float_val=[1])}, "number of values does not match"),
        ({("v", ((0, -1),)): pb.TensorProto(double_val=[1, 2])}, "number of values does not match"),
    ],
)
def test_values_that_are_not_there(tmp_path, values, problem):
    path = written(tmp_path / "old", [described("v", 1, [2])], values)
    with pytest.raises(MalformedProfileError, match=rf"old: variable v: damaged: .*{problem}"):
        SavedSlices([path]).read("v", verify=True)


def test_half_a_complex_number(tmp_path):
    tensor = pb.TensorProto(scomplex_val=[1, 2, 3])
    path = written(tmp_path / "old", [described("v", 8, [1])], {("v", ((0, -1),)): tensor})
    with pytest.raises(MalformedProfileError, match="number of values does not match"):
        SavedSlices([path]).read("v", verify=True)


def test_a_scalar_and_nothing(tmp_path):
    path = written(
        tmp_path / "old",
        [described("v", 3, []), described("w", 3, [0])],
        {("v", ()): pb.TensorProto(int_val=[4]), ("w", ((0, -1),)): pb.TensorProto()},
    )
    made = SavedSlices([path])
    assert made.read("v", verify=True) == np.int32(4)
    assert made.read("w", verify=True).shape == (0,)


def test_a_resource_is_named(tmp_path):
    path = written(tmp_path / "old", [described("v", 20, [])], {})
    with pytest.raises(InputError, match="old: variable v: values of type resource cannot be read"):
        SavedSlices([path]).read("v", verify=True)


def test_a_table_of_something_else(tmp_path):
    (tmp_path / "t").write_bytes(table([(b"a", b"")]))
    with pytest.raises(MalformedProfileError, match="does not list its tensors"):
        SavedSlices([tmp_path / "t"])
