"""What people read of a column: its name, its unit, what it means, and the clock of its times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tfprof.core.columns.arrow import Field

Clock = Literal["", "host", "device", "both", "of the row"]
"""Which clock has measured the times of a column; empty without times."""

UNITS_OF_TIME: Final = frozenset((
    "ps", "ns", "us", "µs", "ms", "gflops_per_s", "gib_per_s", "fraction", "percent",
))  # fmt: skip
"""Units of times, of what is divided by them, and of parts of them."""


@dataclass(frozen=True, slots=True)
class Described:
    """A column of a table as people read of it.

    Attributes:
        name: Its name.
        type: ``string``, ``bool``, ``int64`` or ``float64``; ``number`` for any of the last two,
            empty for what holds all cells.
        unit: Unit of its numbers, empty for texts.
        meaning: What it holds.
        clock: The clock of its times.
    """

    name: str
    type: str
    unit: str
    meaning: str
    clock: Clock = ""

    def field(self, places: str = "") -> Field:
        """Its type in Arrow.

        Args:
            places: Type of places in a dictionary of texts; empty for texts as they are.
        """
        told = {"unit": self.unit} if self.unit else {}
        return Field(self.name, places or self.type, told, is_coded=bool(places))
