"""Files that belong together appear together, or none does."""

import os

import pytest

from tfprof.errors import InputError, UsageError
from tfprof.files.together import written_together

pytestmark = pytest.mark.one_engine


def write(folder, *, content="new", overwrite=False, fails=False):
    with written_together(folder, overwrite=overwrite) as place:
        for name in ("a", "b"):
            (place / name).write_text(content)
        assert not folder.exists() or content not in [path.read_text() for path in files(folder)]
        if fails:
            raise KeyboardInterrupt


def files(folder):
    return [path for path in sorted(folder.iterdir()) if path.is_file()]


def content(folder):
    return {path.name: path.read_text() for path in files(folder)}


def test_a_new_folder_has_all_files_at_once(tmp_path):
    write(tmp_path / "above" / "run")
    assert content(tmp_path / "above" / "run") == {"a": "new", "b": "new"}
    assert [path.name for path in (tmp_path / "above").iterdir()] == ["run"]


def test_an_interrupt_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "above" / "run", fails=True)
    assert not [*tmp_path.iterdir()]


def test_an_interrupt_leaves_old_files(tmp_path):
    write(tmp_path / "run", content="old")
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "run", overwrite=True, fails=True)
    assert content(tmp_path / "run") == {"a": "old", "b": "old"}
    with pytest.raises(UsageError, match="exists already"):
        write(tmp_path / "run")
    assert content(tmp_path / "run") == {"a": "old", "b": "old"}
    write(tmp_path / "run", overwrite=True)
    assert content(tmp_path / "run") == {"a": "new", "b": "new"}
    assert len([*(tmp_path / "run").iterdir()]) == 2


@pytest.mark.skipif(os.name != "posix", reason="no such modes, and links need a privilege")
def test_links_and_modes_stay(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "kept").write_text("old")
    (tmp_path / "kept").chmod(0o640)
    (tmp_path / "run" / "a").symlink_to("../kept")
    write(tmp_path / "run", overwrite=True)
    assert (tmp_path / "run" / "a").is_symlink()
    assert (tmp_path / "kept").read_text() == "new"
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o640


def test_a_place_that_is_not_a_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "file" / "run")
