"""The machine and the process as inputs of the checks; tests replace them."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_RUN_SECONDS = 15
"""``nvidia-smi`` takes seconds where the driver is not kept loaded."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A machine and a process.

    Attributes:
        root: Folder that stands for ``/``.
        variables: Environment variables.
        search_path: Folders in which Python looks for packages.
        python: Version of Python.
        system: Name of the operating system, ``Linux``.
        machine: Type of the processor, ``x86_64``.
        protobuf_implementation: ``upb``, ``cpp`` or ``python``; empty if it cannot be imported.
        has_native_reader: Whether tfprof's own compiled reader was built.
        run: Runs a program and returns its output; None if it is missing or fails.
        can_use: Whether this process may read and write a file.
        import_problem: Imports a module and returns why that fails; empty: it does not.
        timeout_seconds: How long a server may take to answer.
    """

    root: Path
    variables: Mapping[str, str]
    search_path: tuple[Path, ...]
    python: str
    system: str
    machine: str
    protobuf_implementation: str
    run: Callable[[Sequence[str]], str | None]
    can_use: Callable[[Path], bool]
    has_native_reader: bool = True
    import_problem: Callable[[str], str] = lambda module: ""
    timeout_seconds: float = 3.0

    @classmethod
    def current(cls) -> Environment:
        """This machine and this process."""
        import platform

        from tfprof.core.wire.compiled import native

        try:
            from google.protobuf.internal import api_implementation

            protobuf_implementation = api_implementation.Type()
        except Exception:  # check_core reports it
            protobuf_implementation = ""
        return cls(
            root=Path("/"),
            variables=dict(os.environ),
            search_path=tuple(Path(folder or ".").absolute() for folder in sys.path),
            python=platform.python_version(),
            system=platform.system(),
            machine=platform.machine(),
            protobuf_implementation=protobuf_implementation,
            run=_run,
            can_use=lambda path: os.access(path, os.R_OK | os.W_OK),
            has_native_reader=native is not None,
            import_problem=_import_problem,
        )

    def path(self, name: str) -> Path:
        """Path of a file of the machine, given by its absolute name."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """Content of a small file of the machine; None if it is missing or not readable."""
        try:
            return self.path(name).read_text("utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    def names(self, folder: str, pattern: str) -> list[str]:
        """Absolute names of the files in a folder, sorted; none if it cannot be read."""
        try:
            names = sorted(path.name for path in self.path(folder).glob(pattern))
        except OSError:
            return []
        return [f"{folder.rstrip('/')}/{name}" for name in names]

    def exists(self, name: str) -> bool:
        """Whether a file of the machine exists; False if the process may not see it."""
        try:
            return self.path(name).exists()
        except (OSError, ValueError):
            return False

    def program(self, name: str) -> str | None:
        """Path of a program; None if it is not on ``PATH``."""
        return shutil.which(name, path=self.variables.get("PATH", os.defpath))


def _import_problem(module: str) -> str:
    """Why a module cannot be imported: the first line of the first error in the chain."""
    try:
        importlib.import_module(module)
    except Exception as error:  # whatever a broken package raises
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        lines = str(first).strip().splitlines()
        return f"{type(first).__name__}: {lines[0]}" if lines else type(first).__name__
    return ""


def _run(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_RUN_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
