"""``tfprof mcp``."""

from __future__ import annotations

import gc
from typing import Any

from tfprof.cli.options import Command, CommandOption, from_params
from tfprof.cli.output import Target, writing_stdout
from tfprof.cli.sites import SiteInputs, open_runs, site_options, sources_option


def run(skill: bool, **params: Any) -> None:
    """Answer an assistant until it closes the connection."""
    if skill:
        from tfprof.cli.mcp.server import skill_text

        Target().write(skill_text())
        return
    from tfprof.cli.mcp.server import server_of

    gc.enable()  # it runs for days
    server = server_of(open_runs(from_params(SiteInputs, params)))
    try:
        server.run("stdio")
    except Exception as error:
        first = _first_of(error)
        if not isinstance(first, OSError) or first.filename is not None:
            raise
        with writing_stdout():
            raise first from error


def _first_of(error: BaseException) -> BaseException:
    """The error itself; the server's tasks put theirs into groups, one in the other."""
    while inner := getattr(error, "exceptions", ()):
        error = inner[0]
    return error


command = Command(
    "mcp",
    callback=run,
    params=[
        *site_options(),
        sources_option("none"),
        CommandOption(
            ["--skill"], is_flag=True, section="What to show",
            help="Print the instructions for assistants on a slow step, and end.",
        ),
    ],
    help="Answer questions of an assistant about runs, through the Model Context Protocol, on "
    "stdin and stdout: overview, findings, views, tools, queries in SQL, source lines. Nothing is "
    "written or changed. Needs mcp and DuckDB: pip install 'tfprof[mcp]'.",
    examples=["tfprof mcp logs/", "tfprof mcp --demo --skill"],
)  # fmt: skip
