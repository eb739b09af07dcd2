"""``tfprof dot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfprof.cli.options import Command, HelpedArgument, InputPath, from_params
from tfprof.cli.results import ResultChoice, file_options
from tfprof.errors import UsageError


def run(file: str, **params: Any) -> None:
    """Read the file, draw it and write the picture."""
    from tfprof.views.show.drawing.files import render_dot_file

    result = from_params(ResultChoice, params)
    outfile = Path(result.outfile or "")
    kind = outfile.suffix[1:].lower()
    if not kind:
        raise UsageError(f"--outfile {outfile}: the name must end in .svg, .pdf or .png")
    result.target().write_chunks([render_dot_file(file, kind)])


command = Command(
    "dot",
    callback=run,
    params=[
        HelpedArgument("file", "FILE", "The DOT file.", metavar="FILE", type=InputPath()),
        *file_options("The picture; its name ends in .svg, .pdf or .png.", required=True),
    ],
    help="Draw a DOT file, such as the HLO graphs that XLA dumps. Needs the program dot of "
    "Graphviz. To draw a view, use --output dot:outfile=PATH with the commands graph, scope or "
    "code.",
    examples=["tfprof dot module_0000.before_optimizations.dot -o hlo.svg"],
)  # fmt: skip
