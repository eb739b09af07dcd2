"""The ``output`` option: ``stdout``, ``none``, ``file:outfile=PATH`` and other file types."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.errors import UsageError
from tfprof.options.spec import CLASSIC_OUTPUT_TYPES, OUTPUT_TYPES

_FILE_TYPES = ("dot", "file", "pprof", "timeline")
_CLASSIC_FILE_TYPES = ("file", "pprof", "timeline")
_EVERY_STEP = "steps=all,"
_EVERY_FRAME = "frames=all,"


@dataclass(frozen=True, slots=True)
class Output:
    """A destination.

    Attributes:
        type: One of ``OUTPUT_TYPES``.
        outfile: Path, for the types that write a file.
        every_step: Put all steps into one file; timeline only.
        every_frame: Also write lines of libraries; pprof only.
    """

    type: str = "stdout"
    outfile: str = ""
    every_step: bool = False
    every_frame: bool = False

    def __str__(self) -> str:
        more = _EVERY_STEP if self.every_step else _EVERY_FRAME if self.every_frame else ""
        return f"{self.type}:" + (f"{more}outfile={self.outfile}" if self.outfile else "")


def parse_output(text: str) -> Output:
    """Read an output option.

    Everything after ``outfile=`` is the path, also commas and equals signs (the original cannot
    write to such a file).

    Raises:
        UsageError: An unknown type, an unknown key or a missing path.
    """
    kind, _, rest = text.partition(":")
    kind = kind or "stdout"
    if kind not in OUTPUT_TYPES:
        raise UsageError(
            f"output {text!r}: unknown type {kind!r}; use one of {', '.join(OUTPUT_TYPES)}"
        )
    if kind not in _FILE_TYPES:
        if rest:
            raise UsageError(f"output {text!r}: {kind} takes no options, but got {rest!r}")
        return Output(kind)
    every_step = kind == "timeline" and rest.startswith(_EVERY_STEP)
    every_frame = kind == "pprof" and rest.startswith(_EVERY_FRAME)
    if every_step or every_frame:
        rest = rest.partition(",")[2]
    key, equals, path = rest.partition("=")
    if rest and (key != "outfile" or not equals):
        usage = f"write {kind}:outfile=PATH"
        if kind == "timeline":
            usage += f" or timeline:{_EVERY_STEP}outfile=PATH"
        if kind == "pprof":
            usage += f" or pprof:{_EVERY_FRAME}outfile=PATH"
        raise UsageError(f"output {text!r}: {rest!r} is not an option; {usage}")
    if not path:
        raise UsageError(f"output {text!r}: the path is missing; write {kind}:outfile=PATH")
    return Output(kind, path, every_step, every_frame)


def parse_classic_output(text: str) -> Output:
    """Read an output option exactly as the original does (``tfprof_options.cc``).

    Raises:
        UsageError: The original refuses the option; the message is its own.
    """
    kind, colon, rest = text.partition(":")
    if not kind and not colon:
        return Output()
    if kind not in CLASSIC_OUTPUT_TYPES:
        valid = ",".join(CLASSIC_OUTPUT_TYPES)
        raise UsageError(f"E.g. Unknown output type: {kind}, Valid types: {valid}\n")
    values: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        words = [word for word in part.split("=") if word]
        if len(words) < 2:
            raise UsageError("Visualize format: -output timeline:key=value,key=value,...")
        key = words[0]
        if key != "outfile" or kind not in _CLASSIC_FILE_TYPES:
            raise UsageError(f"Unrecognized options {key} for output_type: {kind}\n")
        values[key] = "=".join(words[1:])
    if kind in _CLASSIC_FILE_TYPES and "outfile" not in values:
        raise UsageError(
            f"Missing required output_options for {kind}\nE.g. -output {kind}:outfile=...\n"
        )
    return Output(kind, values.get("outfile", ""))
