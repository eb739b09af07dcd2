"""A checkpoint as a source of values for views."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tfprof.files.checkpoint.checkpoint import Checkpoint, open_checkpoint
from tfprof.files.checkpoint.dtypes import is_readable
from tfprof.files.checkpoint.variable_values import VariableValue


@dataclass(frozen=True, slots=True)
class CheckpointValues:
    """The values of a checkpoint.

    Attributes:
        checkpoint: The checkpoint.
    """

    checkpoint: Checkpoint

    def value(self, name: str) -> VariableValue | None:
        """The variable of a name, read anew; None if there is none.

        Raises:
            InputError: It cannot be read.
        """
        variable = self.checkpoint.find(name)
        if variable is None:
            return None
        number = variable.type_number
        values = self.checkpoint.read(variable.name) if is_readable(number) else None
        return VariableValue(
            variable.name, variable.dtype, number, values, str(self.checkpoint.path)
        )

    def names(self) -> list[str]:
        """Names that ops of these variables may have: keys, and names in programs."""
        names: dict[str, None] = {}
        for variable in self.checkpoint.variables:
            names[variable.name] = None
            if variable.full_name:
                names[variable.full_name.removesuffix(":0")] = None
        return list(names)


def checkpoint_values(source: str | os.PathLike[str] | Checkpoint) -> CheckpointValues:
    """The values of a checkpoint, opened before or given as a path. Errors as in opening it."""
    return CheckpointValues(source if isinstance(source, Checkpoint) else open_checkpoint(source))
