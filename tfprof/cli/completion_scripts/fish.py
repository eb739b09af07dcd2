"""The completion script for fish 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    ProgramReference,
    output_values,
)

T = TypeVar("T")

_ENGINE = r"""
# Prints the command that the line names, an empty line if there is none yet.
function __tfprof_command
    set -l previous ''
    for word in (commandline -opc)[2..-1]
        if contains -- $word (__tfprof_commands); and not __tfprof_takes_next $previous
            printf '%s\n' $word
            return
        end
        set previous $word
    end
    echo ''
end

# Whether the next word is the value of this option.
function __tfprof_takes_next
    string match -qr -- '^-[^=]+$' "$argv[1]"; or return 1
    set -l key (string replace -r -- '^--?' '' $argv[1] | string replace -a -- - _)
    not contains -- $key (__tfprof_flags)
end

# Whether the command is one of those behind the first argument, and options are typed in the
# style that this argument names. Any style suits a word that is no option.
function __tfprof_in
    contains -- (__tfprof_command) $argv[2..-1]; or return 1
    set -l word (commandline -ct)
    if string match -qr -- '^-[^-]' $word
        test $argv[1] = single
    else if string match -qr -- '^--[^=_]*-' $word
        test $argv[1] = kebab
    else if string match -qr -- '^-' $word
        test $argv[1] = snake
    end
end

# Whether a path stands where a command could.
function __tfprof_at_path
    set -l word (commandline -ct)
    test -z (__tfprof_command); and not string match -q -- "$word*" (__tfprof_commands)
end

# What the value that is being typed begins with, up to the last match of the regex.
function __tfprof_before
    set -l value (string replace -r -- '^--?[\w-]+=' '' (commandline -ct))
    string match -r -- "^(?:.*$argv[1])?" $value
end

# The elements that the list does not have yet.
function __tfprof_list
    set -l before (__tfprof_before ,)
    for element in $argv
        string match -q -- "*,$element,*" ",$before"; or printf '%s\n' $before$element
    end
end

# Paths behind what the regex matches.
function __tfprof_paths
    set -l before (__tfprof_before $argv[1])
    set -l value (string replace -r -- '^--?[\w-]+=' '' (commandline -ct))
    set -l path (string sub -s (math 1 + (string length -- "$before")) -- $value)
    for found in (__fish_complete_path $path)
        printf '%s\n' $before$found
    end
end

function __tfprof_output
    if string match -q -- '*outfile=*' (commandline -ct)
        __tfprof_paths outfile=
    else
        printf '%s\n' $argv
    end
end
"""


def quoted(text: str) -> str:
    """One word for fish, whatever it holds."""
    if re.fullmatch(r"[\w/.-]+", text, re.ASCII):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def fish_script(reference: ProgramReference) -> str:
    """The script; ``source`` it, or name it ``tfprof.fish`` where fish looks."""
    lines = [
        "# Completion of tfprof for fish; made by: tfprof completion fish",
        _ENGINE.rstrip("\n"),
        "",
        *_printer("__tfprof_commands", (command.name for command in reference.commands)),
        "",
        "# Options that take no value, or may go without.",
        *_printer("__tfprof_flags", reference.program.flags()),
        "",
        "complete -c tfprof -e",
        "complete -c tfprof -f",
        "complete -c tfprof -n __tfprof_at_path -F",
    ]
    condition = quoted("__tfprof_in any ''")
    for command in reference.commands:
        words = f"-a {quoted(quoted(command.name))} -d {quoted(command.summary)}"
        lines.append(f"complete -c tfprof -n {condition} {words}")
    entries = (reference.program, *reference.commands)
    for option, names in _users(entries, lambda entry: entry.options).items():
        lines += ["", *_option(option, names)]
    for argument, names in _users(entries, lambda entry: entry.arguments).items():
        if argument.kind not in ("command", "text"):
            where = quoted(f"__tfprof_in any {names}")
            values = _values(argument).removeprefix("-x ").removeprefix("-r ")  # for options
            lines += ["", f"complete -c tfprof -n {where} {values}"]
    return "\n".join(lines) + "\n"


def _printer(function: str, words: Iterable[str]) -> list[str]:
    text = " ".join(map(quoted, words))
    return [f"function {function}", f"    printf '%s\\n' {text}", "end"]


def _users(
    entries: Iterable[CommandReference], parameters: Callable[[CommandReference], Iterable[T]]
) -> dict[T, str]:
    """Each option or argument with the commands that have it, as words for fish."""
    found: dict[T, list[str]] = {}
    for entry in entries:
        for parameter in parameters(entry):
            found.setdefault(parameter, []).append(quoted(entry.name))
    return {parameter: " ".join(names) for parameter, names in found.items()}


def _option(option: OptionReference, commands: str) -> Iterable[str]:
    values = f" {_values(option)}" if option.kind != "none" else ""
    for name in option.names:
        about = f"-d {quoted(option.summary_of(name))}"
        for style, spelt in _spellings(name):
            condition = quoted(f"__tfprof_in {style} {commands}")
            yield f"complete -c tfprof -n {condition} {spelt}{values} {about}"


def _spellings(name: str) -> Iterable[tuple[str, str]]:
    """The option in each style."""
    if not name.startswith("--"):
        yield "snake", f"-s {name[1:]}"
        return
    yield "snake", f"-l {name[2:]}"
    yield "single", f"-o {name[2:]}"
    kebab = name[2:].replace("_", "-")
    if "-" in kebab:
        yield "kebab", f"-l {kebab}"


def _values(parameter: OptionReference | ArgumentReference) -> str:
    """What ``complete`` is to offer as values."""
    words = " ".join(map(quoted, parameter.choices))
    outputs = " ".join(map(quoted, output_values()))
    return {
        "none": "",
        "text": "-x",
        "bool": f"-a {quoted(words)}",
        "choice": f"-x -a {quoted(words)}",
        "choices": f"-x -a {quoted(f'(__tfprof_list {words})')}",
        "file": "-r -F",
        "files": f"-x -a {quoted('(__tfprof_paths ,)')}",
        "folder": f"-x -a {quoted('(__fish_complete_directories (commandline -ct))')}",
        "output": f"-x -a {quoted(f'(__tfprof_output {outputs})')}",
        "command": "",
    }[parameter.kind]
