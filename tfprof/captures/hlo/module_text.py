"""A compiled program as text, in the compiler's notation."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.captures.hlo.text import expression
from tfprof.captures.model.hlo import HloModule, Instruction


def module_lines(module: HloModule) -> Iterator[str]:
    """Lines of a program: its computations, callees before callers, with their instructions.

    Each instruction is as in ``expression``, which leaves out shardings and the like, with the op
    and the line of the code that it was made for.
    """
    yield f"HloModule {module.name}"
    for computation in module.computations:
        yield ""
        yield f"{'ENTRY ' if computation is module.entry else ''}%{computation.name} {{"
        for one in computation.instructions:
            root = "ROOT " if one is computation.root else ""
            yield f"  {root}{expression(one)}{_metadata(module, one)}"
        yield "}"


def _metadata(module: HloModule, one: Instruction) -> str:
    file, line = module.source(one)
    known = {
        "op_type": f'"{one.op_type}"' if one.op_type else "",
        "op_name": f'"{one.op_name}"' if one.op_name else "",
        "source_file": f'"{file}"' if file else "",
        "source_line": str(line) if file else "",
    }
    text = " ".join(f"{key}={value}" for key, value in known.items() if value)
    return f", metadata={{{text}}}" if text else ""
