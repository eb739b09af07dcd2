"""Curves of long runs as one small SVG, which is the same for the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from fuzz.endurance.watched import Sample

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 220, 70, 12, 22, 40


def drawn(runs: Mapping[str, Sequence[Sample]]) -> str:
    """A curve of the resident memory of each run, from 0 to its largest value.

    Args:
        runs: The samples of each run, by its title.
    """
    parts = []
    for row, (title, samples) in enumerate(runs.items()):
        top = _TOP + row * (_HEIGHT + _GAP)
        most, last = max(one.resident_bytes for one in samples), samples[-1].done
        points = " ".join(
            f"{_LEFT + _WIDTH * one.done / last:.1f},"
            f"{top + _HEIGHT * (1 - one.resident_bytes / most):.1f}"
            for one in samples
        )
        bottom = top + _HEIGHT
        parts += [
            f'<text x="{_LEFT}" y="{top - 7}">{escape(title)}: {most / 1e6:.0f} MB</text>',
            f'<path d="M{_LEFT} {top}V{bottom}H{_LEFT + _WIDTH}" stroke="#8888"/>',
            f'<polyline points="{points}" stroke="#2a78c2" stroke-width="1.5"/>',
            f'<text x="{_LEFT + _WIDTH}" y="{bottom + 13}" text-anchor="end">{last:,}</text>',
        ]
    width, height = _WIDTH + 2 * _LEFT + 90, _TOP + len(runs) * (_HEIGHT + _GAP)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" fill="none" '
        'font-family="sans-serif" font-size="11">',
        "<style>text{fill:#777}</style>",
        *parts,
        "</svg>\n",
    ])  # fmt: skip
