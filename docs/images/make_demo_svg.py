"""Draw ``demo.svg``: what ``tfprof demo`` shows at a terminal of 110 cells.

Run it from anywhere, with tfprof installed; the same package gives the same bytes.
"""

import io
import re
from pathlib import Path

from rich.console import Console

from tfprof.cli.commands.demo import print_demo
from tfprof.core.text.characters import UNICODE

WIDTH = 110
FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def picture() -> str:
    """The SVG, with fonts of the reader's machine instead of a font from the network."""
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=False,
    )
    print_demo(console, UNICODE, folder="tfprof/demo")
    console.print()  # the picture's last line is drawn without its lower edge
    svg = console.export_svg(title="tfprof demo", unique_id="demo", font_aspect_ratio=0.61)
    svg = re.sub(r"\s*@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family:[^;]*;", f"font-family: {FONTS};", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("demo.svg").write_text(picture(), encoding="utf-8")
