"""The server of the Model Context Protocol: tools and resources over profiles (extra ``mcp``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from tfprof.cli.mcp.answers import Answers
from tfprof.core.version import __version__
from tfprof.errors import MissingDependencyError
from tfprof.inputs.opened import Opened

if TYPE_CHECKING:
    from mcp.server import MCPServer

_WHAT = (
    "Profiles of TensorFlow and JAX programs: where the time, memory and float operations of a "
    "step go. Read tfprof://skill first. Everything is read-only."
)


def skill_text() -> str:
    """How to go about a slow step, for assistants."""
    return resources.files("tfprof.cli.mcp").joinpath("skill.md").read_text("utf-8")


def server_of(opened: Sequence[Opened]) -> MCPServer:
    """A server that answers questions about some runs.

    Args:
        opened: The runs.

    Raises:
        MissingDependencyError: The package ``mcp`` is not installed.
    """
    try:
        from mcp.types import ToolAnnotations

        made = _server_class()
    except ImportError as error:
        raise MissingDependencyError("assistants need mcp: pip install 'tfprof[mcp]'") from error
    server = made("tfprof", instructions=_WHAT, version=__version__, log_level="WARNING")
    answers = Answers(opened)
    only_reads = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for method in (
        answers.runs, answers.overview, answers.findings, answers.view, answers.tool,
        answers.diff, answers.whatif, answers.tables, answers.query, answers.source,
    ):  # fmt: skip
        server.tool(annotations=only_reads)(method)

    def skill() -> str:
        """How to go about a slow step."""
        return skill_text()

    def runs() -> str:
        """The opened runs."""
        return _json(answers.runs())

    def overview(name: str) -> str:
        """The overview of a run."""
        return _json(answers.overview(name))

    def slow_step(run: str = "") -> str:
        """Find out why the steps of a run are slow."""
        return f"{skill_text()}\n\nWhy are the steps of {run or 'the first run'} slow?"

    server.resource("tfprof://skill", mime_type="text/markdown")(skill)
    server.resource("tfprof://runs", mime_type="application/json")(runs)
    server.resource("tfprof://runs/{name}/overview", mime_type="application/json")(overview)
    server.prompt()(slow_step)
    return server


def _server_class() -> type[MCPServer]:
    """The protocol's server, which answers wrong arguments with one sentence."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    class Server(MCPServer):  # type: ignore[misc]  # mcp need not be installed where mypy runs
        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                [tool] = [each for each in await self.list_tools() if each.name == name]
                known = ", ".join(tool.input_schema["properties"])
                first = error.__cause__.errors(include_url=False)[0]
                place, problem = ".".join(map(str, first["loc"])), str(first["msg"]).lower()
                raise ToolError(f"{name}: {place}: {problem}; its arguments are {known}") from None

    return Server


def _json(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)
