"""The completion script for bash 4 and newer."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterable

from tfprof.cli.reference import (
    CommandReference,
    ProgramReference,
    ValueKind,
    output_values,
)
from tfprof.cli.spelling import FALSE_WORDS, TRUE_WORDS, key_of

_ENGINE = r"""
_tfprof() {
    COMPREPLY=()
    local -a words=() options=() choices=()
    local command='' kind=none key='' ended='' position=0 word i
    __tfprof_words
    local last=$((${#words[@]} - 1))
    local cur=${words[last]}
    for ((i = 1; i < last; i++)); do
        word=${words[i]}
        if [[ -n $key ]]; then
            __tfprof_value "$key"
            key=''
            if [[ $kind != bool ]] || __tfprof_is_bool "$word"; then
                continue
            fi
        fi
        if [[ -n $ended || $word != -?* ]]; then
            if [[ -z $command ]] && __tfprof_is_command "$word"; then
                command=$word
            else
                position=$((position + 1))
            fi
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word != *=* ]]; then
            __tfprof_key "$word"
            __tfprof_value "$key"
            [[ $kind != none ]] || key=''
        fi
    done
    __tfprof_offer
}

# The words up to the cursor. Readline also parts them at = and :, which are no blanks.
__tfprof_words() {
    local rest=${COMP_LINE:0:COMP_POINT} blanks word i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blanks=${rest%%[![:space:]]*}
        rest=${rest:${#blanks}}
        word=${COMP_WORDS[i]}
        word=${rest:0:${#word}}
        rest=${rest:${#word}}
        if [[ $i -gt 0 && -z $blanks ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
}

# --max-depth is max_depth.
__tfprof_key() {
    key=${1#-}
    key=${key#-}
    key=${key//-/_}
}

# Fills COMPREPLY for the word at the cursor.
__tfprof_offer() {
    local prefix='' value=$cur kept breaks=$'\n' char
    for char in = : @; do
        [[ $COMP_WORDBREAKS != *"$char"* ]] || breaks+=$char
    done
    kept=${cur%"${cur##*[$breaks]}"}
    __tfprof_value "$key"
    if [[ -n $key && $kind != bool ]]; then
        __tfprof_fill
    elif [[ -z $ended && $cur == -*=* ]]; then
        prefix=${cur%%=*}=
        value=${cur#*=}
        __tfprof_key "${cur%%=*}"
        __tfprof_value "$key"
        __tfprof_fill
    elif [[ -z $ended && $cur == -* ]]; then
        __tfprof_spell
    else
        [[ -z $key ]] || __tfprof_fill
        __tfprof_value "@$((position + 1))"
        __tfprof_fill
    fi
    # Readline replaces only what is behind the last break.
    if ((${#COMPREPLY[@]})); then
        COMPREPLY=("${COMPREPLY[@]#"$kept"}")
        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
    fi
}

# The options in the style in which the word begins.
__tfprof_spell() {
    local dashes=-- style='' option name=${cur#-}
    name=${name#-}
    [[ $cur != -[!-]* ]] || dashes=-
    case $name in
    *_*) style=_ ;;
    *-*) style=- ;;
    esac
    __tfprof_options
    for option in "${options[@]}"; do
        if [[ $option == --* ]]; then
            name=${option#--}
            [[ -z $style ]] || name=${name//[-_]/$style}
            option=$dashes$name
        fi
        [[ $option != "$cur"* ]] || COMPREPLY+=("$option")
    done
}

# Values that begin with $value, each with $prefix in front.
__tfprof_fill() {
    local before
    if [[ $value == [\"\']* ]]; then
        prefix+=${value:0:1}
        kept=$prefix
        value=${value:1}
    fi
    case $kind in
    file | folder)
        __tfprof_paths
        ;;
    files)
        prefix+=${value%"${value##*,}"}
        value=${value##*,}
        __tfprof_paths
        ;;
    choices)
        before=${value%"${value##*,}"}
        prefix+=$before
        value=${value##*,}
        __tfprof_match ",$before"
        compopt -o nospace
        ;;
    output)
        if [[ $value == *outfile=* ]]; then
            prefix+=${value%%outfile=*}outfile=
            value=${value#*outfile=}
            __tfprof_paths
        else
            __tfprof_match
        fi
        ;;
    command)
        [[ -n $command ]] || __tfprof_match
        ((${#COMPREPLY[@]})) || __tfprof_paths
        ;;
    bool | choice)
        __tfprof_match
        ;;
    esac
}

# The choices that begin with $value, but for those in the list $1.
__tfprof_match() {
    local choice
    for choice in "${choices[@]}"; do
        if [[ $choice == "$value"* && ${1-} != *",$choice,"* ]]; then
            printf -v choice %q "$choice"
            COMPREPLY+=("$prefix$choice")
        fi
    done
}

# Readline knows best how to complete a path; only behind a comma it needs help.
__tfprof_paths() {
    local path
    if [[ $prefix == "$kept" ]]; then
        if [[ $kind == folder ]]; then
            compopt -o dirnames
        else
            compopt -o default
        fi
        return
    fi
    for path in "$value"*; do
        [[ -e $path ]] || continue
        [[ ! -d $path ]] || path+=/
        printf -v path %q "$path"
        COMPREPLY+=("$prefix$path")
    done
    compopt -o nospace
}
"""


def quoted(text: str) -> str:
    """One word for bash, whatever it holds."""
    return shlex.quote(text)


def bash_script(reference: ProgramReference) -> str:
    """The script; ``source`` it, or name it ``tfprof`` where bash-completion looks."""
    parts = [
        "# Completion of tfprof for bash; made by: tfprof completion bash",
        _ENGINE.rstrip("\n"),
        "",
        *_test("__tfprof_is_command", (command.name for command in reference.commands)),
        "",
        *_test("__tfprof_is_bool", (*TRUE_WORDS, *FALSE_WORDS)),
        "",
        "# The options of $command.",
        *_by_command("__tfprof_options", reference, _options),
        "",
        "# What the option $1 of $command takes, or what its argument is: @1 is the first.",
        *_by_command("__tfprof_value", reference, _values),
        "",
        "complete -F _tfprof tfprof",
    ]
    return "\n".join(parts) + "\n"


def _test(function: str, words: Iterable[str]) -> list[str]:
    """A function that says whether its argument is one of the words."""
    return [f"{function}() {{", f"    [[ $1 == @({'|'.join(map(quoted, words))}) ]]", "}"]


def _by_command(
    function: str,
    reference: ProgramReference,
    body: Callable[[CommandReference], Iterable[str]],
) -> list[str]:
    """A function with a branch for each group of commands that are alike."""
    lines = [f"{function}() {{", "    kind=none choices=() options=()", "    case $command in"]
    for names, command in reference.groups():
        lines.append(f"    {' | '.join(map(quoted, names))})")
        lines += [f"        {line}" for line in body(command)]
        lines.append("        ;;")
    return [*lines, "    esac", "}"]


def _options(command: CommandReference) -> Iterable[str]:
    names = [quoted(name) for option in command.options for name in option.names]
    words = f"options=({' '.join(names)})"
    return textwrap.wrap(words, 90, break_long_words=False, break_on_hyphens=False)


def _values(command: CommandReference) -> Iterable[str]:
    """A branch for each kind of value, with all options that take it."""
    keys: dict[tuple[ValueKind, tuple[str, ...]], list[str]] = {}
    for option in command.options:
        if option.kind != "none":
            choices = output_values() if option.kind == "output" else option.choices
            names = keys.setdefault((option.kind, choices), [])
            names += [quoted(key_of(name)) for name in option.names]
    lines = [_value(" | ".join(names), *what) for what, names in keys.items()]
    for position, argument in enumerate(command.arguments, 1):
        number = "*" if argument.is_repeatable else str(position)
        lines.append(_value(f"@{number}", argument.kind, argument.choices))
    return ["case $1 in", *lines, "esac"] if lines else [":"]


def _value(pattern: str, kind: ValueKind, choices: Iterable[str]) -> str:
    words = " ".join(map(quoted, choices))
    return f"{pattern}) kind={kind}{f' choices=({words})' if words else ''} ;;"
