"""Write what describes the command line, from the commands themselves.

python docs/generate_reference.py            write docs/commands.md, docs/man, docs/completions
python docs/generate_reference.py --check    compare only; exit 1 when something is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from commands_page import commands_page
from man_pages import man_pages

from tfprof.cli.completion_scripts import SCRIPTS
from tfprof.cli.reference import ProgramReference, program_reference

ROOT = Path(__file__).parent
FOLDERS = ("man", "completions")
"""Folders with nothing else in them."""
COMPLETIONS = {"bash": "tfprof", "zsh": "_tfprof", "fish": "tfprof.fish"}
"""The file names by which the shells find the scripts."""


def files(reference: ProgramReference) -> dict[str, str]:
    """All files, by their paths below the folder of the documentation."""
    written = {"commands.md": commands_page(reference)}
    written |= {f"man/{name}": text for name, text in man_pages(reference).items()}
    for shell, name in COMPLETIONS.items():
        written[f"completions/{name}"] = SCRIPTS[shell](reference)
    return written


def stale(wanted: dict[str, str], root: Path) -> list[str]:
    """Paths of files that differ, are missing or should not be there."""
    found = [path for folder in FOLDERS for path in (root / folder).glob("*")]
    there = {path.relative_to(root).as_posix() for path in found}
    differing = {
        name
        for name, text in wanted.items()
        if not (root / name).is_file() or (root / name).read_bytes() != text.encode()
    }
    return sorted(differing | (there - set(wanted)))


def write(wanted: dict[str, str], root: Path) -> None:
    """Write the files; those of commands that are gone go, too."""
    for name in stale(wanted, root):
        path = root / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name].encode())
        else:
            path.unlink()


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Write or compare the files."""
    if arguments not in ([], ["--check"]):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    wanted = files(program_reference())
    if not arguments:
        write(wanted, root)
        return 0
    names = stale(wanted, root)
    if names:
        shown = ", ".join(names)
        sys.stdout.write(f"stale: {shown}; run: python docs/generate_reference.py\n")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
