"""Completion scripts for shells: static text that starts no process when a key is pressed.

Each script knows the spellings of options: what begins as ``-max_``, ``--max-`` or ``--max_`` is
completed in that style.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfprof.cli.completion_scripts.bash import bash_script
from tfprof.cli.completion_scripts.fish import fish_script
from tfprof.cli.completion_scripts.zsh import zsh_script
from tfprof.cli.reference import ProgramReference

SCRIPTS: Mapping[str, Callable[[ProgramReference], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}
"""How to make the script of each shell."""
