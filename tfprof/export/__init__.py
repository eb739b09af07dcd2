"""Captures and profiles in the formats of other programs, written piece by piece.

    >>> import tfprof, tfprof.export
    >>> tfprof.export.export("logs/", "trace.pftrace")  # doctest: +SKIP

``docs/outputs.md`` lists the formats.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.sql.database import Asked

__all__ = ["export"]


def export(
    source: Asked | Sequence[Asked],
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    table: str = "",
    overwrite: bool = True,
) -> None:
    """Write captured runs, profiles, or traces of other programs in another format.

    Args:
        source: Paths, captured runs or profilers; several only for tables.
        path: The file, written whole or not at all; packed if it ends in ``.gz``, ``.xz`` or
            ``.zst``.
        form: Name of the format, as for ``tfprof convert --to``; by default the ending of the file
            decides.
        table: For formats of tables, the name of the table.
        overwrite: Replace an existing file.

    Raises:
        UsageError: There is no such format, or the source cannot be written in it.
        InputError: The source cannot be read, or the file cannot be written.
        MissingDependencyError: A package that the format needs is not installed.
    """
    from tfprof.export.formats import chosen_format, export_chunks
    from tfprof.files.compressed_output import packed
    from tfprof.files.disk import write_file
    from tfprof.sql.database import opened_of

    name = os.fspath(path)
    chosen = chosen_format(form, name)
    asked: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    chunks = export_chunks(opened_of(asked), chosen, table=table, name=name)
    write_file(name, packed(chunks, name), overwrite=overwrite)
