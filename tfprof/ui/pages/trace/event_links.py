"""Pages with more on an event of the trace: its instruction, its kernel, its op."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tfprof.captures.trace.model import TraceModel
from tfprof.core.text.characters import escaped
from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import Params, to_json
from tfprof.ui.pages.links import Names, parameter_of
from tfprof.ui.pages.trace.details import name_of

_LABELS: Final = {
    "graph-viewer": "graph of the program",
    "hlo-stats": "HLO stats",
    "kernel-stats": "GPU kernels",
    "op-stats": "ops",
}

_TEXT = re.compile(r"%([\w.-]+) = ")
"""An instruction as text: ``%copy-start.1 = (f32[5], …``."""

_OF_PROGRAM = re.compile(r"(\d+)/([^/]+)")
"""An instruction of a derived line: the number of its program, and its name."""


class Named(NamedTuple):
    """What an event is a run of, as far as its recorder says.

    Attributes:
        program: Number of its compiled program; empty without one.
        instructions: Instructions that it may be a run of.
        kernel: Name of its kernel.
        ops: Ops of the framework that it may be a run of.
    """

    program: str
    instructions: tuple[str, ...]
    kernel: str
    ops: tuple[str, ...]


def links_data(opened: Opened, params: Params) -> bytes:
    """Links of an event, as JSON: ``links``, each with ``page``, ``label`` and ``params``.

    Args:
        opened: The run.
        params: Of the request; ``id`` is the event.

    Raises:
        UsageError: There is no such event.
    """
    model = opened.events()
    named = named_by(model, params.get("id", ""))
    if opened.run is None:
        return to_json({"links": []})
    run = opened.run()
    names = run.memo.once("names of all pages", lambda: Names(run, {}))
    return to_json({"links": [*_links(names, named)]})


def named_by(model: TraceModel, event_id: str) -> Named:
    """What an event is a run of; a name alone may be that of many things.

    Raises:
        UsageError: There is no such event.
    """
    number, place = model.slice_of(event_id)
    name, arguments = name_of(model, number, place), model.tracks[number].arguments(place)
    long_name = _text(arguments, "long_name")
    program = _text(arguments, "program_id")
    instructions = [_text(arguments, "hlo_op")]
    if match := _OF_PROGRAM.fullmatch(long_name):
        program, instructions = match[1], [match[2]]
    elif program:
        instructions += [match[1] if (match := _TEXT.match(long_name)) else "", name]
    ops = (
        [
            _text(arguments, "tf_op"),
            _text(arguments, "name"),
            _text(arguments, "annotation").partition("#")[0],
            long_name,
        ]
        if not program or "tf_op" in arguments
        else []
    )
    is_op = ":" in name and "::" not in name
    return Named(
        program,
        tuple(filter(None, instructions)),
        name if "kernel_details" in arguments else "",
        tuple(filter(None, [*ops, name if is_op else ""])),
    )


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else str(value)


def _links(names: Names, named: Named) -> Iterator[dict[str, Any]]:
    """Links to the pages that have such a row."""
    wanted = {
        "graph-viewer": named.instructions,
        "hlo-stats": named.instructions,
        "kernel-stats": (named.kernel,),
        "op-stats": named.ops,
    }
    for page, texts in wanted.items():
        program = named.program if page == "graph-viewer" else ""
        for text in texts:
            way, value = names.way((page,), text, program)
            if way < 0:
                continue
            params = {parameter_of(page): value, **({"program": program} if program else {})}
            yield {
                "page": page, "label": _LABELS[page],
                "params": {key: escaped(each) for key, each in params.items()},
            }  # fmt: skip
            break
