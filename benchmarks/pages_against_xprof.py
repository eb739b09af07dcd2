"""The first complete page, and bytes sent: tfprof's pages beside xprof's on the same capture.

    python benchmarks/pages_against_xprof.py CAPTURE_FOLDER --xprof PATH/bin/xprof

Each server is started anew, its first page (of xprof: the overview) opened in an empty browser, and
the time taken until its contents are there: from the start of the process, and from the request.
Needs Chromium, Playwright, and xprof in an environment of its own; makes a log folder beside no
other files. Prints one line for each server and round, and the ratios of the best. CPU seconds are
those of the server from its start to its end: on a busy machine they say more than seconds.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drawn import drawn
from measure import child_environment
from playwright.sync_api import Browser, sync_playwright

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
ROUNDS = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("capture", type=Path)
    parser.add_argument("--xprof", required=True)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        for file in chosen.capture.glob("*.xplane.pb"):
            shutil.copy(file, run / file.name)
        best: dict[str, list[tuple[float, float, float, int]]] = {"tfprof": [], "xprof": []}
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
            for _ in range(ROUNDS):
                for name, taken in best.items():
                    for cache in run.glob("*"):  # what xprof keeps of its last answer
                        if not cache.name.endswith(".xplane.pb"):
                            cache.unlink()
                    taken.append(measured(name, chosen.xprof, folder, browser))
                    whole, page, cpu, size = taken[-1]
                    print(
                        f"{name:7} {whole:6.2f} s from start, {page:6.2f} s page, "
                        f"{cpu:6.2f} CPU s, {size:>9,} B"
                    )
    ratios = [
        min(each[at] for each in best["xprof"]) / min(each[at] for each in best["tfprof"])
        for at in range(4)
    ]
    print(
        "xprof / tfprof: {:.1f} x from start, {:.1f} x page, {:.1f} x CPU, {:.1f} x bytes".format(
            *ratios
        )
    )


def measured(
    name: str, xprof: str, folder: str, browser: Browser
) -> tuple[float, float, float, int]:
    """Seconds from the start of the process, seconds from the request, CPU seconds of the server,
    and bytes of all answers.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    port = free_port()
    environment = child_environment()
    began = time.perf_counter()
    if name == "xprof":
        command = [xprof, "--logdir", folder, "--port", str(port)]
        address, ready = f"http://localhost:{port}/", "text=/(Average Step|Compute) Time/"
    else:
        command = [
            sys.executable, "-m", "tfprof", "ui", folder, "--port", str(port), "--no-browser",
        ]  # fmt: skip
        address, ready = "", "main[data-page] .findings, main[data-page] .chart .mark"
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            if not address:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None
                address = found[0]
            wait_for(port)
            context = browser.new_context()
            page = context.new_page()
            sizes: list[int] = []
            page.on("requestfinished", lambda each: sizes.append(each.sizes()["responseBodySize"]))
            asked = time.perf_counter()
            ended = drawn(page, address, ready)
            page.wait_for_load_state("networkidle")  # what it still loads counts as bytes
            context.close()
        finally:
            server.terminate()
            server.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended - began, ended - asked, cpu, sum(sizes)


def free_port() -> int:
    """A free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    """Wait until a server listens."""
    for _ in range(600):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"no server listens on port {port}")


if __name__ == "__main__":
    main()
