"""A first look at a profile: key figures, the costliest op types and scopes, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from tfprof.core.text.characters import UNICODE, Glyphs, escaped
from tfprof.core.text.metrics import BLUE, GREEN, ORANGE, PINK
from tfprof.core.text.units import human_count, human_memory, human_time
from tfprof.profiles.accounting.accounting import METRIC_ROW
from tfprof.views.result import ViewTree
from tfprof.views.show.terminal import ViewTable

N_OP_TYPES = 12
N_SCOPES = 17

_TRAINABLE = "_trainable_variables"


@dataclass(frozen=True)
class Showcase:
    """A first look, as a rich renderable.

    Attributes:
        view: ``Profiler.view`` of the profiler to show.
        title: Name of the program.
        subtitle: How it was recorded.
        files: Paths of graph, run metadata and op log, for the commands to try next.
        glyphs: The characters for drawing.
    """

    view: Callable[[str, Mapping[str, Any]], ViewTree]
    title: str
    subtitle: str
    files: Sequence[str]
    glyphs: Glyphs = UNICODE

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = ["micros", "bytes", "params", "float_ops"]
        ops = self.view("op", _options(select=[*shown, "occurrence"]))
        scopes = self.view("scope", _options(max_depth=3, select=shown))
        yield Text()
        yield from self._headline(ops)
        yield from self._section("Time by op type", "tfprof op --demo -order_by micros", BLUE)
        yield ViewTable(ops, N_OP_TYPES, self.glyphs, hint=False)
        yield from self._section(
            "Time by scope", "tfprof scope --demo -order_by micros -max_depth 3", BLUE
        )
        yield ViewTable(scopes, N_SCOPES, self.glyphs, hint=False, own=False)
        yield from self._closing()

    def _headline(self, ops: ViewTree) -> Iterator[Any]:
        title = Text(self.title, style="bold")
        title.append(f"  {self.glyphs.text(self.subtitle)}", style="dim not bold")
        yield title
        yield Text()
        variables = self.view("op", _options(account_type_regexes=[_TRAINABLE], select=["params"]))
        total = {name: int(ops.total[row, 0]) for name, row in METRIC_ROW.items()}
        yield _Figures(
            [
                (human_time(total["exec_micros"]), "time in ops", BLUE),
                (human_memory(total["requested_bytes"]), "memory requested", ORANGE),
                (
                    human_count(int(variables.total[METRIC_ROW["parameters"], 0])),
                    "trainable params",
                    GREEN,
                ),
                (human_count(total["float_ops"]), "float ops", PINK),
                (human_count(total["run_count"]), "op runs", ""),
            ],
            self.glyphs,
        )

    def _section(self, title: str, command: str, colour: str) -> Iterator[Text]:
        yield Text()
        heading = Text(title, style=f"bold {colour}")
        heading.append(f"   {command}", style="dim not bold")
        yield heading

    def _closing(self) -> Iterator[Text]:
        graph, run_meta, op_log = (shlex.quote(escaped(path)) for path in self.files)
        yield Text(
            self.glyphs.text(
                "– did not run, or no known count   +n smaller children, not listed   "
                "params: of all variables, also averages and momentum"
            ),
            style="dim",
        )
        yield Text()
        yield Text("Try next", style="bold")
        for command, about in (
            ("tfprof code --demo -order_by micros", "the Python lines that cost most"),
            ("tfprof graph --demo -order_by micros", "what the ops wait for"),
            ("tfprof advise --demo", "what to look at first, and why"),
            ("tfprof shell --demo", "all commands, with completion"),
            ("tfprof op --help", "every option, with examples"),
        ):
            line = Text("  ")
            line.append(f"{command:<38}", style=BLUE)
            line.append(f"  {about}", style="dim")
            yield line
        yield Text("  the same with files, as for your own program:", style="dim")
        pieces = [
            "tfprof scope",
            f"--graph_path {graph}",
            f"--run_meta_path {run_meta}",
            f"--op_log_path {op_log}",
        ]
        for index, piece in enumerate(pieces):
            more = " \\" if index + 1 < len(pieces) else ""
            indent = "  " if index == 0 else "      "
            yield Text(f"{indent}{piece}{more}", style=BLUE, no_wrap=True, overflow="ignore")


class _Figures:
    """Numbers side by side, each above its name."""

    def __init__(self, figures: Sequence[tuple[str, str, str]], glyphs: Glyphs) -> None:
        self._figures = [(glyphs.text(value), name, colour) for value, name, colour in figures]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(cell_len(value), cell_len(name)) for value, name, _ in self._figures]
        spare = options.max_width - sum(widths)
        gap = " " * max(1, min(5, spare // len(widths)))
        for value_line in (True, False):
            for (value, name, colour), width in zip(self._figures, widths, strict=True):
                style = Style.parse(f"bold {colour}".strip()) if value_line else Style(dim=True)
                yield Segment(f"{value if value_line else name:<{width}}", style)
                yield Segment(gap)
            yield Segment.line()


def _options(**changes: Any) -> dict[str, Any]:
    from tfprof.options.builder import ProfileOptionBuilder

    return {
        **ProfileOptionBuilder().build(),
        "max_depth": 10_000,
        "order_by": "micros",
        "output": "none",
        **changes,
    }
