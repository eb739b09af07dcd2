"""Damaged parts of a saved profile: an error, or left out with a notice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.core.columns.columns import BoolArray
from tfprof.core.columns.remarks import Notice, Notices
from tfprof.errors import MalformedProfileError


class Damage:
    """Receives reports of damage.

    Args:
        label: Name of the profile in errors.
        notices: Where to note what was lost; None: damage is an error.
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
        """The error to raise if the profile cannot be read at all."""
        return MalformedProfileError(f"{self._label}: {problem}")

    def report(self, code: str, broken: BoolArray, what: Callable[[int], str], loss: str) -> None:
        """Report damage.

        Args:
            code: Code of the notice.
            broken: Which things are damaged; nothing is reported if none is.
            what: Gives the place of a damaged thing, and what is wrong with it.
            loss: What is lost without the damaged things.

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
