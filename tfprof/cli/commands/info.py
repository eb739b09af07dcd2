"""``tfprof info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.cli.captures import only_captures
from tfprof.cli.inputs import RunInputs, input_options, open_profiler
from tfprof.cli.options import Command, from_params
from tfprof.cli.output import Target
from tfprof.cli.results import ResultChoice, as_csv, as_json, as_text, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import write_page

if TYPE_CHECKING:
    from tfprof.profiles.accounting.profile_info import ProfileInfo


def run(**params: Any) -> None:
    """Read the files and write their contents."""
    inputs, result = from_params(RunInputs, params), from_params(ResultChoice, params)
    target, form = result.target(), result.format
    captures = only_captures(inputs)
    if captures:
        from tfprof.cli.commands.tools import show_contents

        show_contents(captures, None, form, target)
        return
    with warnings_as_notes():
        profiler = open_profiler(inputs)
        from tfprof.inputs.profiler import session_of
        from tfprof.profiles.accounting.profile_info import profile_info

        info = profile_info(session_of(profiler).complete())
        if form == "html":
            from tfprof.ui.pages.contents_page import info_page

            write_page(info_page(info), inputs.title, target)
        else:
            target.write(_written(info, form, target))


def _written(info: ProfileInfo, form: str | None, target: Target) -> str:
    from tfprof.profiles.show.info import InfoText, info_head, step_rows

    if form == "text":
        return as_text([InfoText(info, target.glyphs())], target)
    if form == "json":
        return as_json(info_head(info), step_rows(info.steps))
    return as_csv(step_rows(info.steps))


_FORMATS_HELP = (
    "text: a report. json: everything, one step a line. csv: the steps. A value that is unknown or "
    'does not apply is null in json, where "missing" says why, and empty in csv. html: a page in '
    "one file."
)

command = Command(
    "info",
    callback=run,
    is_cached=True,
    params=[*input_options(), *result_options(("text", "json", "csv", "html"), _FORMATS_HELP)],
    help="Show what a profile holds: ops, op types, call stacks, shapes, variables, devices, and "
    "the time and requested memory of each step. n/a means that the profile does not hold a "
    "value; a dash, that a value does not apply. For a capture (*.xplane.pb or log folder), it "
    "shows the same as tfprof tools.",
    examples=[
        "tfprof info --demo",
        "tfprof info --graph_path graph.pb --run_meta_path step1.pb,step2.pb --format csv",
    ],
)
