"""``tfprof demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.options import Command, CommandOption, from_params
from tfprof.cli.output import note
from tfprof.cli.results import PLAIN_WIDTH, ResultChoice, color_option, pager_option, printed
from tfprof.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tfprof.core.text.characters import Glyphs


def print_demo(console: Console, glyphs: Glyphs, folder: str | None = None) -> None:
    """Profile the recorded step and print an overview.

    Args:
        console: Where to print.
        glyphs: The characters for drawing.
        folder: Folder to show for the files of the step; None is their own.
    """
    from tfprof.cli.showcase import Showcase
    from tfprof.demo import demo_files
    from tfprof.inputs.profiler import Profiler

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


def run(copy: str | None, **params: Any) -> None:
    """Show the recorded step, or copy what comes with tfprof."""
    if copy is not None:
        from tfprof.files.local_folder import local_folder

        copy_tutorials(local_folder(copy))
        return
    target = from_params(ResultChoice, params).target()
    console = target.console(PLAIN_WIDTH)
    print_demo(console, target.glyphs())
    target.write(printed(console))


def copy_tutorials(folder: Path) -> None:
    """Copy the captures of the tutorials; files that are there already stay.

    Raises:
        UsageError: Another file is in the way.
        InputError: The folder cannot be written to.
    """
    from tfprof.demo import tutorial_files
    from tfprof.files.disk import write_file

    source = tutorial_files()
    for path in sorted(path for path in source.glob("*/*") if path.is_file()):
        place = folder / path.relative_to(source)
        content = path.read_bytes()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            is_there = place.is_file() and place.read_bytes() == content
        except OSError as error:
            raise InputError(f"{place}: cannot be written: {error.strerror}") from error
        if not is_there:
            write_file(place, [content], overwrite=False)
    note(f"{folder}: {', '.join(sorted(each.name for each in source.iterdir() if each.is_dir()))}")


command = Command(
    "demo",
    callback=run,
    params=[
        CommandOption(
            ["--copy"],
            metavar="FOLDER",
            section="Result",
            help="Instead, copy the captures and the checkpoint of the tutorials into a folder.",
        ),
        color_option(),
        pager_option(),
    ],
    help="Profile a recorded training step of ResNet-50, which comes with tfprof, and show the "
    "op types and scopes that cost most. Memory is in decimal units; the width is that of the "
    "terminal, or COLUMNS.",
    examples=["tfprof demo", "tfprof demo --copy captures"],
)
