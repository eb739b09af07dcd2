"""``tfprof completion``."""

from __future__ import annotations

from typing import Any

from tfprof.cli.options import Choice, Command, HelpedArgument, from_params
from tfprof.cli.results import ResultChoice, file_options

_SHELLS = ("bash", "zsh", "fish")


def run(shell: str, **params: Any) -> None:
    """Write the script."""
    from tfprof.cli import COMPLETE_VARIABLE
    from tfprof.cli.completion.protocol import SHELLS
    from tfprof.cli.program import cli

    target = from_params(ResultChoice, params).target()
    target.write(SHELLS[shell](cli, {}, "tfprof", COMPLETE_VARIABLE).source())


command = Command(
    "completion",
    callback=run,
    params=[
        HelpedArgument(
            "shell",
            "SHELL",
            f"One of: {', '.join(_SHELLS)}.",
            metavar="SHELL",
            type=Choice(_SHELLS),
        ),
        *file_options(),
    ],
    help="""Print a script with which a shell completes commands, options and their values.
    At each press of Tab, the script calls the installed tfprof.

    \b
    bash  add to ~/.bashrc: source <(tfprof completion bash)
    zsh   add to ~/.zshrc, below compinit: source <(tfprof completion zsh)
    fish  tfprof completion fish -o ~/.config/fish/completions/tfprof.fish
    """,
    examples=[
        "source <(tfprof completion bash)",
        "tfprof completion zsh -o _tfprof",
    ],
)
