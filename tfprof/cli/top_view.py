"""The screen of ``tfprof top`` as lines: pure functions, without a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfprof.core.text.characters import escaped
from tfprof.core.text.folding import fitted, folded, head
from tfprof.core.text.units import human_memory

if TYPE_CHECKING:
    from tfprof.remote import Look, OpTime

KEYS = "q quit  space pause  o order  ? help"
HELP = (
    "q      quit, as Ctrl-C does",
    "space  pause: nothing is captured until you press it again",
    "o      order of the ops: self time, occurrences, name",
    "?      this help",
    "",
    "Figures are of short captures: half of the interval, at most 1 s.",
    "STEPS/S   steps that begin in a second; STEP ms, MIN, MAX: their times",
    "INPUT     share of the step time that waits for input",
    "IDLE      share of the time of devices; without any, of threads that run ops",
    "SELF ms   time of an op without the ops inside it; SHARE: of all ops there",
)

ORDERS: dict[str, Callable[[OpTime], tuple[float, str]]] = {
    "self time": lambda op: (-op.self_ms, op.name),
    "occurrences": lambda op: (-op.occurrences, op.name),
    "name": lambda op: (0.0, op.name),
}

_UNKNOWN = "-"
_WIDE = 110
_FEWEST_OPS = 3
_FIGURES = (("STEPS/S", 9), ("STEP ms", 9), ("MIN", 9), ("MAX", 9), ("INPUT", 8), ("IDLE", 8),
            ("MEMORY", 9))  # fmt: skip
_OP_FIGURES = (("COUNT", 8), ("SELF ms", 10), ("SHARE", 8))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the screen.

    Attributes:
        text: No wider than the screen, and harmless to a terminal.
        style: ``title``, ``head``, ``trouble`` or empty.
    """

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's choices.

    Attributes:
        order: A name of ``ORDERS``.
        is_paused: Whether nothing is captured.
        shows_help: Whether the help is shown.
    """

    order: str = "self time"
    is_paused: bool = False
    shows_help: bool = False


def screen(
    looks: Sequence[Look],
    settings: Settings,
    *,
    width: int,
    height: int | None = None,
    n_ops: int = 10,
) -> list[Line]:
    """The lines of a screen.

    Args:
        looks: One of each worker; none before the first.
        settings: The user's choices.
        width: Cells of a line.
        height: Lines of the screen; None for a text of any length, without the line of the keys.
        n_ops: Ops of each worker, if there is no height.
    """
    lines = [_title(looks, settings)]
    if settings.shows_help:
        lines += [Line(text) for text in HELP]
    elif not looks:
        lines.append(Line("waiting for the first capture ..."))
    else:
        lines += _workers(looks, width)
        lines += _all_ops(looks, settings, width, None if height is None else height - 1, n_ops,
                          len(lines))  # fmt: skip
    if height is not None:
        lines = [*lines[: max(height - 1, 0)], Line(KEYS, "head")][:height]
    return [Line(_cut(line.text, width).rstrip(), line.style) for line in lines]


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return f"{head(text, width - 3)}..." if width > 3 else head(text, width)


def _title(looks: Sequence[Look], settings: Settings) -> Line:
    parts = ["tfprof top"]
    if looks:
        parts.append(time.strftime("%H:%M:%S", time.localtime(looks[0].sample.time)))
    parts.append(f"ops by {settings.order}")
    if settings.is_paused:
        parts.append("PAUSED")
    return Line("  ".join(parts), "title")


def _workers(looks: Sequence[Look], width: int) -> list[Line]:
    room = max(width - sum(size for _, size in _FIGURES), 12)
    shown = [(title, size) for title, size in _FIGURES]
    while shown and room + sum(size for _, size in shown) > width:
        shown.pop()  # narrow screens
    lines = [Line("WORKER".ljust(room) + _right(shown), "head")]
    for look in looks:
        address = folded(escaped(look.sample.address), room - 1).ljust(room)
        if look.sample.trouble:
            said = f"{address.rstrip()}  no figures: {escaped(look.sample.trouble)}"
            lines.append(Line(said, "trouble"))
        else:
            cells = [(text, size) for text, (_, size) in zip(_figures(look), shown, strict=False)]
            lines.append(Line(address + _right(cells)))
    return lines


def _figures(look: Look) -> list[str]:
    sample = look.sample
    rate, memory = look.steps_per_second, look.memory_bytes
    return [
        _number(rate), _number(sample.step_ms_average), _number(sample.step_ms_minimum),
        _number(sample.step_ms_maximum), _percent(sample.input_percent),
        _percent(sample.idle_percent), _UNKNOWN if memory is None else human_memory(memory),
    ]  # fmt: skip


def _all_ops(
    looks: Sequence[Look],
    settings: Settings,
    width: int,
    height: int | None,
    n_ops: int,
    n_used: int,
) -> list[Line]:
    """The ops of each worker that has some; workers for which there is no room are counted."""
    with_ops = [look for look in looks if look.ops]
    n_shown = len(with_ops)
    if height is not None and with_ops:
        room = height - n_used - 1  # one for those left out
        n_shown = max(1, min(len(with_ops), room // (_FEWEST_OPS + 2)))
        n_ops = max(room // n_shown - 2, 0)
    lines: list[Line] = []
    for look in with_ops[:n_shown]:
        lines += [Line(""), *_ops(look, settings, width, n_ops, is_named=len(looks) > 1)]
    if n_shown < len(with_ops):
        n_left = len(with_ops) - n_shown
        lines.append(Line(f"... ops of {n_left} more: make the window higher"))
    return lines


def _ops(look: Look, settings: Settings, width: int, n_ops: int, *, is_named: bool) -> list[Line]:
    ops = sorted(look.ops, key=ORDERS[settings.order])[:n_ops]
    figures = list(_OP_FIGURES)
    if width >= _WIDE:
        figures.insert(2, ("AVG ms", 10))
    of_type = 30 if width >= _WIDE else 16
    room = width - of_type - 8 - sum(size for _, size in figures)
    if room < 16:
        of_type, room = 0, max(room + of_type, 16)
    title = f"OP of {escaped(look.sample.address)}" if is_named else "OP"
    columns = _right([(column, size) for column, size in figures])
    lines = [Line(_cells(title, "TYPE", "ON", room, of_type) + columns, "head")]
    names = fitted([escaped(op.name) for op in ops], [room - 1] * len(ops))
    for name, op in zip(names, ops, strict=True):
        values = [str(op.occurrences), f"{op.self_ms:,.2f}", f"{op.self_percent:.1f} %"]
        if width >= _WIDE:
            values.insert(2, f"{op.self_ms / max(op.occurrences, 1):,.3f}")
        cells = [(text, size) for text, (_, size) in zip(values, figures, strict=True)]
        begin = _cells(name, escaped(op.type), op.where, room, of_type)
        lines.append(Line(begin + _right(cells)))
    return lines


def _cells(name: str, kind: str, where: str, room: int, of_type: int) -> str:
    return _left(name, room) + (_left(kind, of_type) if of_type else "") + _left(where, 8)


def _left(text: str, width: int) -> str:
    text = folded(text, width - 1)
    return text + " " * (width - cell_len(text))


def _right(cells: Sequence[tuple[str, int]]) -> str:
    return "".join(head(text, size - 1).rjust(size) for text, size in cells)


def _number(value: float | None) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.1f} %"
