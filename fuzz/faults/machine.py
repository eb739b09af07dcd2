"""Faults of the machine: each changes what a command is started with."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzz.faults.child import NOBODY
from fuzz.faults.trial import Surroundings

Change = Callable[[Surroundings], object]


class Fault(NamedTuple):
    """Something that is wrong with a machine."""

    name: str
    change: Change = lambda around: None
    at: str = ""
    """What ``hook/sitecustomize.py`` does; ``{half}`` is the middle of the command's operations."""
    needs: str = ""
    """A program that it needs."""
    is_fresh: bool = False
    """Whether Python's own beginning is part of it."""
    is_deaf: bool = False
    """Whether messages are lost."""
    is_of_one: bool = False
    """Whether only commands meet it that are alone: it hits pipes and sockets, too."""
    has_no_stdin: bool = False
    """Whether nothing comes from stdin."""


def _disk(
    *names: str, options: str = "", free: int | None = None, is_read_only: bool = False
) -> Change:
    """A disk of its own for some folders, perhaps with only so many bytes free, or read-only."""

    def change(around: Surroundings) -> None:
        for name in names:
            folder: Path = getattr(around, name)
            kept = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
            _mount("-t", "tmpfs", "-o", f"size=8m{options}", "tmpfs", folder)
            around.after.append(lambda folder=folder: _unmount(folder))
            for file, content in kept.items():
                (folder / file).write_bytes(content)
            if free is not None:
                _fill(folder / FILLER, free)
            if is_read_only:
                _mount("-o", "remount,ro", folder)

    return change


FILLER = "filler"
"""The file that takes the room of a full disk."""


def _mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", folder], check=False, stderr=subprocess.DEVNULL)


def _fill(path: Path, free: int) -> None:
    state = os.statvfs(path.parent)
    path.write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - free)))


def _variables(**values: str | None) -> Change:
    """Other variables of the environment; None is not set."""

    def change(around: Surroundings) -> None:
        for name, value in values.items():
            around.environment.pop(name, None)
            if value is not None:
                around.environment[name] = value

    return change


def _first(*step: object) -> Change:
    """A step of ``fuzz.faults.child``."""
    return lambda around: around.before.append(step)


def _all(*changes: Change) -> Change:
    return lambda around: [change(around) for change in changes]


def _given_away(around: Surroundings) -> None:
    for folder in (around.work, around.home, around.tmp):
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, NOBODY, NOBODY)


def _foreign_home(around: Surroundings) -> None:
    shutil.chown(around.home, 0, 0)
    around.home.chmod(0o555)


def _elsewhere(around: Surroundings) -> None:
    """Another working folder, which is removed before the command begins."""
    around.cwd = around.work.parent / "removed"
    around.cwd.mkdir()
    around.before.append(("remove_folder",))
    around.words = [_absolute(word, around.work) for word in around.words]


def _absolute(word: str, work: Path) -> str:
    head, equals, tail = word.rpartition("outfile=")
    is_output = tail.startswith(("out.", "old.duckdb", "logs", "copied"))
    return f"{head}{equals}{work / tail}" if is_output else word


def _instead(make: Callable[[Path], object], name: str = "odd") -> Change:
    """Another kind of file in the place of each input that is named."""

    def change(around: Surroundings) -> None:
        odd = around.work.parent / "odd" / name
        odd.parent.mkdir()
        writer = make(odd)
        if isinstance(writer, subprocess.Popen):
            around.after.append(writer.wait)
            around.after.append(writer.kill)
        around.words = [str(odd) if str(around.inputs) in word else word for word in around.words]

    return change


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # whose name may have 107 bytes


def _pipe(path: Path) -> subprocess.Popen[bytes]:
    """A pipe with a name, whose writer leaves without a byte when it has a reader."""
    os.mkfifo(path)
    return subprocess.Popen(["sh", "-c", ': > "$0"', path])


def _refused(calls: str, error: str, when: str) -> Change:
    """The system refuses calls from some call on, of any file; imports make none of them."""

    def change(around: Surroundings) -> None:
        around.wrapper = [
            "strace", "-f", "-qqq", "-o", os.devnull, "-e", f"trace={calls}",
            "-e", f"inject={calls}:error={error}:when={when}",
        ]  # fmt: skip

    return change


def _link(target: str) -> Change:
    return _instead(lambda path: path.symlink_to(target))


