"""Fetching a file of a web server that is far away: blocks at once against one stream.

The server runs in a process of its own and sends no more than so many bytes a second over each
connection, after a wait: what long ways and buckets do. Seconds are the best of several rounds,
each without a cache; then one with a cache.

    python benchmarks/remote_read.py --megabytes 100 --latency-ms 50 --megabytes-per-second 40
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tfprof.files.disk import opened, read_file
from tfprof.files.remote import fetch

PIECE = 1 << 17


def serve(ready: Connection, size: int, latency_s: float, rate: float) -> None:
    """Serve one file, slowly."""
    data = random.Random(1).randbytes(1 << 20) * (size >> 20)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            time.sleep(latency_s)
            ranged = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            start, stop = (int(ranged[1]), int(ranged[2]) + 1) if ranged else (0, size)
            self.send_response(206 if ranged else 200)
            self.send_header("Content-Length", str(stop - start))
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
            self.send_header("ETag", '"1"')
            if self.path == "/stream":
                self.send_header("Accept-Ranges", "none")
            self.end_headers()
            if self.command == "HEAD":
                return
            begun = time.perf_counter()
            for at in range(start, stop, PIECE):
                self.wfile.write(data[at : min(at + PIECE, stop)])
                early = (at - start) / rate - (time.perf_counter() - begun)
                if early > 0:
                    time.sleep(early)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        ready.send(server.server_port)
        server.serve_forever()


def best(rounds: int, work: Callable[[], object]) -> float:
    """The shortest of several rounds."""
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def look(url: str) -> None:
    with opened(url, whole=False) as stream:
        stream.read(16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--megabytes-per-second", type=float, default=40.0)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    size, rate = chosen.megabytes << 20, chosen.megabytes_per_second * (1 << 20)
    args = (theirs, size, chosen.latency_ms / 1e3, rate)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=args, daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}"
    folder = tempfile.mkdtemp()
    try:
        os.environ["TFPROF_REMOTE_CACHE"] = ""
        look(f"{url}/first")  # imports
        stream = best(chosen.rounds, lambda: read_file(f"{url}/stream"))
        blocks = best(chosen.rounds, lambda: read_file(f"{url}/blocks"))
        head = best(chosen.rounds, lambda: look(f"{url}/blocks"))
        os.environ["TFPROF_REMOTE_CACHE"] = folder
        read_file(f"{url}/blocks")
        kept = best(chosen.rounds, lambda: read_file(f"{url}/blocks"))
    finally:
        server.kill()
        shutil.rmtree(folder)
    print(
        f"{chosen.megabytes} MiB, {chosen.latency_ms:g} ms, "
        f"{chosen.megabytes_per_second:g} MiB/s over each connection, blocks of "
        f"{fetch.BLOCK_BYTES >> 20} MiB"
    )
    for name, seconds in (
        ("one stream", stream), ("blocks at once", blocks), ("the first bytes", head),
        ("kept", kept),
    ):  # fmt: skip
        print(f"{name:>16} {seconds:7.2f} s  × {stream / seconds:.1f}")


if __name__ == "__main__":
    main()
