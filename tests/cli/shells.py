"""Real shells that complete a line: what they offer, and what they insert."""

import os
import select
import shutil
import subprocess

import pytest

_BASH = r"""
source "$1"
compopt() { printf 'compopt %s\n' "$2"; }
COMP_LINE=$2 COMP_POINT=${#2}
function=$(complete -p tfprof)
function=${function#*-F }
${function% *} tfprof "${2##*[ =:]}"
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
"""
_BASH_RC = r"""
PS1='> '
source %(script)s
tfprof() { printf '%%s\n' "$@" > %(arguments)s; }
bind 'set enable-bracketed-paste off'
"""
_ZSH_RC = r"""
PS1='> ' LISTMAX=10000
unsetopt prompt_sp
autoload -Uz compinit && compinit -u -D
source %(script)s
compadd() {
    local -a found
    local options="${@[1,(i)(-|--)]}"
    if [[ " $options" != *\ -[OAD]* ]]; then
        builtin compadd -O found "$@"
        print -rl -- $found >> %(offers)s
    fi
    builtin compadd "$@"
}
tfprof() { print -rl -- "$@" > %(arguments)s }
"""


def need(shell):
    """Skip the test where the shell is missing."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def offers(shell, script, line):
    """What the shell offers for the word at the end of the line."""
    need(shell)
    return {"bash": _bash, "fish": _fish, "zsh": _zsh}[shell](script, line)


def _bash(script, line):
    done = _run(["bash", "--norc", "-c", _BASH, "bash", str(script), line], script.parent)
    return sorted(word.rstrip() for word in done.splitlines())


def _fish(script, line):
    program = "source $argv[1]; complete -C $argv[2]"
    done = _run(["fish", "--no-config", "-c", program, str(script), line], script.parent)
    return sorted(word.partition("\t")[0] for word in done.splitlines())


def _run(command, folder):
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=folder, timeout=60,
        env=_environment(folder), check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def _environment(folder):
    """With the ``bin`` beside the folder, where the ``tfprof`` is that scripts ask."""
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8"}


def _zsh(script, line):
    folder = script.parent
    _type("zsh", script, f"{line}\t\x15exit\n")
    found = (folder / "offers").read_text("utf-8") if (folder / "offers").exists() else ""
    return sorted(set(found.split("\n")) - {""})


def inserted(shell, script, typed):
    """The arguments that ``tfprof`` gets from what is typed, tabs included."""
    need(shell)
    _type(shell, script, f"{typed}\nexit\n")
    return (script.parent / "arguments").read_text("utf-8").splitlines()


def _type(shell, script, keys):
    """Type into an interactive shell, until it ends."""
    import pty  # POSIX only

    folder = script.parent
    (folder / "offers").unlink(missing_ok=True)
    names = {"script": script, "offers": folder / "offers", "arguments": folder / "arguments"}
    rc = folder / ".zshrc"
    rc.write_text((_ZSH_RC if shell == "zsh" else _BASH_RC) % names)
    command = ["zsh", "-d", "-i"] if shell == "zsh" else ["bash", "--rcfile", str(rc), "-i"]
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=folder,
        start_new_session=True,
        env={**_environment(folder), "ZDOTDIR": str(folder), "TERM": "xterm",
             "INPUTRC": os.devnull},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            chunk = b""
        if not chunk:
            break
        seen += chunk
        if keys and b"> " in seen:
            os.write(leader, keys.encode())
            keys = ""
    os.close(leader)
    child.wait(30)
