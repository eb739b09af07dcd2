"""The page ``docs/commands.md``, made from the description of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    Paragraph,
    ProgramReference,
)

_HEAD = """\
<!-- Written by docs/generate_reference.py from the commands; do not edit. -->

# Commands

`tfprof COMMAND [OPTIONS] [PATH]...` runs one command, `tfprof [OPTIONS] [PATH]...` opens the
[shell](#shell). `tfprof COMMAND --help` shows what is on this page, and so does
`man tfprof-COMMAND`.

Every option may be written `-max_depth 4`, `-max_depth=4`, `--max_depth=4` or `--max-depth 4`,
before the command or behind it. [Exit codes](tutorial.md) are the same for all commands.

"""
_VIEWS = """\
## views

The commands {commands} take the same arguments and options.

"""


def commands_page(reference: ProgramReference) -> str:
    """The whole page."""
    views, view = next(group for group in reference.groups() if "op" in group[0])
    rows = [f"| [`{c.name}`](#{c.name}) | {_prose(c.summary)} |" for c in reference.commands]
    parts = [_HEAD, "\n".join(["| command | |", "| --- | --- |", *rows]), "\n\n"]
    options = [option for option in reference.program.options if option.section == "Other"]
    parts += ["Without a command, or with any:\n\n", _table(options), "\n"]
    for command in reference.commands:
        parts.append(_command(command, view, command.name in views))
        if command.name == views[-1]:
            names = ", ".join(f"`{name}`" for name in views)
            parts.append(_VIEWS.format(commands=names))
            parts += [_section(title, own) for title, own in view.sections().items()]
    return "".join(parts).rstrip("\n") + "\n"


def _command(command: CommandReference, view: CommandReference, is_view: bool) -> str:
    parts = [f"## {command.name}\n\n", f"```text\n{command.usage}\n```\n\n"]
    parts += [_paragraph(paragraph) for paragraph in command.help]
    if is_view:
        parts.append("Its arguments and options are those of all [views](#views).\n\n")
    else:
        for title, parameters in command.sections().items():
            own = [p for p in parameters if not getattr(p, "is_of_views", False)]
            parts.append(_section(title, own))
            if len(own) < len(parameters):
                parts.append(_shared(command, view))
    if command.examples:
        examples = "\n".join(command.examples)
        parts.append(f"Examples:\n\n```text\n{examples}\n```\n\n")
    return "".join(parts)


def _shared(command: CommandReference, view: CommandReference) -> str:
    """Which options of the views a command has that is none."""
    own = {option.names for option in command.options}
    lacking = [o for o in view.options if o.is_of_views and o.names not in own]
    but_for = f", but for {', '.join(map(_names, lacking))}" if lacking else ""
    return f"The options under the same title of the [views](#views){but_for}.\n\n"


def _section(title: str, own: Sequence[ArgumentReference | OptionReference]) -> str:
    """A table; what the head of the page describes needs none."""
    if title == "Other":
        return ""
    return f"**{title}**\n\n" + (f"{_table(own)}\n" if own else "")


def _table(parameters: Iterable[ArgumentReference | OptionReference]) -> str:
    rows = ["| | | default |", "| --- | --- | --- |"]
    for parameter in parameters:
        if isinstance(parameter, ArgumentReference):
            rows.append(f"| {_code(parameter.metavar)} | {_prose(parameter.help)} | |")
        else:
            rows.append(f"| {_names(parameter)} | {_about(parameter)} | {_default(parameter)} |")
    return "\n".join(rows) + "\n"


def _names(option: OptionReference) -> str:
    *others, last = option.names
    shown = [*others, f"{last} {option.metavar}".rstrip()]
    return ", ".join(map(_code, shown))


def _about(option: OptionReference) -> str:
    text = _prose(option.text)
    if not option.is_of_views:
        return text
    name = option.names[0].lstrip("-")
    return f"{text} [More](options.md#{name})"


def _default(option: OptionReference) -> str:
    default = option.default
    return _code(default) if re.fullmatch(r"\S+", default) else _prose(default)


def _paragraph(paragraph: Paragraph) -> str:
    if paragraph.is_literal:
        return f"```text\n{paragraph.text}\n```\n\n"
    return f"{_prose(paragraph.text)}\n\n"


def _code(text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`" if text else ""


def _prose(text: str) -> str:
    """Text in which Markdown sees no marks: options become code, the rest is escaped."""
    parts = re.split(r"((?<![\w-])--?[a-zA-Z][\w-]*(?:=\w+)?)", text)
    return "".join(_code(p) if i % 2 else _escaped(p) for i, p in enumerate(parts))


def _escaped(text: str) -> str:
    return re.sub(r"[\\`*<>|]|(?<!\w)_|_(?!\w)|\[(?=[^\]]*\]\()", lambda m: f"\\{m[0]}", text)
