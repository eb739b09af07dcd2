"""Names in graphs: scopes, and variables, which op types declare them and whose they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator

VARIABLE_OPS = frozenset({"AutoReloadVariable", "VarHandleOp", "Variable", "VariableV2"})
"""Op types that declare a variable, with attributes ``shape`` and ``dtype``."""

CONSTANT_OPS = frozenset({"Const", "HostConst"})
"""Op types of constants, which some variables become when a graph is frozen."""

_OPTIMIZER_SCALARS = ("beta1_power", "beta2_power")


def belongs_to_optimizer(name: str, owners: Collection[str]) -> bool:
    """Whether a variable was made by an optimizer of TensorFlow 1, judged by its name.

    A slot is called after the variable that it belongs to, ``dense/kernel/Momentum``
    (``slot_creator.py``), below the variable scope of the optimizer; Adam also keeps
    ``beta1_power`` and ``beta2_power``. The step counter is not a parameter either.

    Args:
        name: Name of the variable.
        owners: Names of variables that may have slots; a set, if there are many.
    """
    last = name.rpartition("/")[2]
    if last == "global_step" or last.startswith(_OPTIMIZER_SCALARS):
        return True
    owner = name.rpartition("/")[0]
    while owner:
        if owner in owners:
            return True
        owner = owner.partition("/")[2]
    return False


def enclosing(scope: str) -> Iterator[str]:
    """A scope and those around it, innermost first."""
    while scope:
        yield scope
        scope = scope.rpartition("/")[0]
