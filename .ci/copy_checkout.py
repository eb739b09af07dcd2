"""Copy this checkout, without what is built or cached in it, to a folder that is not there yet.

Archives of the copy have the same bytes, whatever the umask of the checkout was.
"""

import os
import shutil
import sys
from pathlib import Path

LEFT_OUT = (
    *(".git", ".venv", ".nox", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info"),
    *("node_modules", "build", "dist", "fuzz-inputs", "*.so", "*.pyd", "*.c"),
)


def copy_plainly(source: str, target: str) -> None:
    """A file with its time, which all may read and its owner may write."""
    shutil.copy2(source, target)
    Path(target).chmod(0o755 if os.access(source, os.X_OK) else 0o644)


if __name__ == "__main__":
    (target,) = sys.argv[1:]
    root = Path(__file__).parents[1]
    left_out = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(root, target, ignore=left_out, copy_function=copy_plainly)
