"""Write ``docs/options.md`` from ``tfprof/options/spec.py``.

python docs/generate_options.py            write it
python docs/generate_options.py --check    compare only; exit 1 when it is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfprof.cli.options import CLI_DEFAULTS
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.options.spec import ALL_VIEWS, OPTIONS, OUTPUT_TYPES, Option

TARGET = Path(__file__).with_name("options.md")

_TYPES = {"int": "integer", "bool": "boolean", "str": "string", "list": "list of strings"}

_HEAD = """\
<!-- Written by docs/generate_options.py from tfprof/options/spec.py; do not edit. -->

# Options

Every view takes the same options, under the same names in a Python dict and on the command
line. `tfprof.ProfileOptionBuilder` makes such a dict. The command line takes each name as
`-max_depth 4`, `-max_depth=4`, `--max_depth=4` or `--max-depth 4`.

Each option has three defaults, as in TensorFlow: one for a key that is missing from a dict, one for
a new `ProfileOptionBuilder()`, and one for the command line. Without options, `Profiler.view`,
`report` and `output_files` use `auto` if the command line does, else the default of the builder.

An unknown key or a wrong value raises `tfprof.UsageError`, which names the allowed ones. Classic
mode only warns if TensorFlow accepts it.
"""

_REGEXES = """\
## Regular expressions

Options that end in `_regexes` hold regular expressions in [RE2
syntax](https://github.com/google/re2/wiki/Syntax). An expression must match the whole name: `conv`
matches only `conv`, `.*conv.*` every name that contains it. A list matches if one of its
expressions does; an empty list matches nothing. Unicode categories such as `\\pL` and `\\p{Lu}`
work; scripts such as `\\p{Greek}` do not.

On the command line commas separate the elements of a list, `\\,` is a comma within an element,
and `''` is the empty list. A list option may be given several times.
"""

_OUTPUT = """\
## Outputs

| `output` | where the view goes |
| --- | --- |
| `stdout`, or empty | the report, to `sys.stdout` |
| `none` | nowhere; the view still returns its result |
| `file:outfile=PATH` | the report, into a file |
| `timeline:outfile=PATH` | graph, scope and code view: a Chrome trace |
| `timeline:steps=all,outfile=PATH` | the same with all steps in one file |
| `pprof:outfile=PATH` | code view: a profile for [pprof](https://github.com/google/pprof) |
| `dot:outfile=PATH` | graph, scope and code view: a drawing |

A timeline is compressed if its name ends in `.gz`. With several steps, the graph view writes one
file for each, with `_<step>` before the ending. pprof shows the first attribute of `select`. The
ending of a drawing chooses its format: `.dot`, `.gv`, `.svg`, `.pdf` or `.png`.

Everything after `outfile=` is the path. An existing file is overwritten as a whole; if writing
fails, the old file stays. The command line overwrites only with `--force`. Classic mode writes
timelines to `PATH_<step>`, and one selected attribute for pprof, as TensorFlow does.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD, _table(), *map(_section, OPTIONS), _REGEXES, _OUTPUT, _presets()]
    return "\n".join(parts)


def _table() -> str:
    rows = [
        "| option | type | unit | missing key | builder | command line |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for option in OPTIONS:
        defaults = (option.default, option.builder_default, CLI_DEFAULTS[option.name])
        cells = [f"[`{option.name}`](#{option.name})", _TYPES[option.kind], option.unit or "–"]
        cells += [f"`{value!r}`" for value in defaults]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _section(option: Option) -> str:
    lines = [f"## {option.name}", "", option.help]
    if option.views != ALL_VIEWS:
        others = [view for view in ALL_VIEWS if view not in option.views]
        lines.append(f"It has no effect in the {' and '.join(others)} view.")
    if option.choices:
        what = "Any of" if option.kind == "list" else "One of"
        lines += ["", f"{what}: {', '.join(f'`{choice}`' for choice in option.choices)}."]
    return "\n".join(lines) + "\n"


def _presets() -> str:
    presets = {
        "trainable_variables_parameter()": ProfileOptionBuilder.trainable_variables_parameter(),
        "float_operation()": ProfileOptionBuilder.float_operation(),
        "time_and_memory()": ProfileOptionBuilder.time_and_memory(),
    }
    fresh = ProfileOptionBuilder().build()
    lines = [
        "## Presets",
        "",
        "Static methods of `ProfileOptionBuilder`; each returns a dict. They differ from",
        "`ProfileOptionBuilder().build()` in:",
        "",
        "| preset | differs in |",
        "| --- | --- |",
    ]
    for name, options in presets.items():
        changed = [
            f"`{key}={value!r}`" for key, value in options.items() if value != fresh.get(key, 0)
        ]
        lines.append(f"| `{name}` | {', '.join(changed)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write or compare the page."""
    if arguments not in ([], ["--check"]):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    text = page()
    if arguments:
        if not TARGET.exists() or TARGET.read_text("utf-8") != text:
            sys.stdout.write(f"{TARGET.name} is stale; run: python docs/generate_options.py\n")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    assert all(f"`{kind}" in _OUTPUT for kind in OUTPUT_TYPES), "describe the new output above"
    sys.exit(main(sys.argv[1:]))
