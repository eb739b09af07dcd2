"""Checks of checkpoints: are all files there?

Values are not read, as that may take long. ``tfprof checkpoint`` reads them and verifies their
checksums.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.core.text.units import human_memory
from tfprof.core.text.wording import plural
from tfprof.doctor.report import Check
from tfprof.errors import InputError, UsageError
from tfprof.files.checkpoint import open_checkpoint
from tfprof.files.remote.path import AnyPath


def check_checkpoint(path: AnyPath) -> Iterator[Check]:
    """Check a checkpoint, given as its prefix, one of its files or its folder."""
    try:
        checkpoint = open_checkpoint(path)
        variables = checkpoint.variables
    except UsageError as error:  # the folder holds several
        yield Check("checkpoint", "note", str(error).removeprefix(f"{path}: "))
        return
    except InputError as error:
        yield Check("checkpoint", "error", str(error).removeprefix(f"{path}: "))
        return
    summary = f"TensorFlow checkpoint {checkpoint.path.name}: {plural(len(variables), 'variable')}"
    if not variables:
        yield Check("checkpoint", "note", summary)
        return
    size = human_memory(sum(variable.n_bytes or 0 for variable in variables))
    yield Check("checkpoint", "ok", f"{summary}, {size}")
    missing = checkpoint.missing_files
    if missing:
        names = ", ".join(file.name for file in missing[:3]) + (", …" if len(missing) > 3 else "")
        yield Check(
            "checkpoint files",
            "error",
            f"{plural(len(missing), 'file')} missing: {names}; some values cannot be read",
            "Copy all files whose names begin with the checkpoint's.",
        )
