"""Draw the pictures of pages in the documentation, from what comes with tfprof.

Run it from anywhere, with ``tfprof[web,test]`` installed and Chromium on the path (or in
``TFPROF_CHROMIUM``). Fonts are those of the machine.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
SIZE = {"width": 1400, "height": 900}

PICTURES = {
    "start.png": ("input-bound", "start", ""),
    "start-dark.png": ("gpu", "start", ""),
    "profile.png": ("resnet50", "start", ""),
    "trace.png": ("gpu", "trace", ""),
    "flame.png": ("resnet50", "code", "_form=flame"),
    "tf-data.png": ("input-bound", "tf-data", ""),
    "memory.png": ("resnet50", "memory-over-time", ""),
    "roofline.png": ("gpu", "roofline", ""),
}
"""By file: run, page, and parameters of its address."""


def main() -> None:
    """Draw all of them."""
    chromium = os.environ.get("TFPROF_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as tools, tempfile.TemporaryDirectory() as folder:
        browser = tools.chromium.launch(executable_path=chromium)
        for name, (run, page, looks) in PICTURES.items():
            file = Path(folder, f"{name}.html")
            command = [sys.executable, "-m", "tfprof", "report", "--demo", "--run", run]
            subprocess.run([*command, "--pages", page, "-o", str(file)], check=True)
            tab = browser.new_page(
                viewport=SIZE, color_scheme="dark" if "dark" in name else "light"
            )
            tab.goto(f"{file.as_uri()}#/{page}?{looks}")
            tab.wait_for_selector(f"main[data-page='{page}']:not([aria-busy])")
            tab.wait_for_timeout(1000)  # what is drawn later: canvases, and the trace's tiles
            tab.screenshot(path=HERE / name)


if __name__ == "__main__":
    main()
