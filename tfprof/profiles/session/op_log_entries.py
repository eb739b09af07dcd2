"""Entries of an op log that wait for the ops they are about."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.core.columns.frames import NO_STACK
from tfprof.graphs.model.op_log_columns import OpLogColumns
from tfprof.profiles.model.profile import Profile


class OpLogEntries:
    """Adds entries of an op log to a profile as soon as it has their ops.

    Args:
        profile: The profile.
        log: The entries.
        wait: Keep the entries of unknown ops for later; else they are dropped.

    Attributes:
        waiting: Entries whose ops are not known yet.
    """

    def __init__(self, profile: Profile, log: OpLogColumns, *, wait: bool) -> None:
        self.waiting = log
        self._profile = profile
        self._wait = wait
        self._n_ops_seen = 0
        self._marked: set[tuple[str, str]] = set()

    def apply(self) -> None:
        """Add the entries whose ops are known now."""
        log, ops = self.waiting, self._profile.ops
        if not log.names or len(ops) == self._n_ops_seen:
            return
        self._n_ops_seen = len(ops)
        is_known = (ops.rows(log.names) >= 0).tolist()
        if any(is_known):
            self._profile.add_op_log(log.select(is_known))
        self.waiting = log.select([self._wait and not known for known in is_known])

    def mark(self, names: Sequence[str], type_name: str) -> None:
        """Give the ops of these names a type, also those that are added later."""
        new = [name for name in names if (name, type_name) not in self._marked]
        self._marked.update((name, type_name) for name in new)
        self.waiting.names.extend(new)
        self.waiting.types.extend([(type_name,)] * len(new))
        self.waiting.float_ops.extend([0] * len(new))
        self.waiting.stack_ids.extend([NO_STACK] * len(new))
        self._n_ops_seen = -1  # look again, even without new ops
        self.apply()
