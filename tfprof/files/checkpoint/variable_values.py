"""The interface of views to values of variables, independent of their reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

CHECKPOINT_VARIABLES = "_checkpoint_variables"
"""Type of the ops whose name is that of a variable in a checkpoint."""


@dataclass(frozen=True, slots=True)
class VariableValue:
    """A variable and its values.

    Attributes:
        name: Its name.
        dtype: TensorFlow's name of its type.
        type_number: Number of its ``DataType``.
        values: Its values; None if only the code that wrote them can interpret them.
        source: The source of the values.
    """

    name: str
    dtype: str
    type_number: int
    values: npt.NDArray[Any] | None
    source: str

    @property
    def flat(self) -> npt.NDArray[Any]:
        """The values in a row, those of the last dimension beside each other."""
        return np.zeros(0) if self.values is None else self.values.reshape(-1)


class VariableValues(Protocol):
    """A source of values."""

    def value(self, name: str) -> VariableValue | None:
        """The variable of a name, read anew; None if there is none.

        Raises:
            InputError: It cannot be read.
        """

    def names(self) -> list[str]:
        """Names that its variables may have in a program."""
