"""The completion script for zsh."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    ProgramReference,
    output_values,
)

_HEAD = """\
#compdef tfprof
# Completion of tfprof for zsh; made by: tfprof completion zsh
"""

_ENGINE = r"""
_tfprof() {
    local -a commands names flags options specs
    local command= i
    __tfprof_commands
    names=(${commands%%:*})
    for (( i = 2; i < CURRENT; i++ )); do
        if (( ${names[(Ie)$words[i]]} )) && ! __tfprof_takes_next $words[i-1]; then
            command=$words[i]
            words=($words[1] "${(@)words[i+1,-1]}")
            (( CURRENT -= i - 1 ))
            break
        fi
    done
    __tfprof_options
    __tfprof_spell
    _arguments $specs
}

# Whether the next word is the value of this option.
__tfprof_takes_next() {
    [[ $1 == -?* && $1 != *=* ]] || return 1
    local key=${${1#-}#-}
    (( ! ${flags[(Ie)${key//-/_}]} ))
}

# Each option in all its spellings, of which the one that suits the word is shown.
__tfprof_spell() {
    local spec star name rest shown dashes=-- style= word=${${PREFIX#-}#-}
    local -aU spellings
    [[ $PREFIX != -[^-]* ]] || dashes=-
    case ${word%%=*} in
        (*_*) style=_ ;;
        (*-*) style=- ;;
    esac
    for spec in $options; do
        if [[ $spec != (\*|)--* ]]; then
            specs+=("$spec")
            continue
        fi
        star=${(M)spec#\*}
        name=${${spec#*--}%%[^a-zA-Z0-9_-]*}
        rest=${spec#*--$name}
        shown=$name
        [[ -z $style ]] || shown=${name//[-_]/$style}
        spellings=({--,-}{$name,${name//-/_},${name//_/-}})
        for name in $spellings; do
            if [[ $name == $dashes$shown ]]; then
                specs+=("$star$name$rest")
            else
                specs+=("!$star$name$rest")
            fi
        done
    done
}

# A command; where none begins like this, the files of a run.
__tfprof_first() {
    if [[ -n $command ]] || ! _describe -t commands command commands; then
        _files
    fi
}

__tfprof_output() {
    if compset -P '*outfile='; then
        _files
    else
        compadd "$@" -S '' - @OUTPUTS@
    fi
}
"""

_END = """
# Called by the completion system that has loaded the file, or sourced?
if [[ ${funcstack[1]-} == _tfprof ]]; then
    _tfprof "$@"
else
    compdef _tfprof tfprof
fi
"""


def quoted(text: str) -> str:
    """One word for zsh, whatever it holds."""
    if re.fullmatch(r"[\w/.-]+", text, re.ASCII):
        return text
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"


def zsh_script(reference: ProgramReference) -> str:
    """The script; ``source`` it, or name it ``_tfprof`` in a folder of ``fpath``."""
    outputs = " ".join(map(quoted, output_values()))
    lines = [
        _HEAD.rstrip("\n"),
        _ENGINE.rstrip("\n").replace("@OUTPUTS@", outputs),
        "",
        "__tfprof_commands() {",
        "    commands=(",
        *(f"        {quoted(_described(c.name, c.summary))}" for c in reference.commands),
        "    )",
        "    # Options that take no value, or may go without.",
        f"    flags=({' '.join(reference.program.flags())})",
        "}",
        "",
        "__tfprof_options() {",
        "    case $command in",
    ]
    for names, command in reference.groups():
        lines += [f"        ({'|'.join(map(quoted, names))})", "            options=("]
        lines += [f"                {quoted(spec)}" for spec in _specs(command)]
        lines += ["            )", "            ;;"]
    return "\n".join([*lines, "    esac", "}"]) + f"\n{_END}"


def _specs(command: CommandReference) -> Iterable[str]:
    """What ``_arguments`` calls specifications."""
    for option in command.options:
        for name in option.names:
            yield _spec(option, name)
    for position, argument in enumerate(command.arguments, 1):
        number = "*" if argument.is_repeatable else str(position)
        yield f"{number}:{_escaped(argument.metavar, ':')}:{_action(argument)}"


def _spec(option: OptionReference, name: str) -> str:
    star = "*" if option.is_repeatable else ""
    about = f"[{_escaped(option.summary_of(name), '[]')}]"
    if option.kind == "none":
        return f"{star}{name}{about}"
    # The value of a bool is looked for in the same word only, else no option could follow.
    equals = ("=" if option.takes_value else "=-") if name.startswith("--") else ""
    colons = ":" if option.takes_value else "::"
    message = _escaped(option.metavar.strip("[]"), ":")
    return f"{star}{name}{equals}{about}{colons}{message}:{_action(option)}"


def _action(parameter: OptionReference | ArgumentReference) -> str:
    """How ``_arguments`` is to find values."""
    words = _escaped(" ".join(map(quoted, parameter.choices)), ":")
    return {
        "none": "",
        "text": "",
        "bool": f"({words})",
        "choice": f"({words})",
        "choices": f"_sequence compadd - {words}",
        "file": "_files",
        "files": "_sequence _files",
        "folder": "_files -/",
        "output": "__tfprof_output",
        "command": "__tfprof_first",
    }[parameter.kind]


def _described(name: str, text: str) -> str:
    return f"{_escaped(name, ':')}:{text}"


def _escaped(text: str, special: str) -> str:
    return "".join(f"\\{char}" if char in f"\\{special}" else char for char in text)
