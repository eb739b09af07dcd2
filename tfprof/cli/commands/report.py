"""``tfprof report``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import print_notes_of
from tfprof.cli.fleet_options import read_hosts
from tfprof.cli.options import Command, CommandOption, IntType, from_params
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, file_options
from tfprof.cli.sites import SiteInputs, open_runs, site_of, site_options, sources_option
from tfprof.cli.view import warnings_as_notes
from tfprof.cli.web_pages import as_params
from tfprof.core.text.units import human_memory, some
from tfprof.options.lists import split_list

if TYPE_CHECKING:
    from tfprof.ui.pages.site import Site


def run(
    pages: Sequence[str], step: int | None, host: str | None, compare: str | None, **params: Any
) -> None:
    """Open a run or two, make their pages and write them into one file."""
    target = from_params(ResultChoice, params).target()
    inputs = from_params(SiteInputs, params)
    from tfprof.ui.web.report import report

    with warnings_as_notes():
        site = site_of(open_runs(inputs, read_hosts), inputs.classic)
        against = compare or _named_second(inputs, site)
        with progress() as watch:
            watch.stage("making the pages")
            names = split_list(pages) if pages else []
            content = report(
                site, names, as_params({"step": step, "host": host, "against": against})
            )
    target.write(content.decode())
    first = site.opened[0].name
    others = [one.name for one in site.opened[1:] if one.name != against]
    print_notes_of([one for one in site.opened if one.name in (first, against)])
    if against:
        note(f"this is the run {first}, and {against} to compare it with")
    if others:
        ways = "" if against else "; --compare puts one of them beside it"
        note(f"this is the run {first}; --run chooses {some(others, 5)}{ways}")
    if target.path is not None:
        note(f"{target.path}: {human_memory(len(content))}; open it in a browser")


def _named_second(inputs: SiteInputs, site: Site) -> str | None:
    """The second of two runs, if two paths name just these."""
    names = [one.name for one in site.opened]
    return names[1] if len(inputs.paths) == len(names) == 2 else None


def _options() -> list[CommandOption]:
    section = "What to show"
    return [
        CommandOption(
            ["--pages"], metavar="NAMES", multiple=True, section=section,
            help="Pages to hold, separated by commas, such as overview,kernel-stats. [default: all "
            "that have something to show]",
        ),
        CommandOption(
            ["--compare"], metavar="NAME", section=section,
            help="A second run, to hold, too, and to compare with. [default: the second of two "
            "PATHs that are a run each]",
        ),
        CommandOption(
            ["--step"], type=IntType(), metavar="N", section=section,
            help="One step, by its number. [default: all of them]",
        ),
        CommandOption(
            ["--host"], metavar="NAME", section=section,
            help="One host, by the name of its file up to .xplane.pb. [default: all of them]",
        ),
    ]  # fmt: skip


command = Command(
    "report",
    callback=run,
    params=[*site_options(), *_options(), sources_option("none"),
            *file_options("The file to write; - is stdout.", True)],
    help="Write the pages of a run, or of two and their differences, into one file to keep, mail "
    "or attach. Any browser shows it without a server or a network. tfprof ui shows the same "
    "pages, and lets you change their settings.",
    examples=["tfprof report logs/ -o report.html",
              "tfprof report before/ after/ -o difference.html",
              "tfprof report --demo --pages advice,op -o step.html"],
)  # fmt: skip