_WRITES = "write,pwrite64,writev,ftruncate,fallocate"
_CALLS = f"{_WRITES},fsync,rename,renameat,mkdir"
_NO_UTF8 = _variables(LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
_UNPRIVILEGED = _all(_given_away, _first("give_up_root"))

FAULTS = (
    Fault("full disk", _disk("work", free=0), needs="mount"),
    Fault("disk full after 8 kB", _disk("work", free=8192), needs="mount"),
    Fault("all disks full", _disk("work", "home", "tmp", free=0), needs="mount"),
    Fault("files of at most 4 kB", _first("limit", "FSIZE", 4096)),
    Fault("files of no byte", _first("limit", "FSIZE", 0), is_deaf=True),
    Fault("no inodes", _disk("work", options=",nr_inodes=4"), needs="mount"),
    Fault("read-only disk", _disk("work", is_read_only=True), needs="mount"),
    Fault("all disks read-only", _disk("work", "home", "tmp", is_read_only=True), needs="mount"),
    Fault("disk unmounted halfway", _disk("work"), "{half}:sh:umount -l {work}", "mount"),
    Fault("folder removed halfway", at="{half}:sh:rm -rf {work}"),
    Fault("EIO at all calls", _refused(_CALLS, "EIO", "1+"), needs="strace", is_fresh=True,
          is_deaf=True, is_of_one=True),
    Fault("EIO from the tenth call", _refused(_CALLS, "EIO", "10+"), needs="strace", is_fresh=True,
          is_deaf=True, is_of_one=True),
    Fault("ESTALE from the fifth", _refused(_CALLS, "ESTALE", "5+"), needs="strace", is_fresh=True,
          is_deaf=True, is_of_one=True),
    Fault("ENOSPC at the second write", _refused(_WRITES, "ENOSPC", "2+"), needs="strace",
          is_fresh=True, is_deaf=True, is_of_one=True),
    Fault("inputs cut halfway", at="{half}:sh:truncate -s 100 {inputs}/*.*"),
    Fault("inputs removed halfway", at="{half}:sh:rm -rf {inputs}/*"),
    Fault("inputs grow halfway", at="{half}:sh:for f in {inputs}/*.*; do echo >> $f; done"),
    Fault("input: folder", _instead(Path.mkdir)),
    Fault("input: empty file", _instead(Path.touch)),
    Fault("input: socket", _instead(_socket)),
    Fault("input: pipe without data", _instead(_pipe)),
    Fault("input: loop of links", _link("odd")),
    Fault("input: link to nowhere", _link("nowhere")),
    Fault("input: /dev/null", _link("/dev/null")),
    Fault("input: memory of a process", _link("/proc/self/mem")),
    Fault("input: name of 255 bytes", _instead(Path.touch, "n" * 255)),
    Fault("input: name that is not text", _instead(Path.touch, os.fsdecode(b"odd\xff\xfe\n\x1b["))),
    Fault("no HOME", _variables(HOME=None)),
    Fault("HOME is not a folder", _variables(HOME="/dev/null")),
    Fault("HOME does not exist", _variables(HOME="/nonexistent/home")),
    Fault("home of another user", _all(_UNPRIVILEGED, _foreign_home)),
    Fault("user without name and HOME", _all(_UNPRIVILEGED, _variables(HOME=None))),
    Fault("TMPDIR does not exist", _variables(TMPDIR="/nonexistent/tmp")),
    Fault("working folder removed", _elsewhere, is_fresh=True),
    Fault("LC_ALL=POSIX", _variables(LC_ALL="POSIX"), is_fresh=True),
    Fault("ASCII, no UTF-8 mode", _NO_UTF8, is_fresh=True),
    Fault("PYTHONIOENCODING=ascii", _variables(PYTHONIOENCODING="ascii"), is_fresh=True),
    Fault("TERM, COLUMNS are nonsense", _variables(TERM="???", COLUMNS="-7", LINES="x"),
          is_fresh=True),
    Fault("terminal of 1 column", _all(_variables(TERM="xterm", PAGER="cat"),
                                       _first("take_terminal", 1, 1, False)), is_fresh=True,
          has_no_stdin=True),
    Fault("terminal of no size", _all(_variables(TERM="xterm", PAGER="cat"),
                                      _first("take_terminal", 0, 0, False)), is_fresh=True,
          has_no_stdin=True),
    Fault("terminal that has gone", _first("take_terminal", 80, 24, True), is_fresh=True,
          is_deaf=True, has_no_stdin=True),
    Fault("stdin closed", _first("close", 0), is_fresh=True, has_no_stdin=True),
    Fault("stdout closed", _first("close", 1), is_fresh=True),
    Fault("stderr closed", _first("close", 2), is_fresh=True, is_deaf=True),
    Fault("all streams closed", _first("close", 0, 1, 2), is_fresh=True, is_deaf=True,
          has_no_stdin=True),
    Fault("stdout: broken pipe", _first("break_pipe", 1), is_fresh=True),
    Fault("stderr: broken pipe", _first("break_pipe", 2), is_fresh=True, is_deaf=True),
    Fault("stdout: /dev/full", _first("redirect", 1, "/dev/full"), is_fresh=True),
    Fault("stderr: /dev/full", _first("redirect", 2, "/dev/full"), is_fresh=True, is_deaf=True),
    Fault("16 descriptors", _first("limit", "NOFILE", 16), is_fresh=True),
    Fault("8 descriptors", _first("limit", "NOFILE", 8)),
    Fault("350 MB of addresses", _first("limit", "AS", 350 << 20), is_fresh=True),
    Fault("8 MB more of addresses", _first("limit_addresses", 8 << 20)),
    Fault("60 MB more of addresses", _first("limit_addresses", 60 << 20)),
    Fault("no more processes, threads", _all(_given_away, _first("give_up_root", 1))),
    Fault("clock jumps by an hour", at="0:clock:3600"),
    Fault("clock jumps back a day", at="0:clock:-86400"),
    Fault("clock jumps by 200 years", at="0:clock:6.3e9"),
)  # fmt: skip
