"""Print what the changelog says of a tag; nothing else may hold the version or hold it otherwise.

``release_notes.py v0.1.0 > notes.md``. Exits with a message if the tag is not that of
``tfprof/core/version.py``, or if the changelog has no dated section of it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes_of(tag, changelog, source):
    """The section of the version without its heading.

    Raises:
        ValueError: The tag is of another version, or there is no dated section of it.
    """
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but tfprof/core/version.py has {version}")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    parts = re.split(heading, changelog, maxsplit=1, flags=re.MULTILINE)
    if len(parts) == 1:
        raise ValueError(f"CHANGELOG.md has no heading '## {version} (YEAR-MONTH-DAY)'")
    return re.split(r"^## ", parts[1], maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"


def main(tag):
    """Print the notes, or say what is wrong."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    source = (ROOT / "tfprof" / "core" / "version.py").read_text("utf-8")
    try:
        sys.stdout.write(notes_of(tag, changelog, source))
    except ValueError as error:
        sys.exit(f"release notes: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
