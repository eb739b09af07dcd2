"""Several files as one input: a checkpoint, a SavedModel, the folder of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_MOST_FILES = 2000


def packed(files: Mapping[str, bytes]) -> bytes:
    """Files by name as one input: a line with name and size before the content of each."""
    return b"".join(b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in files.items())


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of an input; what cannot be read as files is the content of the last one."""
    files: dict[str, bytes] = {}
    while data and len(files) < _MOST_FILES:
        head, newline, rest = data.partition(b"\n")
        name, _, size = head.rpartition(b" ")
        text = name.decode("utf-8", "replace").replace("\0", "")
        if not newline or not size.isdigit() or len(size) > 12 or not _is_plain(text):
            files["rest"] = data
            break
        files[text], data = rest[: int(size)], rest[int(size) :]
    return files


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    return len(parts) < 8 and all(0 < len(part.encode()) < 200 for part in parts) and not (
        {".", ".."} & set(parts)
    )  # fmt: skip


@contextmanager
def laid_out(path: Path) -> Iterator[Path]:
    """A folder with the files of an input, in the working folder; it is removed in the end."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        for file, content in unpacked(path.read_bytes()).items():
            place = folder / file
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            except OSError:  # two files of which one is the folder of the other
                continue
        yield folder
