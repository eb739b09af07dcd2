"""``tfprof completion``."""

from __future__ import annotations

from typing import Any

from tfprof.cli.options import Choice, Command, HelpedArgument
from tfprof.cli.results import file_options, target_of

SHELLS = ("bash", "zsh", "fish")


def run(**given: Any) -> None:
    """Write the script."""
    from tfprof.cli.completion_scripts import SCRIPTS
    from tfprof.cli.reference import program_reference

    target = target_of(given)
    target.write(SCRIPTS[given["shell"]](program_reference()))


command = Command(
    "completion",
    callback=run,
    params=[
        HelpedArgument(
            "shell",
            "SHELL",
            f"One of: {', '.join(SHELLS)}.",
            metavar="SHELL",
            type=Choice(SHELLS),
        ),
        *file_options(),
    ],
    help="""Print the script that lets a shell complete commands, options and their values.
    It needs nothing but the shell: pressing the key starts no program.

    \b
    bash  add to ~/.bashrc: source <(tfprof completion bash)
    zsh   add to ~/.zshrc, below compinit: source <(tfprof completion zsh)
    fish  tfprof completion fish -o ~/.config/fish/completions/tfprof.fish
    """,
    examples=[
        "source <(tfprof completion bash)",
        "tfprof completion zsh -o _tfprof",
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
