"""``tfprof checkpoint``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tfprof.cli.options import Command, CommandOption, HelpedArgument, from_params
from tfprof.cli.output import Target, harmless, note
from tfprof.cli.progress import progress
from tfprof.cli.results import ResultChoice, as_csv, as_json, as_text, result_options
from tfprof.cli.spelling import did_you_mean
from tfprof.errors import InputError, MalformedProfileError, UnknownFormatError, UsageError
from tfprof.files.disk import is_folder

if TYPE_CHECKING:
    from tfprof.files.checkpoint import Checkpoint, CheckpointVariable
    from tfprof.files.checkpoint.report import VariableRow
    from tfprof.files.checkpoint.value_statistics import ValueStatistics
    from tfprof.files.checkpoint.variable_values import VariableValue

_SECTION = "What to show"


def run(
    path: str,
    names: Sequence[str],
    stats: bool,
    recover: bool,
    values: bool,
    sort: str,
    **params: Any,
) -> None:
    """Open a checkpoint, choose variables, and write their list or values."""
    result = from_params(ResultChoice, params)
    target, form = result.target(), result.format
    if values and not names:
        raise UsageError("--values needs the NAME of a variable; '.*' means all")
    from tfprof.files.checkpoint import open_checkpoint
    from tfprof.inputs.resolve import Input

    try:
        checkpoint = open_checkpoint(path, recover=recover)
    except UnknownFormatError as error:
        raise Input(path).refusal("not a TensorFlow checkpoint") from error
    try:
        damage = checkpoint.damage
    except MalformedProfileError as error:
        raise MalformedProfileError(
            f"{error}. --recover shows the variables without their names in the program"
        ) from error
    if is_folder(path):
        note(f"showing {checkpoint.path}")
    variables = _chosen(checkpoint, names)
    if sort == "size":
        variables.sort(key=lambda variable: (-(variable.n_bytes or 0), variable.name))
    if values:
        target.write(_values(checkpoint, variables, form, target))
    else:
        rows = _rows(checkpoint, variables, stats, recover=recover)
        target.write(_list(checkpoint, rows, stats, form, target))
    if damage:
        note(f"the names of variables in the program are unknown: {damage}")
    missing = checkpoint.missing_files
    if missing:
        one = len(missing) == 1
        files = (
            "a file of the checkpoint is" if one else f"{len(missing)} files of the checkpoint are"
        )
        note(
            f"{files} missing{':' if one else ', such as'} {missing[0]}. Values in "
            f"{'it' if one else 'them'} cannot be read, and names of variables in the program may "
            "be missing"
        )


def _chosen(checkpoint: Checkpoint, names: Sequence[str]) -> list[CheckpointVariable]:
    """The variables that names or expressions match; all, if none are given."""
    if not names:
        return list(checkpoint.variables)
    from tfprof.options.regex import NameMatcher

    chosen: dict[str, CheckpointVariable] = {}
    for name in names:
        variable = checkpoint.find(name)
        if variable is not None:
            chosen[variable.name] = variable
            continue
        matches = NameMatcher([name]).matches
        matching = [
            variable for variable in checkpoint.variables if any(map(matches, _names(variable)))
        ]
        if not matching:
            known = [known for variable in checkpoint.variables for known in _names(variable)]
            hint = did_you_mean(name, known)
            raise UsageError(f"{checkpoint.path}: no variable has or matches {name!r}{hint}")
        chosen |= {variable.name: variable for variable in matching}
    return sorted(chosen.values(), key=lambda variable: variable.name)


def _names(variable: CheckpointVariable) -> list[str]:
    """All names of a variable."""
    return list(filter(None, (variable.name, variable.short_name, variable.full_name)))


def _list(
    checkpoint: Checkpoint,
    rows: Sequence[VariableRow],
    with_statistics: bool,
    form: str | None,
    target: Target,
) -> str:
    from tfprof.files.checkpoint.report import VariableTable, plain_rows, shape_text, total_line

    if form == "text":
        n_all = len(checkpoint.variables)
        return as_text([VariableTable(rows, with_statistics, n_all, target.glyphs())], target)
    plain = plain_rows(rows, with_statistics=with_statistics)
    if form == "json":
        return as_json(_head(checkpoint), plain)
    flat = [{**row, "shape": shape_text(row["shape"])} for row in plain]
    if form == "html":
        return _page(checkpoint, "Variables", [total_line(rows, len(checkpoint.variables))], flat)
    return as_csv(flat)


def _page(
    checkpoint: Checkpoint, title: str, lines: Sequence[str], rows: Sequence[dict[str, Any]]
) -> str:
    from tfprof.ui.pages.contents_page import checkpoint_page
    from tfprof.ui.web.report import one_page

    return one_page(checkpoint_page(title, lines, rows), checkpoint.path.name).decode()


def _head(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "path": str(checkpoint.path),
        "format": checkpoint.format,
        "n_variables": len(checkpoint.variables),
        "missing_files": list(map(str, checkpoint.missing_files)),
    }


def _rows(
    checkpoint: Checkpoint,
    variables: Sequence[CheckpointVariable],
    with_statistics: bool,
    *,
    recover: bool,
) -> list[VariableRow]:
    from tfprof.files.checkpoint.report import VariableRow

    rows = [
        VariableRow(
            variable.short_name,
            variable.name,
            variable.full_name,
            variable.dtype,
            variable.shape,
            variable.n_values,
            variable.n_bytes,
        )
        for variable in variables
    ]
    if not with_statistics:
        return rows
    with progress() as watch:
        watch.stage(f"reading {checkpoint.path}")
        watch.expect(sum(variable.n_bytes or 0 for variable in variables))
        for place, variable in enumerate(variables):
            statistics = _statistics(checkpoint, variable, recover=recover)
            rows[place] = replace(rows[place], statistics=statistics)
            watch.advance(variable.n_bytes or 0)
    return rows


def _statistics(
    checkpoint: Checkpoint, variable: CheckpointVariable, *, recover: bool
) -> ValueStatistics | None:
    """Statistics of values; None if they are missing. Damage is an error, or a note to recover."""
    from tfprof.files.checkpoint.value_statistics import statistics_of

    try:
        return statistics_of(checkpoint.read(variable.name))
    except MalformedProfileError as error:
        if not recover:
            raise MalformedProfileError(
                f"{variable.name}: {error}. --recover shows the other variables, --no-stats reads "
                "no values"
            ) from error
        note(f"{variable.name}: left out: {error}")
        return None
    except InputError:  # a note, or the type, gives the reason
        return None


def _values(
    checkpoint: Checkpoint,
    variables: Sequence[CheckpointVariable],
    form: str | None,
    target: Target,
) -> str:
    from tfprof.files.checkpoint.report import nested_values, value_rows, values_text

    read = [(variable, _value(checkpoint, variable)) for variable in variables]
    if form == "text":
        text = "\n".join(values_text(variable.short_name, value) for variable, value in read)
        return harmless(text) if target.is_terminal else text
    if form == "json":
        rows = [
            {
                "name": variable.name,
                "dtype": variable.dtype,
                "shape": list(variable.shape),
                "values": nested_values(value),
            }
            for variable, value in read
        ]
        return as_json(_head(checkpoint), rows)
    flat = [row for variable, value in read for row in value_rows(variable.name, value)]
    if form == "html":
        return _page(checkpoint, "Values", [f"{len(flat):,} values."], flat)
    return as_csv(flat)


def _value(checkpoint: Checkpoint, variable: CheckpointVariable) -> VariableValue:
    from tfprof.files.checkpoint.values import checkpoint_values

    value = checkpoint_values(checkpoint).value(variable.name)
    assert value is not None
    return value


command = Command(
    "checkpoint",
    callback=run,
    params=[
        HelpedArgument(
            "path", "PATH", "Prefix of a checkpoint (model.ckpt-100), one of its files, or its "
            "folder; or a SavedModel.",
        ),
        HelpedArgument(
            "names", "NAME...", "Names of variables, or RE2 expressions that match whole names. "
            "Without one, all variables.", nargs=-1, metavar="[NAME]...",
        ),
        CommandOption(
            ["--stats/--no-stats"], default=True, section=_SECTION,
            help="Read all values, verify their checksums, and show minimum, maximum, mean, "
            "standard deviation, and the numbers of zeros and of NaN or infinite values, which the "
            "others leave out. [default: --stats]",
        ),
        CommandOption(
            ["--recover"], is_flag=True, section=_SECTION,
            help="Skip damaged values and names; notes say what is left out.",
        ),
        CommandOption(
            ["--values"], is_flag=True, section=_SECTION,
            help="Show all values of the named variables, in full precision.",
        ),
        CommandOption(
            ["--sort"], type=click.Choice(["name", "size"]), default="name", section=_SECTION,
            help="Order by name, or by size, largest first. [default: name]",
        ),
        *result_options(
            ("text", "json", "csv", "html"),
            "text: a report. json, csv: all numbers; unknown ones are null or empty. html: a page "
            "in one file.",
        ),
    ],
    help="Show the variables of a TensorFlow checkpoint, without TensorFlow: type, shape, size and "
    "statistics of the values, or the values themselves. tfprof reads both formats: index with "
    "shards, and the older one of TensorFlow 1.",
    examples=[
        "tfprof checkpoint training/ --sort size",
        "tfprof checkpoint model.ckpt-100 'dense/.*' --no-stats --format csv",
        "tfprof checkpoint model.ckpt-100 dense/bias --values",
    ],
)  # fmt: skip
