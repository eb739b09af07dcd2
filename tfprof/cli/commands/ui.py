"""``tfprof ui``."""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfprof.cli.answer_cache import answer_files
from tfprof.cli.fleet_options import read_hosts
from tfprof.cli.options import Command, CommandOption, IntType, cache_option, from_params
from tfprof.cli.output import is_terminal, note
from tfprof.cli.sites import (
    SiteInputs,
    look_again,
    open_runs,
    site_of,
    site_options,
    sources_option,
)
from tfprof.errors import InputError, TfprofWarning


def run(host: str, port: int, browser: bool | None, cache: bool, **params: Any) -> None:
    """Open the runs, and serve their pages until Ctrl-C."""
    from tfprof.ui.web.guard import Access
    from tfprof.ui.web.listening import listening, require_web
    from tfprof.ui.web.opening import opened_in_browser

    require_web()
    inputs = from_params(SiteInputs, params)
    if not inputs.sources and not holds_home(Path.cwd()):
        inputs = replace(inputs, sources=(".",))
    runs = open_runs(inputs, read_hosts)
    listener = listening(host, port)
    address, chosen = listener.getsockname()[:2]
    access = Access(chosen, address)
    if sys.stdout is None:
        raise InputError("standard output is closed; open it, as the address is printed there")
    sys.stdout.write(f"{access.address}\n")
    sys.stdout.flush()
    if is_terminal(sys.stderr):
        note("Ctrl-C ends the server; only this machine, with this address, can reach it")
    shows = has_display(os.environ) and is_terminal(sys.stdout) if browser is None else browser
    from tfprof.ui.web.document_cache import DocumentCache
    from tfprof.ui.web.server import serve

    gc.enable()  # it runs for days
    files = answer_files(os.environ) if cache else None
    documents = None if files is None else DocumentCache(files)
    with _only_faults(), opened_in_browser(access.address) if shows else nullcontext():
        serve(site_of(runs, inputs.classic), listener, access, look_again(inputs), documents)
    note("tfprof ui has ended")


@contextmanager
def _only_faults() -> Iterator[None]:
    """Print faults of the server on the terminal; remarks of the library are on the pages."""
    library, server = logging.getLogger("tfprof"), logging.getLogger("tfprof.ui.web")
    connections = logging.getLogger("asyncio")
    quiet, handler, line = logging.NullHandler(), logging.StreamHandler(), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("tfprof: error: %(message)s"))
    line.setFormatter(_WithoutTraceback("tfprof: error: %(message)s"))
    library.addHandler(quiet)
    server.addHandler(handler)
    connections.addHandler(line)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TfprofWarning)
            yield
    finally:
        library.removeHandler(quiet)
        server.removeHandler(handler)
        connections.removeHandler(line)


class _WithoutTraceback(logging.Formatter):
    """For what asyncio reports of connections, such as that no descriptor is left for one."""

    def formatException(self, ei: object) -> str:  # noqa: N802
        """No text."""
        return ""


def has_display(environ: Mapping[str, str]) -> bool:
    """Whether a browser could show something."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in environ
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def _options() -> list[CommandOption]:
    section = "Server"
    return [
        CommandOption(
            ["--host"], metavar="IP", default="127.0.0.1", section=section,
            help="Loopback address to listen on: 127.0.0.1, ::1 or localhost. Others are refused. "
            "[default: 127.0.0.1]",
        ),
        CommandOption(
            ["--port"], type=IntType(), metavar="N", default=0, section=section,
            help="Port to listen on; 0 is any free one. [default: 0]",
        ),
        CommandOption(
            ["--browser/--no-browser"], default=None, section=section,
            help="Open the address in a browser. [default: if there is a display and a terminal]",
        ),
    ]  # fmt: skip


def holds_home(folder: Path) -> bool:
    """Whether a folder is the user's home or above it; also if the home is unknown."""
    try:
        return Path.home().resolve().is_relative_to(folder)
    except RuntimeError:
        return True


command = Command(
    "ui",
    callback=run,
    params=[
        *site_options(),
        sources_option("the working folder, unless it is the home folder or above it"),
        *_options(),
        cache_option("Server"),
    ],
    help="Show all pages of runs in your browser: tools, views, advice and contents. Prints the "
    "address, whose token lets your browser in; the server runs until Ctrl-C, on this machine "
    "only, and makes no connections. Needs pip install 'tfprof[web]'.",
    examples=["tfprof ui logs/", "tfprof ui --demo --no-browser --port 8080"],
)
