"""``tfprof history``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfprof.cli.commands.tool import TOP, print_notes, written
from tfprof.cli.options import (
    Command,
    CommandOption,
    HelpedArgument,
    InputPath,
    IntType,
    OutputPath,
    from_params,
)
from tfprof.cli.output import note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, result_options
from tfprof.cli.view import warnings_as_notes
from tfprof.core.text.wording import plural
from tfprof.errors import EmptyProfileError, InputError, UsageError
from tfprof.files.disk import is_folder
from tfprof.files.local_folder import local_folder
from tfprof.files.remote.path import RemotePath, as_path, resolved

if TYPE_CHECKING:
    from tfprof.captures.run.result import ToolResult
    from tfprof.core.text.claims import Claim
    from tfprof.insight.history.record import RunRecord
    from tfprof.insight.history.store import Store

FORMATS = ("text", "json", "csv", "html")
_ENDING = ".history.duckdb"
_MOST_COMPARED = 3
_KEPT, _SHOWN = "What to keep", "What to show"


def run(
    paths: Sequence[str], db: str | None, added: Sequence[str], commit: str | None,
    labels: Sequence[str], program: str | None, metrics: Sequence[str], compare: bool,
    table: str | None, top: int | None, **params: Any,
) -> None:  # fmt: skip
    """Read what is new, and write what changed."""
    choice = from_params(ResultChoice, params)
    target = choice.target()
    noted = dict(_label(text) for text in labels)
    wanted = _metrics(metrics)
    if not added and (commit or noted):
        raise UsageError("--commit and --label go with --add RUN: they are of this run")
    with warnings_as_notes():
        from tfprof.insight.history.store import Store

        path, folders = _places(paths, db, added)
        store = Store(path)
        _read(store, folders, added, program or "", commit, noted)
        records = store.records() if store.exists() else []
        unread = {source: trouble for source, (_, _, trouble) in store.sources().items() if trouble}
        if not records:
            why = f": {next(iter(unread.values()))}" if unread else ""
            raise EmptyProfileError(
                f"{path}: this history has no run{why}. Give a log folder with captures, or add "
                "one with --add RUN"
            )
        result = _answer(store, records, unread, wanted, compare=compare)
    form = choice.format or FORMATS[0]
    target.write(written(result, form, table or "", top, target, main="changes"))
    print_notes(result.notes if form == "csv" else ())


def _read(
    store: Store, folders: Sequence[str], added: Sequence[str], program: str,
    commit: str | None, labels: dict[str, str],
) -> None:  # fmt: skip
    from tfprof.insight.history.record import found_runs
    from tfprof.insight.history.scan import current_commit, read_new

    if folders or added:
        local_folder(store.path)  # before reading, which takes long
    with progress() as watch:
        n_new = read_new(store, found_runs(folders), program=program, watch=watch) if folders else 0
        for path in added:
            latest = found_runs([path])[-1:]
            if not latest:
                raise EmptyProfileError(f"--add {path}: holds no run; give one of a log folder")
            sha = current_commit() if commit is None else commit
            read_new(store, latest, program=program, commit=sha, labels=labels, again=True)
            trouble = store.sources()[latest[0].source][2]
            if trouble:
                raise EmptyProfileError(f"--add {path}: was not added: {trouble}")
            note(f"{store.path}: {latest[0].name} added" + (f", commit {sha[:12]}" if sha else ""))
    if n_new:
        note(f"{store.path}: {plural(n_new, 'new run')} read")


def _answer(
    store: Store, records: Sequence[RunRecord], unread: dict[str, str], metrics: Sequence[str],
    *, compare: bool,
) -> ToolResult:  # fmt: skip
    from tfprof.insight.history.answer import answer_of, changes_in_order, found_in
    from tfprof.insight.history.causes import causes_of
    from tfprof.insight.history.series import series_of

    with progress() as watch:
        watch.stage("looking for changes")
        found = [found_in(series, metrics) for series in series_of(records)]
        every = [(one, change) for one in found for change in changes_in_order(one)]
        causes: dict[int, Sequence[Claim]] = {}
        for number, (one, change) in enumerate(every):
            if compare and change.metric == "step_time" and len(causes) < _MOST_COMPARED:
                watch.stage("comparing runs")
                causes[number] = causes_of(one, change)
        name = as_path(store.path).name
        return answer_of(found, f"History: {plural(len(records), 'run')} of {name}", unread, causes)


def _places(
    paths: Sequence[str], db: str | None, added: Sequence[str]
) -> tuple[str, list[str]]:  # fmt: skip
    """The file of the history, and the folders to read."""
    folders = [path for path in paths if is_folder(path) or not _is_file_of_history(path, added)]
    files = [path for path in paths if path not in folders]
    named = [*files, *([db] if db else [])]
    if len(named) > 1:
        raise UsageError(f"history: give one file of a history, not {' and '.join(named)}")
    if named:
        return named[0], folders
    if len(folders) != 1:
        raise UsageError(
            "history: give a log folder, or the file of a history; with several folders, name the "
            "file with --db FILE"
        )
    if isinstance(as_path(folders[0]), RemotePath):
        raise UsageError(
            f"{folders[0]}: its history is kept in a file of this machine; name it with --db FILE"
        )
    folder = resolved(folders[0])
    if not folder.name:
        raise UsageError(f"{folders[0]}: has no folder above it; name the file with --db FILE")
    return str(folder.with_name(f"{folder.name}{_ENDING}")), folders


def _is_file_of_history(path: str, added: Sequence[str]) -> bool:
    """Whether a path is the file of a history, or that of a new one.

    Raises:
        InputError: There is nothing of this name.
    """
    from tfprof.insight.history.owner import is_history_file

    if not as_path(path).exists():
        if added or path.endswith(".duckdb"):
            return True
        raise InputError(f"{path}: there is no such folder or history")
    return is_history_file(path)


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--label {text!r}: write it as NAME=VALUE, such as branch=main")
    return name, value


def _metrics(names: Sequence[str]) -> list[str]:
    from tfprof.insight.budgets.first_budget import first_limits
    from tfprof.options.lists import split_list

    known = [limit.metric.name for limit in first_limits()]
    chosen = split_list(names) if names else []
    for name in chosen:
        if name not in known:
            raise UsageError(f"--metric {name}: there is no such key figure; there are "
                             f"{', '.join(known)}")  # fmt: skip
    return list(chosen)


command = Command(
    "history",
    callback=run,
    params=[
        HelpedArgument(
            "paths", "PATH...", "A log folder with many runs, here or in a bucket, or the file of "
            "a history.", metavar="[PATH]...", nargs=-1, type=InputPath(),
        ),
        CommandOption(
            ["--db"], type=OutputPath(), metavar="FILE", section=_KEPT,
            help="The file of the history, a DuckDB database. [default: FOLDER.history.duckdb "
            "beside the folder]",
        ),
        CommandOption(
            ["added", "--add"], type=InputPath(), metavar="RUN", multiple=True, section=_KEPT,
            help="Add this run, or the latest of a log folder. Adding a run again changes nothing "
            "but its commit and labels. Can be repeated.",
        ),
        CommandOption(
            ["--commit"], metavar="SHA", section=_KEPT,
            help="Commit of the added run. [default: that of the CI service, else of git here]",
        ),
        CommandOption(
            ["labels", "--label"], metavar="NAME=VALUE", multiple=True, section=_KEPT,
            help="A fact to note with the added run. Can be repeated.",
        ),
        CommandOption(
            ["--program"], metavar="NAME", section=_KEPT,
            help="What new runs ran: only runs of one program are compared. [default: the folder "
            "above the log, the steps, and the functions that they call]",
        ),
        CommandOption(
            ["metrics", "--metric"], metavar="NAMES", multiple=True, section=_SHOWN,
            help="Only these key figures, such as step_time,peak_memory. [default: all]",
        ),
        CommandOption(
            ["--compare/--no-compare"], default=True, section=_SHOWN,
            help="Compare a run from before with one from after each of the last changes of the "
            "step time. [default: --compare]",
        ),
        CommandOption(
            ["--table"], metavar="NAME", section=_SHOWN,
            help="Show only one table. [default: all as text and JSON, changes as CSV]",
        ),
        CommandOption(
            ["--top"], type=IntType(), metavar="N", section=_SHOWN,
            help=f"Rows of each table; 0 is all. [default: {TOP} as text, else all]",
        ),
        *result_options(
            FORMATS, "text: a report. json: everything. csv: one table. html: a page in one file."
        ),
    ],
    help="When did a program become slower, by how much, and with which commit? Keeps the key "
    "figures of many runs in a file and finds the runs with which they changed, beyond how much "
    "runs differ. Runs that were read before are not read again. Needs DuckDB: pip install "
    "'tfprof[sql]'.",
    examples=[
        "tfprof history logs/",
        "tfprof history perf.duckdb --add logs/ --commit $GITHUB_SHA --label branch=main",
        "tfprof history perf.duckdb -o history.html",
        "tfprof history s3://bucket/logs --db perf.duckdb --metric step_time",
    ],
)  # fmt: skip
