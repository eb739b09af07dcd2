import shutil

import pytest

from tests.files.checkpoint.recorded.make import FOLDER
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError, UsageError
from tfprof.files.checkpoint import open_checkpoint


def path_of(path):
    return open_checkpoint(path).path


def copied(folder, name, as_name=None):
    """Copy the files of a recorded checkpoint, under another name."""
    folder.mkdir(exist_ok=True)
    for path in FOLDER.glob(name + "*"):
        if path.name[len(name) :].startswith((".index", ".data", "-0")) or path.name == name:
            shutil.copy(path, folder / path.name.replace(name, as_name or name))
    return folder


def test_a_prefix_or_any_of_its_files():
    prefix = FOLDER / "sharded-12"
    for path in (prefix, str(prefix), f"{prefix}.index", f"{prefix}.data-00001-of-00003"):
        assert path_of(path) == prefix


def test_files_of_the_first_format():
    assert path_of(FOLDER / "types.v1") == FOLDER / "types.v1"
    names = [v.name for v in open_checkpoint(FOLDER / "old-3").variables]
    assert names == ["only0", "only1", "parts"]
    for name in ("old-3-?????-of-00002", "old-3-00001-of-00002"):
        assert [v.name for v in open_checkpoint(FOLDER / name).variables] == names


def test_missing_files_of_the_first_format(tmp_path):
    folder = copied(tmp_path / "f", "old-3")
    (folder / "old-3-00000-of-00002").unlink()
    found = open_checkpoint(folder / "old-3")
    assert found.missing_files == (folder / "old-3-00000-of-00002",)
    assert found.read("only1").tolist() == [1, 2]
    with pytest.raises(InputError, match=r"some are in .*old-3-00000-of-00002, which is not there"):
        found.read("parts")


def test_the_only_checkpoint_of_a_folder(tmp_path):
    folder = copied(tmp_path / "f", "objects")
    (folder / "events.out").write_text("something else")
    assert path_of(folder) == folder / "objects"
    assert path_of(copied(tmp_path / "g", "types.v1")) == tmp_path / "g" / "types.v1"


def test_the_highest_number_in_a_folder(tmp_path):
    for number in (9, 100, 20):
        copied(tmp_path / "f", "objects", f"model.ckpt-{number}")
    assert path_of(tmp_path / "f") == tmp_path / "f" / "model.ckpt-100"


def test_several_checkpoints_in_a_folder(tmp_path):
    copied(tmp_path / "f", "objects", "a-1")
    copied(tmp_path / "f", "objects", "b-2")
    with pytest.raises(
        UsageError, match="several checkpoints in this folder; give one of a-1, b-2"
    ):
        path_of(tmp_path / "f")


def test_the_state_file(tmp_path):
    folder = tmp_path / "f"
    for number in (1, 2):
        copied(folder, "objects", f"m-{number}")
    state = folder / "checkpoint"
    windows = r'"C:\\on\\another\\machine\\m-1"'
    for text in ('"m-1"', f'"{folder}/m-1"', '"/on/another/machine/m-1"', windows):
        state.write_text(f"model_checkpoint_path: {text}\nall_model_checkpoint_paths: 'm-2'\n")
        assert path_of(folder) == path_of(state) == folder / "m-1"
    state.write_text('model_checkpoint_path: "run/gone-3"\n')
    said = r"f/checkpoint: .* missing: run/gone-3\. Give one that exists: m-1, m-2$"
    with pytest.raises(InputError, match=said):
        path_of(folder)


def test_the_state_file_alone(tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "gone-3"\n')
    with pytest.raises(InputError, match=r"missing: gone-3\. Give the checkpoint itself$"):
        path_of(tmp_path)


def test_the_state_file_of_shards_of_the_first_format(tmp_path):
    folder = copied(tmp_path / "f", "old-3")
    (folder / "checkpoint").write_text('model_checkpoint_path: "old-3-?????-of-00002"\n')
    assert len(open_checkpoint(folder).variables) == 3


def test_a_checkpoint_that_is_called_checkpoint(tmp_path):
    folder = copied(tmp_path / "f", "types.v1", "checkpoint")
    assert open_checkpoint(folder / "checkpoint").format == "V1"


@pytest.mark.parametrize("text", ["", "all_model_checkpoint_paths: 'x'"])
def test_a_state_file_without_content(tmp_path, text):
    (tmp_path / "checkpoint").write_text(text)
    with pytest.raises(InputError, match="names no checkpoint"):
        path_of(tmp_path)


@pytest.mark.parametrize("data", [b"model_checkpoint_path: ", b"\xff\xfe", b"hello"])
def test_a_state_file_that_is_none(tmp_path, data):
    (tmp_path / "checkpoint").write_bytes(data)
    with pytest.raises(MalformedProfileError, match="not the state of checkpoints"):
        path_of(tmp_path)


def test_a_saved_model(tmp_path):
    copied(tmp_path / "m", "objects")
    copied(tmp_path / "m" / "variables", "objects", "variables")
    assert path_of(tmp_path / "m") == tmp_path / "m" / "variables" / "variables"
    assert path_of(tmp_path / "m" / "variables") == tmp_path / "m" / "variables" / "variables"


def test_shards_without_an_index(tmp_path):
    folder = copied(tmp_path / "f", "objects")
    (folder / "objects.index").unlink()
    shard = folder / "objects.data-00000-of-00001"
    for path in (shard, folder / "objects"):
        with pytest.raises(InputError, match=f"{shard.name}: .* no objects.index beside it"):
            path_of(path)


def test_a_name_without_its_number(tmp_path):
    for number in range(10, 17):
        copied(tmp_path, "objects", f"model.ckpt-{number}")
    said = r"no such checkpoint.*Did you mean model\.ckpt-10, .*, model\.ckpt-14, …\?$"
    with pytest.raises(InputError, match=said):
        path_of(tmp_path / "model.ckpt")
    with pytest.raises(InputError, match=r"Did you mean model\.ckpt-12\?$"):
        path_of(tmp_path / "modl.ckpt-12")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("w.h5", b"\x89HDF\r\n\x1a\n" + b"\x00" * 100, "It looks like an HDF5 file"),
        ("w", b"\x00" * 200_000, "not a TensorFlow checkpoint"),
        ("w.index", b"\x00" * 100, "does not end as a table does"),
    ],
)
def test_other_files(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnknownFormatError, match=said):
        path_of(tmp_path / name)


def test_nothing_there(tmp_path):
    for path, said in (
        (tmp_path / "model", r"model: there is no such checkpoint: neither .* nor model\.index"),
        (tmp_path / "no" / "model", "there is no such checkpoint"),
        (tmp_path, "there is no checkpoint in this folder"),
        ("a\x00b", "cannot be read|there is no such checkpoint"),
        (tmp_path / ("x" * 300), "cannot be read"),
    ):
        with pytest.raises(InputError, match=said):
            path_of(path)
    with pytest.raises(UsageError, match="got int"):
        path_of(5)
