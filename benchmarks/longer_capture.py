"""Make a capture that lasted longer: the events of a recorded one again and again, later each time.

    python benchmarks/longer_capture.py CAPTURE.xplane.pb OUT.xplane.pb --megabytes 200

Tools see more steps, not heavier ones: see ``tfprof.testing.longer_captures``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tfprof.testing.longer_captures import longer
from tfprof.wire import messages as pb


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=200)
    chosen = parser.parse_args()
    space = pb.XSpace.FromString(chosen.capture.read_bytes())
    chosen.out.write_bytes(longer(space, int(chosen.megabytes * 1e6)).SerializeToString())


if __name__ == "__main__":
    main()
