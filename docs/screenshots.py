"""Take pictures of pages in a real browser, to look at them, and for the documentation.

python docs/screenshots.py FOLDER [PATH]...   every page of the runs, in two widths, light and dark
python docs/screenshots.py --docs             the pictures of the documentation, in docs/images

Without a path, the runs are those of ``tfprof ui --demo``. It needs tfprof's extra ``test``, Pillow
and Chromium, which ``TFPROF_CHROMIUM`` or the ``PATH`` names.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tfprof.inputs.opened import Opened
    from tfprof.ui.pages.site import Site

DOCS = Path(__file__).resolve().parent
WIDTHS = (1400, 700)
"""Pixels: a window on a desk, and half of one."""
SCHEMES = ("light", "dark")
TALLEST = 4000
"""Pixels of a picture; what is below is not shown."""
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

IN_DOCS = {
    "start": "#/start?run=input-bound",
    "start-dark": "#/start?run=gpu",
    "trace": "#/trace?run=gpu",
    "memory": "#/memory-over-time?run=resnet50",
    "roofline": "#/roofline?run=tpu",
    "flame": "#/code?run=resnet50&_form=flame",
    "tf-data": "#/tf-data?run=input-bound",
}
"""Pictures of the documentation by name: the address of the page."""
DOCS_SIZE = {"width": 1400, "height": 900}
MOST_BYTES = 120_000


def say(text: str) -> None:
    """Print a line for the user."""
    sys.stdout.write(f"{text}\n")


def main(arguments: list[str]) -> int:
    """Run the program; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args(arguments)
    if bool(given.folder) == given.docs:
        parser.error("give a folder, or --docs")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        say("no pictures: Playwright is not installed")
        return 0
    program = os.environ.get("TFPROF_CHROMIUM") or shutil.which("chromium")
    if not program:
        say("no pictures: there is no Chromium; install it, or name it in TFPROF_CHROMIUM")
        return 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(QUIET))
        with served(given.paths, with_tpu=given.docs) as (site, address):
            if given.docs:
                return pictures_of_the_docs(browser, address)
            return pictures_of_all(browser, site, address, given.folder)


@contextlib.contextmanager
def served(paths: list[str], *, with_tpu: bool) -> Iterator[tuple[Site, str]]:
    """A site, and the address that it is served under until the end."""
    import uvicorn

    from tfprof.cli.sites import SiteInputs, open_runs, site_of
    from tfprof.ui.web.guard import Access
    from tfprof.ui.web.listening import listening
    from tfprof.ui.web.server import application

    inputs = SiteInputs(paths=tuple(paths), demo=not paths)
    site = site_of(open_runs(inputs), inputs.classic)
    if with_tpu:
        site = replace(site, opened=[*site.opened, made_up_tpu()])
    listener = listening("127.0.0.1", 0)
    access = Access(listener.getsockname()[1])
    config = uvicorn.Config(
        application(site, access), log_level="warning", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield site, access.address
    finally:
        server.should_exit = True
        thread.join()


def made_up_tpu() -> Opened:
    """A capture with known roofs: none that comes with tfprof has them."""
    from tfprof.inputs.opened import opened_run
    from tfprof.testing.xspace_builders import event, line, opened, plane, xspace

    peaks = {
        "device_type_string": "TPU, made up", "peak_teraflops_per_second": 275.0,
        "peak_hbm_bw_gigabytes_per_second": 1200.0,
    }  # fmt: skip
    ops: dict[str, dict[str, object]] = {}
    events, start = [], 0
    for at in range(24):
        category = ("convolution", "convolution fusion", "loop fusion", "data formatting")[at % 4]
        n_bytes = 2_000_000 * (1 + at * 7 % 11)
        # Products of matrices have many float operations for each byte, copies have few.
        flops = int(n_bytes * (420, 90, 1.5, 0.2)[at % 4] * (1 + at % 5 / 3))
        limit_ns = max(flops / 275e3, n_bytes / 1200)
        name = f"{category.replace(' ', '_')}.{at}"
        ops[name] = {
            "program_id": 1, "symbol_id": at + 1, "hlo_category": category, "flops": flops,
            "bytes_accessed": n_bytes,
        }  # fmt: skip
        lasts = int(limit_ns * (1.1 + at * 5 % 9 / 3))
        events.append(event(name, start, lasts))
        start += lasts + 200
    core = plane("/device:TPU:0", line(*events, id=2, name="XLA Ops"), metadata=ops, stats=peaks)
    return replace(opened_run(opened(xspace(core)), "a made-up capture of a TPU"), name="tpu")


def opened(browser: Browser, address: str, **settings: Any) -> Page:
    """A window at the first page."""
    tab = browser.new_context(**settings).new_page()
    tab.on("pageerror", lambda error: say(f"{tab.url}: {error}"))
    tab.goto(address)
    drawn(tab)
    return tab


def shown(tab: Page, place: str) -> None:
    """Go to a page, and wait until it is drawn."""
    tab.evaluate(
        "place => { document.querySelector('main').removeAttribute('data-page');"
        " location.hash = place }",
        place,
    )
    drawn(tab)


def drawn(tab: Page) -> None:
    """Wait until a page is drawn, or a message in its place."""
    tab.wait_for_selector("main[data-page]:not([aria-busy]), main [role=alert]", timeout=60_000)
    tab.wait_for_load_state("networkidle")
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def pictures_of_all(browser: Browser, site: Site, address: str, folder: Path) -> int:
    """A picture of every page; the exit code says whether any is wider than its window."""
    folder.mkdir(parents=True, exist_ok=True)
    too_wide = []
    pages = [
        (run.name, page["id"])
        for run in site.opened
        for page in site.to_dict(run.name)["pages"]
        if not page["missing"]
    ]
    for width in WIDTHS:
        tab = opened(browser, address, viewport={"width": width, "height": 900})
        for run, page in pages:
            shown(tab, f"#/{page}?run={run}")
            wide, high = tab.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
            )
            if wide > width:
                too_wide.append(f"{run}/{page}: {wide} px in {width}")
            for scheme in SCHEMES:
                tab.emulate_media(color_scheme=scheme)
                place = folder / f"{run}-{page}-{width}-{scheme}.png".replace("/", "_")
                part = {"x": 0, "y": 0, "width": width, "height": min(high, TALLEST)}
                tab.screenshot(path=place, full_page=True, clip=part)
        tab.context.close()
    say(f"{folder}: {len(pages)} pages of {len(site.opened)} runs")
    for each in too_wide:
        say(f"too wide: {each}")
    return 1 if too_wide else 0


def pictures_of_the_docs(browser: Browser, address: str) -> int:
    """The pictures of the documentation; the exit code says whether any is too large."""
    code = 0
    for name, place in IN_DOCS.items():
        scheme = "dark" if name.endswith("-dark") else "light"
        tab = opened(browser, address, viewport=DOCS_SIZE, color_scheme=scheme)
        shown(tab, place)
        if tab.locator("main [role=alert]").count():
            say(f"{name}: {tab.locator('main').inner_text()}")
            code = 1
            continue
        content = smaller(tab.screenshot())
        (DOCS / "images" / f"{name}.png").write_bytes(content)
        say(f"{name}.png: {len(content)} bytes")
        if len(content) > MOST_BYTES:
            code = 1
        tab.context.close()
    return code


def smaller(png: bytes) -> bytes:
    """The picture with 256 colours at most."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    picture.save(packed, "PNG", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
