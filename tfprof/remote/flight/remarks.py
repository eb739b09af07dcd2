"""What users should know about the recording of a worker."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.remote.flight.watched import WatchedWorker


def remarks_on(worker: WatchedWorker) -> Iterator[str]:
    """Remarks on what is missing, and how the worker is recorded.

    Args:
        worker: The worker, at any time.
    """
    of = worker.address
    if worker.has_begun and worker.observed.way == "captures":
        yield (
            f"{of} has no continuous profiling: short captures follow each other, and what happens "
            "between them is lost"
        )
    if worker.has_cleared:
        yield f"{of} had a session of a recorder that is gone; it was ended"
    if worker.n_unclear:
        yield (
            f"{of}: of {worker.n_unclear} steps that snapshots have cut, or that ran while nothing "
            "was recorded, it is not known whether they were slow: the time between steps differs "
            "as much; mark them with tfprof.capture.step"
        )
    if worker.n_damaged:
        yield f"{of}: {worker.n_damaged} snapshots were damaged, and are not kept"
    if not worker.has_begun and worker.trouble:
        yield f"{of} is not recorded: {worker.trouble}"
    if worker.ring.was_short:
        yield f"{of}: less time is kept than requested, because the snapshots are too large"
    if worker.ring.n_jumps:
        yield f"{of}: its clock jumped; times of the run count on"
    if worker.ring.n_taken:
        yield (
            f"{of}: another client took what was recorded {worker.ring.n_taken} times, so this "
            "recorder lacks it: a recorder that begins looks whether a session is abandoned, which "
            "takes its data"
        )
