"""Where captures are written: into a run that appears at once, or to the servers' disks."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from tfprof.errors import InputError, UsageError
from tfprof.files.local_folder import local_folder
from tfprof.files.remote.path import AnyPath, RemotePath
from tfprof.options.captures import is_folder_name
from tfprof.remote.addresses import Address
from tfprof.remote.requests import Received
from tfprof.remote.troubles import ServerError

P = TypeVar("P", Path, RemotePath, AnyPath)

_PROFILES = ("plugins", "profile")
_ENDING = ".xplane.pb"
_UNFINISHED = ".part"
_REMEDY = "; or, of 'tfprof capture', let the servers write there with --on-server"
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MOST_OF_ONE_NAME = 1000


def new_run_name(logdir: str | Path, run: str | None, *, on_server: bool = False) -> str:
    """The name of a new run: the given one, or the time as TensorFlow writes it.

    Args:
        logdir: The log folder.
        run: The name; None for the time.
        on_server: The servers write the run, to a log folder that this machine may not reach.

    Raises:
        UsageError: The name is invalid, the run exists, or the folder is on another machine.
    """
    if run is None:
        return time.strftime("%Y_%m_%d_%H_%M_%S")
    if not is_folder_name(run):
        raise UsageError(f"{run!r} cannot be the name of a run; give the name of one folder")
    if on_server and _REMOTE.match(os.fspath(logdir)):
        return run
    if _folder_of(logdir, run).exists():
        raise UsageError(f"{_folder_of(logdir, run)}: there is such a run; choose another name")
    return run


def _folder_of(logdir: str | Path, run: str) -> Path:
    return local_folder(logdir, _REMEDY).joinpath(*_PROFILES, run)


def runs_of(logdir: P) -> P:
    """The folder of the runs in a log folder, on this machine or in a bucket."""
    return logdir.joinpath(*_PROFILES)


class Staging:
    """Collects files in a hidden folder, which becomes the run; a context manager.

    If the context is left without ``finish``, the log folder is as it was before.

    Args:
        logdir: The log folder, which is made if need be.
        run: Name of the run.

    Raises:
        UsageError: The folder is an address of another machine.
        InputError: The folder cannot be written.
    """

    def __init__(self, logdir: str | Path, run: str) -> None:
        self._run = _folder_of(logdir, run)
        self._made: list[Path] = []
        self._here = self._run.with_name(f".{run[:100]}.{secrets.token_hex(8)}.tmp")

    def __enter__(self) -> Staging:
        try:
            above = takewhile(lambda folder: not folder.exists(), self._here.parents)
            self._made = [*reversed([*above]), self._here]
            for folder in self._made:
                folder.mkdir(exist_ok=folder != self._here)
            probe = self._here / "probe"
            probe.write_bytes(b"0")
            probe.unlink()
        except BaseException as error:  # also of a signal
            self._clear()
            if isinstance(error, (OSError, ValueError)):
                raise _unwritable(self._run.parent, error) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def of_server(self, address: Address) -> None:
        """Nothing: the captures come in the answers."""

    def keep(self, address: Address, capture: Received) -> str:
        """Write one worker's capture; returns the name of the file.

        Raises:
            ServerError: It cannot be written, or the answer has none.
        """
        if not capture.parts:
            raise ServerError(
                "the server sent no capture back: its TensorFlow is too old for that. Let it "
                "write the file with --on-server, to a log folder that it can reach",
                may_pass=False,
            )
        name = f"{address.file_stem}{_ENDING}"
        unfinished = self.unfinished(name)
        try:
            with unfinished.open("wb") as stream:
                stream.writelines(capture.parts)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            text = f"its capture cannot be written: {error.strerror or error}"
            raise ServerError(text, may_pass=False) from error
        return name

    def unfinished(self, name: str) -> Path:
        """Where a file of the run lies until ``finish``.

        No program takes a folder of this name for a run, even if this process is killed.
        """
        return self._here / f"{name}{_UNFINISHED}"

    def note(self, name: str, text: str) -> None:
        """Write a text beside the captures.

        Raises:
            OSError: It cannot be written.
        """
        self.unfinished(name).write_text(text, "utf-8")

    def finish(self, *, is_named: bool) -> str:
        """Make the run appear; returns its folder.

        Args:
            is_named: Whether the user chose the name; otherwise another one is taken if a run of
                this name has appeared meanwhile.

        Raises:
            UsageError: There is such a run by now.
            InputError: The folder cannot be written.
        """
        try:
            for file in sorted(self._here.iterdir()):
                file.rename(file.with_suffix(""))
        except OSError as error:
            raise _unwritable(self._here, error) from error
        numbers = range(1, 1 if is_named else _MOST_OF_ONE_NAME)
        others = (self._run.with_name(f"{self._run.name}_{number}") for number in numbers)
        for target in (self._run, *others):
            if target.exists():
                continue
            try:
                self._here.rename(target)
            except OSError as error:
                if target.exists():  # made between the look and the move
                    continue
                raise _unwritable(target, error) from error
            self._made.clear()
            return str(target)
        raise UsageError(f"{self._run}: there is such a run by now; choose another name")

    def _clear(self) -> None:
        """Remove the folders that were made, unless others use them by now."""
        shutil.rmtree(self._here, ignore_errors=True)
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()
        self._made.clear()


class ServersFolder:
    """Lets each server write its file; the same methods as those of ``Staging``."""

    def __init__(self, logdir: str | Path, run: str) -> None:
        text = os.fspath(logdir)
        root = text.rstrip("/") if _REMOTE.match(text) else str(Path(text).absolute())
        self._root, self._run = "/".join((root, *_PROFILES)), run

    def __enter__(self) -> ServersFolder:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to clear: the servers write."""

    def of_server(self, address: Address) -> tuple[str, str, str]:
        """The folder of runs, the run, and the stem of the file's name."""
        return self._root, self._run, address.file_stem

    def keep(self, address: Address, capture: Received) -> str:
        """The name of the file that the server has written."""
        return f"{address.file_stem}{_ENDING}"

    def finish(self, *, is_named: bool) -> str:
        """The folder of the run."""
        return f"{self._root}/{self._run}"


def _unwritable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{path}: cannot be written: {reason}. Give another log folder")
