"""``tfprof demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.options import Command, from_params
from tfprof.cli.results import PLAIN_WIDTH, ResultChoice, color_option, pager_option, printed

if TYPE_CHECKING:
    from rich.console import Console

    from tfprof.text.tables import Glyphs


def print_demo(console: Console, glyphs: Glyphs, folder: str | None = None) -> None:
    """Profile the recorded step and print an overview.

    Args:
        console: Where to print.
        glyphs: The characters for drawing.
        folder: Folder to show for the files of the step; None is their own.
    """
    from tfprof.cli.showcase import Showcase
    from tfprof.demo import demo_files
    from tfprof.profiler import Profiler

    files = demo_files()
    profiler = Profiler(files.graph, files.op_log, classic=False)
    profiler.add_step(0, files.run_meta)
    paths: tuple[Path, ...] = (files.graph, files.run_meta, files.op_log)
    if folder is not None:
        paths = tuple(Path(folder, path.name) for path in paths)
    console.print(
        Showcase(
            profiler.view,
            title="ResNet-50, one training step",
            subtitle="batch of 8, TensorFlow 2.21 on CPU; recorded, shipped with tfprof",
            files=[path.as_posix() for path in paths],
            glyphs=glyphs,
        ),
        crop=False,  # so that paths can be copied
    )


def run(**params: Any) -> None:
    """Show the recorded step."""
    target = from_params(ResultChoice, params).target()
    console = target.console(PLAIN_WIDTH)
    print_demo(console, target.glyphs())
    target.write(printed(console))


command = Command(
    "demo",
    callback=run,
    params=[
        color_option(),
        pager_option(),
    ],
    help="Profile a recorded training step of ResNet-50, which comes with tfprof, and show the "
    "op types and scopes that cost most. Memory is in decimal units; the width is that of the "
    "terminal, or COLUMNS.",
    examples=["tfprof demo", "tfprof demo --color always | less -R"],
)
