"""The text of a compiled program: a block whose data come when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.captures.facts.hlo_programs import HostProgram, all_programs, chosen_program
from tfprof.captures.hlo.module_dot import dot_lines
from tfprof.captures.hlo.module_text import module_lines
from tfprof.core.text.characters import escaped
from tfprof.errors import UsageError
from tfprof.ui.pages.document import Block, Params, to_json

if TYPE_CHECKING:
    from tfprof.captures.run.run import Run

PATH = "hlo/text"
"""Path of the request for the text."""


def program_text(program: HostProgram, params: Params) -> Block:
    """The block of a program.

    Args:
        program: The program.
        params: Of the page's address.
    """
    asked = {"program": str(program.program.id), "host": params.get("host", "")}
    return {
        "kind": "program-text",
        "id": "program-text",
        "title": f"Text of {escaped(program.program.title)}",
        "path": PATH,
        "params": {key: each for key, each in asked.items() if each},
        "file": f"{escaped(program.program.name or 'program')}.hlo.txt",
    }


def program_text_data(run: Run, params: Params) -> bytes:
    """The text of a program and its graph for Graphviz, as JSON: ``text`` and ``dot``.

    Args:
        run: The run.
        params: ``program``, its id or name, and ``host``.

    Raises:
        UsageError: There is no such program.
    """
    programs = all_programs(run, params.get("host") or None)
    chosen = chosen_program(programs, params.get("program") or None) if programs else None
    if chosen is None:
        raise UsageError("this run has no compiled programs")
    module = chosen.program.module()
    forms = {"text": module_lines(module), "dot": dot_lines(module)}
    return to_json({key: "\n".join(map(escaped, lines)) for key, lines in forms.items()})
