import shutil

import numpy as np
import pytest

from tests.files.checkpoint.recorded.make import FOLDER, IN_V1, NUMBERS, PARTS, TEXTS
from tests.files.checkpoint.tables import entry, strings, write_bundle
from tfprof.core.wire import messages as pb
from tfprof.errors import InputError, MalformedProfileError, UsageError
from tfprof.files.checkpoint import CheckpointVariable, open_checkpoint


@pytest.mark.parametrize(("name", "types"), [("types", tuple(NUMBERS)), ("types.v1", IN_V1)])
def test_every_type_as_tensorflow_wrote_it(name, types):
    found = open_checkpoint(FOLDER / name)
    for dtype in types:
        variable = found.find(dtype)
        assert (variable.dtype, variable.shape) == (dtype, (2, 2))
        values = found.read(dtype)
        expected = np.array(NUMBERS[dtype], values.dtype).reshape(2, 2)
        np.testing.assert_array_equal(values, expected)
    assert found.read("string").tolist() == [[text] for text in TEXTS]
    assert found.read("scalar").shape == ()
    assert found.read("scalar") == 5


@pytest.mark.parametrize("name", ["sharded-12", "types.v1", "old-3"])
def test_partitioned_variables_as_tensorflow_wrote_them(name):
    assert open_checkpoint(FOLDER / name).read("parts").tolist() == PARTS


def test_names_in_the_program():
    found = open_checkpoint(FOLDER / "objects")
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    assert found.variables == (
        CheckpointVariable(f"model/bias{suffix}", "float32", (3,), 12, "dense/bias", 1),
        CheckpointVariable(f"model/kernel{suffix}", "float32", (2, 3), 24, "dense/kernel", 1),
        CheckpointVariable(f"step{suffix}", "int64", (), 8, "step", 9),
    )
    for name in ("dense/kernel", "dense/kernel:0", "model/kernel", f"model/kernel{suffix}"):
        assert found.find(name).short_name == "model/kernel"
    assert found.find("model/kernel").n_values == 6
    assert found.read("dense/kernel:0").tolist() == [[np.float32(1) / 3] * 3] * 2
    assert found.find("_CHECKPOINTABLE_OBJECT_GRAPH") is None
    assert repr(found) == f"<Checkpoint {str(FOLDER / 'objects')!r}: 3 variables, V2>"


def test_a_name_that_is_not_there():
    found = open_checkpoint(FOLDER / "objects")
    assert found.find("dense") is None
    with pytest.raises(UsageError, match=r"objects: there is no variable 'dense' in this"):
        found.read("dense")


def with_object_graph(prefix, graph):
    stored, checked = strings(graph)
    entries = {name: entry(1, [], b"1234", len(stored)) for name in ("a", "b", "c")}
    entries["_CHECKPOINTABLE_OBJECT_GRAPH"] = entry(7, [], stored, checked=checked)
    write_bundle(prefix, entries, stored + b"1234")
    return open_checkpoint(prefix)


def test_a_name_in_the_program_that_two_have_is_the_name_of_none(tmp_path):
    names = (("a", "same"), ("b", "same"), ("c", "b"))
    graph = pb.TrackableObjectGraph(
        nodes=[{"attributes": [{"checkpoint_key": key, "full_name": name}]} for key, name in names]
    )
    found = with_object_graph(tmp_path / "m", graph.SerializeToString())
    assert [variable.full_name for variable in found.variables] == ["same", "same", "b"]
    assert found.find("same") is None
    assert found.find("b").name == "b"  # keys win


def test_damaged_names_in_the_program(tmp_path):
    found = with_object_graph(tmp_path / "m", b"\xff\xff")
    with pytest.raises(MalformedProfileError, match="_CHECKPOINTABLE_OBJECT_GRAPH"):
        _ = found.variables
    recovered = open_checkpoint(tmp_path / "m", recover=True)
    assert [(variable.name, variable.full_name) for variable in recovered.variables] == [
        ("a", ""), ("b", ""), ("c", ""),
    ]  # fmt: skip
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in recovered.damage
    assert recovered.read("a").tobytes() == b"1234"


def test_without_its_shard_the_names_in_the_program_are_not_known(tmp_path):
    shutil.copy(FOLDER / "objects.index", tmp_path)
    found = open_checkpoint(tmp_path)
    assert [variable.full_name for variable in found.variables] == ["", "", ""]
    assert found.missing_files == (tmp_path / "objects.data-00000-of-00001",)
    with pytest.raises(InputError, match="its values cannot be read"):
        found.read("model/bias")


@pytest.mark.parametrize(
    ("name", "step"), [("objects.index", 1), ("types.v1", 13), ("old-3-00000-of-00002", 1)]
)
def test_damage_anywhere_is_an_error_of_ours_or_harmless(tmp_path, name, step):
    original = (FOLDER / name).read_bytes()
    for path in FOLDER.iterdir():
        if path.suffix != ".py" and path.is_file():
            shutil.copy(path, tmp_path)
    prefix = tmp_path / name.removesuffix(".index")
    expected = contents(prefix)
    for place in range(0, len(original), step):
        for data in (original[:place], flipped(original, place)):
            (tmp_path / name).write_bytes(data)
            try:
                assert contents(prefix) == expected
            except InputError as error:
                assert str(tmp_path) in str(error)


def test_damaged_values_are_always_noticed(tmp_path):
    for path in FOLDER.glob("types.[di]*"):
        shutil.copy(path, tmp_path)
    shard = tmp_path / "types.data-00000-of-00001"
    original = shard.read_bytes()
    for place in range(len(original)):
        shard.write_bytes(flipped(original, place))
        with pytest.raises(MalformedProfileError, match=r"types: variable \w+: .*damaged"):
            contents(tmp_path / "types")


def flipped(data, place):
    changed = bytearray(data)
    changed[place] ^= 1 << place % 8
    return bytes(changed)


def contents(path):
    found = open_checkpoint(path)
    return {v.name: (v.dtype, repr(found.read(v.name).tolist())) for v in found.variables}
