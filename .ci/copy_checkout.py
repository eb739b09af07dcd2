"""Copy this checkout, without what is built or cached in it, to a folder that is not there yet."""

import shutil
import sys
from pathlib import Path

LEFT_OUT = (
    *(".git", ".venv", ".nox", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info"),
    *("node_modules", "build", "dist", "fuzz-inputs", "*.so", "*.pyd", "*.c"),
)

if __name__ == "__main__":
    (target,) = sys.argv[1:]
    root = Path(__file__).parents[1]
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
