"""Write the pages that are made from the source: its commands, columns and modules.

python docs/generate_reference.py            write docs/columns.md, commands.md and modules.md
python docs/generate_reference.py --check    compare only; exit 1 when one is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from columns_page import columns_page
from commands_page import commands_page
from modules_page import modules_page

from tfprof.cli.reference import program_reference

FOLDER = Path(__file__).parent


def pages() -> dict[str, bytes]:
    """All pages, by their names."""
    return {
        "columns.md": columns_page().encode(),
        "commands.md": commands_page(program_reference()).encode(),
        "modules.md": modules_page(FOLDER.parent / "tfprof").encode(),
    }


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    """Write or compare the pages."""
    if arguments not in ([], ["--check"]):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    stale = []
    for name, wanted in pages().items():
        page = folder / name
        if not arguments:
            page.write_bytes(wanted)
        elif not page.is_file() or page.read_bytes() != wanted:
            stale.append(name)
    if stale:
        shown = ", ".join(stale)
        sys.stdout.write(f"stale: {shown}; run: python docs/generate_reference.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
