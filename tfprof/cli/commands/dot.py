"""``tfprof dot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfprof.cli.options import Command, HelpedArgument, InputPath, taken
from tfprof.cli.results import ResultChoice, file_options
from tfprof.errors import UsageError


def run(file: str, **given: Any) -> None:
    """Read, draw, write."""
    from tfprof.views.show.drawing import render_dot_file

    result = taken(ResultChoice, given)
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
    help="Make a picture of a DOT file, such as the graphs of HLO that XLA dumps. Views are drawn "
    "by --output dot:outfile=PATH of the commands graph, scope and code. Needs the program dot of "
    "Graphviz.",
    examples=["tfprof dot module_0000.before_optimizations.dot -o hlo.svg"],
)  # fmt: skip
