"""The pages in numbers: reports, the server, its memory, and tables of 100,000 rows in a browser.

    python benchmarks/longer_capture.py SMALL.xplane.pb c20/host.xplane.pb --megabytes 20
    python benchmarks/longer_capture.py SMALL.xplane.pb c200/host.xplane.pb --megabytes 200
    python benchmarks/pages.py --medium c20 --large c200

Needs Chromium and Playwright. Each line is a figure, its bound, and how many times the figure fits
into the bound; times are the least of several. On a busy machine they are too long.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from drawn import drawn
from measure import child_environment
from playwright.sync_api import Browser, sync_playwright

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
READY = "main[data-page]"
ROWS = 100_000
READING_S = 4.0
"""How long people look at the first page, at least."""

TOOLS_CODE = """
import sys
from tfprof import tools
run = tools.open_run(sys.argv[1])
kept = []
for name in ("overview", "input_pipeline", "tf_data", "op_stats", "kernel_stats", "memory", "pod",
             "op_profile", "hlo_stats", "roofline", "monitor"):
    kept.append(getattr(tools, name)(run))
if sys.argv[2:]:
    import tfprof
    profiler = tfprof.Profiler.from_xspace(run)
    for view in ("scope", "graph", "op"):
        kept.append(profiler.view(view, {}))
"""


def show(what: str, figure: float, bound: float, unit: str) -> None:
    """One line."""
    fits = bound / figure if figure else float("inf")
    verdict = "met" if figure <= bound else "NOT met"
    print(f"{what:58} {figure:9.2f} {unit:3} <= {bound:g}: {verdict}, {fits:.1f} x", flush=True)


# Reports


def reports(browser: Browser, medium: Path | None, folder: Path) -> None:
    """Sizes, and how long until they are drawn."""
    cases: list[tuple[str, list[str], float]] = [("report of ResNet-50", ["--demo"], 1.5)]
    if medium:
        cases.append(("report of the medium capture", [str(medium)], 4.0))
    for title, arguments, bound in cases:
        file = folder / "report.html"
        command = [sys.executable, "-m", "tfprof", "report", *arguments, "-o", str(file), "--force"]
        subprocess.run(command, check=True, capture_output=True, env=child_environment())
        show(title, file.stat().st_size / 1e6, bound, "MB")
        taken = [opened(browser, file.as_uri()) for _ in range(5)]
        show(f"{title}, drawn", min(taken), 1.0, "s")


def opened(browser: Browser, address: str) -> float:
    """Seconds from the request until the page is drawn."""
    context = browser.new_context()
    page = context.new_page()
    began = time.perf_counter()
    took = drawn(page, address, READY) - began
    context.close()
    return took


# The server


class Server:
    """``tfprof ui``, from the start of its process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tfprof", "ui", *arguments, "--no-browser"]
        environment = child_environment()
        self.began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.address = found[0]
        self._cookie = ""

    def get(self, path: str) -> bytes:
        """An answer, packed as for a browser."""
        parts = urlsplit(self.address)
        if not self._cookie:
            first, _ = self._ask(f"/?{parts.query}")
            self._cookie = first.getheader("set-cookie", "").split(";")[0]
        answer, content = self._ask(path)
        assert answer.status == 200, (path, answer.status, content)
        return content

    def _ask(self, path: str) -> tuple[Any, bytes]:
        parts = urlsplit(self.address)
        connection = HTTPConnection(str(parts.hostname), parts.port)
        headers = {"Cookie": self._cookie, "Accept-Encoding": "gzip"}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def pages(self) -> list[str]:
        """Names of the pages that have data."""
        site = json.loads(gzip.decompress(self.get("/api/site?")))
        return [page["id"] for page in site["pages"] if not page["missing"]]

    def peak_mb(self) -> float:
        """The most memory that it has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1e3 if found else float("nan")

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait()


def first_page(browser: Browser) -> None:
    """The first page on the ResNet-50 profile, from the start of the process."""
    taken = []
    for _ in range(4):
        server = Server("--demo")
        context = browser.new_context()
        taken.append(drawn(context.new_page(), server.address, READY) - server.began)
        context.close()
        server.end()
    show("ui on ResNet-50: first page, from the start", min(taken), 1.0, "s")


def server_times(large: Path) -> None:
    """Each page of a large capture after the first one, and the server's memory."""
    server = Server(str(large))
    names = server.pages()
    server.get(f"/api/page/{names[0]}?")
    print(f"large: first page {time.perf_counter() - server.began:.2f} s from the start")
    time.sleep(READING_S)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(3):
        for name in names:
            began = time.perf_counter()
            server.get(f"/api/page/{name}?" + (f"_again={turn}" if turn else ""))
            times[name].append(time.perf_counter() - began)
    for name, taken in times.items():
        show(f"large: {name} (again {min(taken[1:]):.2f} s)", taken[0], 0.3, "s")
    held = server.peak_mb()
    server.end()
    tools = tools_mb(large)
    show(
        f"large: server holds {held:.0f} MB, the tools and views {tools:.0f} MB",
        held / tools,
        1.5,
        "x",
    )


