"""Parts of the code view's page only: files and lines, and hidden frames of libraries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tfprof.core.columns.columns import BoolArray, Int64Array
from tfprof.core.columns.frames import Frame
from tfprof.core.columns.library_files import is_library_file
from tfprof.core.columns.tree import Tree
from tfprof.profiles.accounting.accounting import METRIC_ROW, Float64Array
from tfprof.ui.pages.source_lines import source_texts
from tfprof.ui.pages.tree_block import HiddenRows, Places
from tfprof.views.result import ViewTree


def library_rows(tree: ViewTree, rows: Int64Array) -> HiddenRows | None:
    """Rows of Python, TensorFlow, Keras and other installed packages.

    Args:
        tree: A code view.
        rows: Some of its rows, the root first, parents before their children.

    Returns:
        None if there are none, or nothing else.
    """
    frames = frames_of(tree, rows)
    is_library = {file: is_library_file(file) for file in {frame.file for frame in frames if frame}}
    hidden = np.array([frame is not None and is_library[frame.file] for frame in frames], np.bool_)
    if not hidden.any() or hidden[1:].all():
        return None
    return HiddenRows(hidden, "lines of libraries")


def with_hidden(parent: Int64Array, hidden: BoolArray, own: Float64Array) -> Float64Array:
    """Own costs where hidden rows add theirs to the next row above them that is shown.

    Args:
        parent: Row of the parent, shape (n,), -1 for the root.
        hidden: Rows that are hidden, shape (n,); the root is not.
        own: Own cost of each row, shape (n,); NaN where it has none.
    """
    above = Tree.from_parents(parent).nearest_marked_ancestor(~hidden)
    owner = np.where(hidden, above, np.arange(len(own)))
    has_own = ~np.isnan(own)
    sums = np.zeros(len(own))
    np.add.at(sums, owner[has_own], own[has_own])
    counts = np.bincount(owner[has_own], minlength=len(own))
    return np.where((counts > 0) & ~hidden, sums, np.nan)


def own_lines(tree: ViewTree, metric: str) -> list[tuple[str, int]]:
    """Own cost of each line, over all its calls; the costliest first.

    Lines of libraries count for the line of the user's that leads to them.

    Args:
        tree: A code view.
        metric: One of the metrics, such as ``exec_micros``.
    """
    own = tree.own[METRIC_ROW[metric]].astype(np.float64)
    rows = np.arange(len(own), dtype=np.int64)
    hidden = library_rows(tree, rows)
    if hidden is not None:
        own = np.nan_to_num(with_hidden(tree.parent, hidden.rows, own))
    sums: dict[str, int] = {}
    for row in np.flatnonzero(own[1:]).tolist():
        name = tree.names[row + 1]
        sums[name] = sums.get(name, 0) + int(own[row + 1])
    return sorted(sums.items(), key=lambda each: (-each[1], each[0]))


def code_places(
    tree: ViewTree, rows: Int64Array, weights: Int64Array, roots: Sequence[Path] = ()
) -> Places:
    """Files and lines of rows, and the lines' texts where they can be read.

    Args:
        tree: A code view.
        rows: Some of its rows.
        weights: Weight of each row, shape as ``rows``: the texts of heavy ones come first.
        roots: Folders whose files may be read; see ``source_lines``.
    """
    frames = frames_of(tree, rows)
    files = sorted({frame.file for frame in frames if frame is not None})
    place_of = {path: place for place, path in enumerate(files)}
    heavy = [frames[at] for at in np.argsort(-weights, kind="stable").tolist()]
    distinct = dict.fromkeys(frame for frame in heavy if frame is not None)
    # The user's own lines come before those of libraries.
    wanted = sorted(distinct, key=lambda frame: is_library_file(frame.file))
    return Places(
        files,
        np.array([-1 if frame is None else place_of[frame.file] for frame in frames], np.int64),
        np.array([0 if frame is None else frame.line_number for frame in frames], np.int64),
        source_texts(wanted, files, roots),
    )


def frames_of(tree: ViewTree, rows: Int64Array) -> list[Frame | None]:
    """The frame of each row; None for the root."""
    assert tree.code is not None, "a code view"
    known = tree.profile.stacks.frames
    of_position = tree.code.frames
    ids = [of_position[position] for position in tree.positions[rows].tolist()]
    return [None if frame_id < 0 else known[frame_id] for frame_id in ids]
