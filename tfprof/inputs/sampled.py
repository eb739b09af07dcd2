"""Reads files of sampled call stacks, and device memory profiles of JAX among them."""

from __future__ import annotations

import os
from typing import Final

from tfprof.captures.run.result import ToolResult
from tfprof.captures.tools.device_memory import device_memory as answer_of
from tfprof.captures.tools.device_memory import is_device_memory
from tfprof.core.columns.stacks import Stacks
from tfprof.errors import UnknownFormatError
from tfprof.files.collapsed import stacks_of_collapsed
from tfprof.files.open import load_file
from tfprof.files.pprof import stacks_of_pprof
from tfprof.files.sniff import Format
from tfprof.files.speedscope import stacks_of_speedscope
from tfprof.inputs.resolve import Input, Kind, resolve

_READERS: Final = {
    Format.PPROF: stacks_of_pprof,
    Format.SPEEDSCOPE: stacks_of_speedscope,
    Format.COLLAPSED: stacks_of_collapsed,
}


def stacks_of(one: Input) -> Stacks:
    """The samples of a file of the kind ``STACKS``.

    Raises:
        InputError: It cannot be read, or is damaged.
    """
    loaded = load_file(one.path)
    return _READERS[one.file.found.format](bytes(loaded.data), loaded.path)


def device_memory_stacks(one: Input, command: str) -> Stacks:
    """The samples of a device memory profile of JAX.

    Args:
        one: The path.
        command: What reads it, for errors.

    Raises:
        UnknownFormatError: It is something else.
        InputError: It cannot be read.
    """
    wanted = f"{command} reads a device memory profile of JAX"
    if one.kind is not Kind.STACKS:
        raise one.refusal(wanted)
    stacks = stacks_of(one)
    if is_device_memory(stacks):
        return stacks
    held = ", ".join(f"{kind.name} in {kind.unit or 'no unit'}" for kind in stacks.types)
    raise UnknownFormatError(
        f"{one.path}: {wanted}, and this file has other samples ({held}), or is the difference of "
        "two. tfprof ui shows them, tfprof query asks them, and tfprof convert writes other "
        "formats of them"
    )


def device_memory(path: str | os.PathLike[str]) -> ToolResult:
    """Show what the arrays on devices take, by the line that made them.

    Args:
        path: A file that ``jax.profiler.save_device_memory_profile`` wrote.

    Raises:
        UnknownFormatError: It is something else.
        InputError: It cannot be read.
    """
    [one] = resolve([path])
    return answer_of(device_memory_stacks(one, "tfprof.device_memory"))