def tools_mb(large: Path) -> float:
    """The most memory of all tools and views in one process."""
    code = TOOLS_CODE + "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(large), "views"],
        check=True, capture_output=True, text=True, env=child_environment(),
    )  # fmt: skip
    return int(done.stdout.split()[-1]) / 1e3


# Large tables


def large_pages(folder: Path) -> Iterator[tuple[str, Path]]:
    """A table and a tree of 100,000 rows, each as a file."""
    from tfprof.ui.pages.document import Page as Shown
    from tfprof.ui.pages.document import column
    from tfprof.ui.pages.tree_block import TreeMeasure, tree_block
    from tfprof.ui.web.report import one_page

    chance = np.random.default_rng(7)
    names = [f"model/block{row % 97}/layer{row}/MatMul" for row in range(ROWS)]
    costs = chance.exponential(1000, ROWS)
    columns = [
        {"id": "name", "label": "Name", "about": "", "type": "string", "unit": ""},
        {"id": "type", "label": "Type", "about": "", "type": "string", "unit": ""},
        *({"id": f"cost{n}", "label": f"Cost {n}", "about": "", "type": "number", "unit": "us"}
          for n in range(6)),
    ]  # fmt: skip
    cells = [names, [f"Type{row % 40}" for row in range(ROWS)], *(costs + n for n in range(6))]
    table = {
        "kind": "table", "id": "ops", "title": "Ops", "columns": columns, "n_rows": ROWS,
        "cells": [column(each) for each in cells],
    }  # fmt: skip
    parent = np.maximum(np.arange(ROWS) // 8, 0)
    parent[0] = -1
    own = costs
    total = own.copy()
    for row in range(ROWS - 1, 0, -1):
        total[parent[row]] += total[row]
    measure = TreeMeasure("micros", "time", "us", total, own, None, float(total[0]), "–", True)
    tree = tree_block(names, parent, [measure], id="scope", title="Scopes", header="scope",
                      full_names=names, primary="micros")  # fmt: skip
    for kind, block in (("table", table), ("tree", tree)):
        file = folder / f"{kind}.html"
        file.write_bytes(one_page(Shown(kind, kind, "", [block]), "benchmark"))
        yield kind, file


SCROLL = """async () => {
  const scroller = document.querySelector(".scroller, .tree-body > *");
  const frames = [];
  let last = performance.now();
  for (let at = 1; at <= 60; at += 1) {
    scroller.scrollTop = at * 997;
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)];
}"""
CLICK = """async ([selector, place]) => {
  const button = document.querySelectorAll(selector)[place];
  const began = performance.now();
  button.click();
  document.body.offsetHeight;
  return performance.now() - began;
}"""
TYPE = """async (text) => {
  const box = document.querySelector("input[type=search]");
  const status = document.querySelector("[role=status]");
  const before = status.textContent;
  const began = performance.now();
  box.value = text;
  box.dispatchEvent(new Event("input"));
  const handled = performance.now() - began;
  while (status.textContent === before) await new Promise((done) => setTimeout(done, 1));
  document.body.offsetHeight;
  return [handled, performance.now() - began];
}"""


def large_tables(browser: Browser, folder: Path) -> None:
    """Sorting, searching and scrolling."""
    for kind, file in large_pages(folder):
        context = browser.new_context()
        page = context.new_page()
        page.goto(file.as_uri())
        page.locator(READY).wait_for()
        headers = "thead button"
        count = page.locator(headers).count()
        if kind == "tree":
            page.get_by_label("Open to depth").select_option("1000")
        for place in range(min(count, 3)):
            label = page.locator(headers).nth(place).inner_text()
            taken = [page.evaluate(CLICK, [headers, place]) for _ in range(4)]
            show(f"{kind} of {ROWS:,} rows: sort by {label!r}, the slowest", max(taken), 200, "ms")
        searched = [page.evaluate(TYPE, text) for text in ("matmul", "layer77", "block9", "x")]
        show(f"{kind}: search, the slowest", max(whole for _, whole in searched), 150, "ms")
        page.evaluate(TYPE, "layer")
        show(f"{kind}: frame while scrolling, the median", page.evaluate(SCROLL), 33, "ms")
        context.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--medium", type=Path, help="a capture of about 20 MB")
    parser.add_argument("--large", type=Path, help="a capture of about 200 MB")
    parser.add_argument("--only", choices=["reports", "first", "server", "tables"])
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        folder = Path(scratch)
        parts: dict[str, Callable[[], None]] = {
            "reports": lambda: reports(browser, chosen.medium, folder),
            "first": lambda: first_page(browser),
            "server": lambda: server_times(chosen.large) if chosen.large else None,
            "tables": lambda: large_tables(browser, folder),
        }
        for name, part in parts.items():
            if chosen.only in (None, name):
                part()


if __name__ == "__main__":
    main()
