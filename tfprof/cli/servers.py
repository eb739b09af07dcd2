"""Shared by the commands that record programs through their profiler servers."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.cli.options import CommandOption, HelpedArgument, IntType
from tfprof.core.text import how_to_capture


@dataclass(frozen=True, slots=True)
class Levels:
    """The values of ``level_options``."""

    host_tracer_level: int
    python_tracer_level: int
    device_tracer_level: int


def servers_argument(*, required: bool = True) -> HelpedArgument:
    """The argument ``HOST:PORT...``.

    Args:
        required: Whether workers cannot be named in another way.
    """
    return HelpedArgument(
        "servers", "HOST:PORT...",
        f"Profiler servers, {how_to_capture.SERVERS}; commas separate several.",
        section="Workers", metavar="HOST:PORT...", nargs=-1, required=required,
    )  # fmt: skip


def level_options(section: str) -> list[CommandOption]:
    """The options for the levels of the tracers.

    Args:
        section: Their heading in the help.
    """
    return [
        CommandOption(
            ["--host-tracer-level"], type=IntType(), default=2, metavar="N", section=section,
            help="0 off, 1 step markers, 2 ops and tf.data too, 3 verbose. [default: 2]",
        ),
        CommandOption(
            ["--python-tracer-level"], type=IntType(), default=0, metavar="N", section=section,
            help="1 records the calls of Python functions, which makes captures much larger. "
            "[default: 0]",
        ),
        CommandOption(
            ["--device-tracer-level"], type=IntType(), default=1, metavar="N", section=section,
            help="0 leaves GPUs and TPUs out. [default: 1]",
        ),
    ]  # fmt: skip
