"""All formulas, also those of other packages and of the running program.

A package adds formulas through entry points of the group ``tfprof.flops``: the name is that of the
op type, the object a function from ``OpCall`` to a number of float operations or a ``Cost``. A
program adds them with ``register_flops``. Those of the program win over those of packages, and
these over tfprof's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from tfprof.errors import UsageError
from tfprof.graphs.flops import (  # noqa: F401  # each enters its formulas
    conv,
    elementwise,
    fft,
    free,
    fused,
    image,
    linalg,
    linear,
    losses,
    normalize,
    optimizer,
    pool,
    quantized,
    random,
    recurrent,
    reduce,
    sparse,
    xla,
)
from tfprof.graphs.flops.formulas import FORMULAS, FREE, Cost, Formula
from tfprof.graphs.model.op_call import OpCall, UnknownError
from tfprof.graphs.model.symbolic import Number, Symbolic

GROUP = "tfprof.flops"
"""Entry points that are formulas."""

UserFormula: TypeAlias = "Callable[[OpCall], Number | Cost | None]"
FormulaT = TypeVar("FormulaT", bound=UserFormula)


_REGISTERED: dict[str, Formula] = {}
"""Formulas of this program. Like TensorFlow's own registry, there is one for the process."""


def register_flops(*op_types: str) -> Callable[[FormulaT], FormulaT]:
    """Decorate a function that counts the float operations of an op type.

    The function gets an ``OpCall``: ``op.shape(0)`` is the shape of its first input, ``op.out()``
    that of its output, ``op.n_in(0)`` and ``op.n_out()`` their numbers of elements,
    ``op.attr(name)`` an attribute. Sizes may be symbolic, so it should add, multiply and use
    ``//``, and not convert them to ``int``. It returns the number of float operations, or a
    ``Cost`` that separates multiply-adds; None if unknown.

    Args:
        op_types: Op types, such as ``MyOp``. A formula of tfprof's for the same is replaced.

    Raises:
        UsageError: No op type is given, or one is not text.

    Example:
        >>> import tfprof
        >>> @tfprof.register_flops("MyOp")
        ... def my_op(op):
        ...     return 3 * op.n_out()
    """
    if not op_types or not all(isinstance(name, str) and name for name in op_types):
        raise UsageError(
            'register_flops takes op types as text: @tfprof.register_flops("MyOp"); '
            f"got {', '.join(map(repr, op_types)) or 'nothing'}"
        )

    def enter(function: FormulaT) -> FormulaT:
        for op_type in op_types:
            _REGISTERED[op_type] = user_formula(op_type, function)
        return function

    return enter


def unregister_flops(*op_types: str) -> None:
    """Remove formulas that ``register_flops`` has added."""
    for op_type in op_types:
        _REGISTERED.pop(op_type, None)


def user_formula(op_type: str, function: UserFormula) -> Formula:
    """A formula from a user's function."""

    def cost(op: OpCall) -> Cost:
        answer = function(op)
        if answer is None:
            raise UnknownError(f"the formula {name} has no answer")
        if isinstance(answer, Cost):
            return answer
        if isinstance(answer, bool) or not isinstance(answer, (int, Symbolic)):
            try:
                return Cost(0, int(answer))  # a NumPy integer, a float
            except (TypeError, ValueError, OverflowError):
                raise UnknownError(
                    f"the formula {name} gave {answer!r}, which is not a number"
                ) from None
        return Cost(0, answer)

    name = getattr(function, "__qualname__", repr(function))
    why = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    module = getattr(function, "__module__", "")
    return Formula(f"{name}(op)", why or f"a formula for {op_type}", module, cost)


def all_formulas() -> tuple[Mapping[str, Formula], Mapping[str, str]]:
    """Formula by op type, and reason by free op type.

    Raises:
        UsageError: A formula of another package cannot be loaded.
    """
    formulas = {**FORMULAS, **_of_packages(), **_REGISTERED}
    return formulas, FREE


def _of_packages() -> dict[str, Formula]:
    from importlib.metadata import entry_points

    formulas: dict[str, Formula] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            function = entry.load()
        except Exception as error:  # whatever a package's import may raise
            raise UsageError(
                f"the FLOP formula {entry.name} ({entry.value}) cannot be loaded: "
                f"{type(error).__name__}: {error}; mend or uninstall its package"
            ) from error
        formulas[entry.name] = user_formula(entry.name, function)
    return formulas
