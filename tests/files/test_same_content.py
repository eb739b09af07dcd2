"""Files that have the same bytes as another one."""

from pathlib import Path

from tfprof.files import same_content as module
from tfprof.files.same_content import same_content

LARGE = 50_000


def written(folder, **contents):
    paths = []
    for name, data in contents.items():
        paths.append(folder / name)
        paths[-1].write_bytes(data)
    return paths


def test_copies_have_the_first_file_of_their_content(tmp_path):
    a, b, c, d, e = written(tmp_path, a=b"x" * 9, b=b"y" * 9, c=b"x" * 9, d=b"y" * 8, e=b"x" * 9)
    assert same_content([a, b, c, d, e]) == {c: a, e: a}
    assert same_content([e, d, c, b, a]) == {c: e, a: e}


def test_empty_files_and_what_cannot_be_read_are_not_copies(tmp_path):
    files = written(tmp_path, a=b"", b=b"")
    assert same_content([*files, tmp_path / "gone", tmp_path / "gone", Path("a\0b")]) == {}


def test_what_differs_between_the_samples_is_found(tmp_path):
    other = bytearray(LARGE)
    other[LARGE // 4] = 1
    a, b, c = written(tmp_path, a=bytes(LARGE), b=bytes(other), c=bytes(LARGE))
    assert same_content([a, b, c]) == {c: a}


def test_files_that_differ_in_size_or_samples_are_not_read_whole(tmp_path, monkeypatch):
    def no_digest(file):
        raise AssertionError(file)

    monkeypatch.setattr(module, "_digest", no_digest)
    files = written(tmp_path, a=b"a" * LARGE, b=b"b" * LARGE, c=b"a" * (LARGE + 1))
    assert same_content(files) == {}
