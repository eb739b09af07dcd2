"""What to do about the damaged parts of a saved profile: refuse them, or go on without."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.columns.columns import BoolArray
from tfprof.columns.remarks import Notice, Notices
from tfprof.errors import MalformedProfileError


class Damage:
    """Takes reports of damage.

    Args:
        label: What to call the profile in errors.
        notices: Where to note what was lost; None means that damage is an error.
    """

    def __init__(self, label: str, notices: Notices | None) -> None:
        self._label = label
        self._notices = notices

    @property
    def recovers(self) -> bool:
        """Whether damage is noted instead of refused."""
        return self._notices is not None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was lost."""
        return () if self._notices is None else self._notices.as_tuple()

    def error(self, problem: str) -> MalformedProfileError:
        """What to raise if nothing can be read of the profile."""
        return MalformedProfileError(f"{self._label}: {problem}")

    def report(self, code: str, broken: BoolArray, what: Callable[[int], str], loss: str) -> None:
        """Report damage.

        Args:
            code: Code of the notice.
            broken: Which things are damaged; nothing is reported if none is.
            what: The place of a thing, and what is wrong there.
            loss: What is missing after going on without them.

        Raises:
            MalformedProfileError: Something is damaged, and the profile is not to be recovered.
        """
        places = np.flatnonzero(broken)
        if not len(places):
            return
        if self._notices is None:
            raise self.error(
                f"{what(int(places[0]))}. The profile is damaged: save it again, or load what is "
                "left of it with recover=True"
            )
        self._notices.add(code, loss, len(places))
