"""The first page: what the run is, what to do, where a step's time goes, and what costs most."""

from __future__ import annotations

from tfprof.inputs.opened import Opened
from tfprof.ui.pages.document import Page, Params

START = "start"


def start_page(opened: Opened, params: Params) -> Page:
    """The first page of a run.

    Raises:
        UsageError: There is no such host or step.
        InputError: The run cannot be read.
    """
    about = "What this run is, what to do about it, and where its time goes."
    if opened.run is None:
        from tfprof.ui.pages.start_of_profile import start_of_profile

        return Page(START, "Start", about, start_of_profile(opened.source, opened.views()))
    from tfprof.ui.pages.start_of_run import start_of_run

    blocks, controls = start_of_run(opened.source, opened.run(), params)
    return Page(START, "Start", about, blocks, controls)
