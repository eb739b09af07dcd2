"""Print the one line of the fenced block after ``<!-- ci: NAME -->`` of the README."""

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def main(name):
    """Print it, or say what is there instead."""
    text = README.read_text("utf-8")
    blocks = re.findall(rf"<!-- ci: {re.escape(name)} -->\s*```sh\n(.*?)\n```", text, re.DOTALL)
    if len(blocks) != 1 or not blocks[0].strip() or "\n" in blocks[0]:
        marker = f"<!-- ci: {name} -->"
        sys.exit(f"{README}: expected one block of one line after {marker!r}, found {blocks!r}")
    sys.stdout.write(f"{blocks[0]}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
