"""Make the run of many hosts out of the capture of one: 256 files of 20 MB in a minute.

    python benchmarks/record_two_workers.py /tmp/recorded
    python benchmarks/many_hosts.py /tmp/hosts256 --from /tmp/recorded/worker0 \\
        --late input=2,compute=2 --damage missing=1,empty=1,truncated=2,duplicate=1,foreign=2

Who is late, whose clock is wrong and which file is damaged is in ``truth.json`` in the same folder.
See ``tests.pods.many_hosts`` for how it is done.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from longer_capture import write_longer

from tests.pods.many_hosts import INPUT, TRUTH, WAITS, Plan, write_run
from tests.pods.other_steps import consecutive_steps
from tests.pods.pod_damage import DAMAGE
from tfprof.core.wire import messages as pb
from tfprof.errors import UsageError
from tfprof.files.compression import decompressed
from tfprof.files.disk import is_folder
from tfprof.files.run_folder import run_files
from tfprof.files.sniff import packed_format


def options() -> argparse.ArgumentParser:
    """What can be chosen."""
    kinds = "; ".join(f"{kind}: {what}" for kind, what in DAMAGE.items()).replace("%", "%%")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("out", type=Path, help="the log folder, which is made")
    add("--from", dest="capture", type=Path, required=True, help="a capture, or its log folder")
    add("--hosts", type=int, default=256)
    add("--bytes-per-host", type=float, default=20e6, help="the capture lasts as long as it takes")
    add("--late", type=counts, default={}, help="slow hosts: input=2,compute=2")
    add("--factor", type=float, default=3.0, help="what is slow takes so many times as long")
    add("--damage", type=counts, default={}, help=f"damaged files: empty=2,…  ({kinds})")
    add("--noise", type=float, default=0.03, help="deviation of steps, as a part of them")
    add("--clocks", type=float, default=0.05, help="how wrong clocks are at most, s")
    add("--inputs", default=INPUT, help="names of events that wait for input, a pattern")
    add("--waits", default=WAITS, help="names of events that wait for other hosts, a pattern")
    add("--seed", type=int, default=1)
    return parser


def main() -> None:
    """Make it."""
    parser = options()
    args = parser.parse_args()
    plan = Plan(
        hosts=args.hosts, late=args.late, factor=args.factor, damage=args.damage, noise=args.noise,
        clocks_s=args.clocks, inputs=args.inputs, waits=args.waits, seed=args.seed,
    )  # fmt: skip
    try:
        plan.check()
        file = run_files(args.capture, None)[1][0] if is_folder(args.capture) else args.capture
        data = file.read_bytes()
        data = decompressed(data, str(file)) if packed_format(data) else data
        space = longer(pb.XSpace.FromString(data), int(args.bytes_per_host))
        began = time.perf_counter()
        truth = write_run(args.out, space, plan)
    except UsageError as error:
        parser.error(str(error))
    seconds = time.perf_counter() - began
    print(
        f"{len(truth['hosts'])} hosts of {truth['steps']} steps, {truth['bytes'] / 1e6:,.0f} MB in "
        f"{seconds:.1f} s ({truth['bytes'] / 1e6 / seconds:.0f} MB/s); see {args.out / TRUTH}"
    )


def longer(space: Any, n_bytes: int) -> Any:
    """The capture, repeated until it is about that large."""
    with tempfile.NamedTemporaryFile(suffix=".xplane.pb") as out:
        write_longer(space, n_bytes, out)
        out.flush()
        return consecutive_steps(pb.XSpace.FromString(Path(out.name).read_bytes()))


def counts(text: str) -> dict[str, int]:
    """``a=1,b=2``."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    return {name: int(number or 1) for name, _, number in pairs}


if __name__ == "__main__":
    main()
