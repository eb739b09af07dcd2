"""Write what describes the command line, from the commands themselves.

python docs/generate_reference.py            write docs/commands.md
python docs/generate_reference.py --check    compare only; exit 1 when it is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from commands_page import commands_page

from tfprof.cli.reference import program_reference

PAGE = Path(__file__).with_name("commands.md")


def main(arguments: list[str], page: Path = PAGE) -> int:
    """Write or compare the page."""
    if arguments not in ([], ["--check"]):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    wanted = commands_page(program_reference()).encode()
    if not arguments:
        page.write_bytes(wanted)
    elif not page.is_file() or page.read_bytes() != wanted:
        sys.stdout.write(f"stale: {page.name}; run: python docs/generate_reference.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
