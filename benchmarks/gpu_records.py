"""What recording GPU activity costs in Python: a record, a capture's file, a scope.

    python benchmarks/gpu_records.py [records]

Records are stand-ins without a GPU, so the costs of CUPTI itself are not in it.
"""

import sys
import time
from timeit import repeat

from tests.capture.cupti.stand_in import Cupti, call, kernel
from tfprof.capture.cupti.adapter import GpuSession
from tfprof.capture.gpu_part import with_gpus
from tfprof.capture.program import scope
from tfprof.testing.xspace_builders import event, host, line, xspace

START_NS = 1_790_000_000_000_000_000
US = 1_000


def records(n_kernels):
    """Kernels and their calls, in the ops of one thread."""
    for number in range(n_kernels):
        now = START_NS + number * 10 * US
        yield call(now, now + US, number, thread=5)
        yield kernel(now + 2 * US, now + 8 * US, number, name=f"kernel_{number % 50}")


def main():
    n_kernels = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    made = list(records(n_kernels))
    best = {}
    for _ in range(3):
        session = GpuSession(lambda: Cupti())
        session.start()
        begin = time.perf_counter()
        session._completed(made)
        taken = time.perf_counter()
        recorded = session.stop(lambda: None)
        stopped = time.perf_counter()
        ops = [event(f"op_{n % 50}:MatMul", n * 10 * US, 5 * US) for n in range(n_kernels)]
        space = xspace(host(line(*ops, id=5)))
        capture = space.SerializeToString()
        before = time.perf_counter()
        with_gpus(capture, recorded)
        after = time.perf_counter()
        for name, seconds in (
            ("callback", taken - begin), ("stop", stopped - taken), ("tracks", after - before)
        ):  # fmt: skip
            best[name] = min(best.get(name, seconds), seconds)
    for name, seconds in best.items():
        print(f"{name:10} {seconds / len(made) * 1e6:6.2f} us a record")
    idle = min(repeat("with scope('a/b'): pass", globals={"scope": scope}, number=100_000))
    print(f"{'idle scope':10} {idle / 100_000 * 1e6:6.2f} us")


if __name__ == "__main__":
    main()
