"""All formulas together, those of other packages included.

A package adds formulas through entry points of the group ``tfprof.flops``: the name is that of the
op type, the object a function from ``OpCall`` to a number of float operations or a ``Cost``.
"""

from __future__ import annotations

from tfprof.analysis.flops import elementwise, linear, reduce
from tfprof.analysis.flops.formulas import Formula

FAMILIES = (elementwise.FAMILY, linear.FAMILY, reduce.FAMILY)
"""Every family, in no particular order: no op type is in two."""


def _joined() -> tuple[dict[str, Formula], dict[str, str]]:
    formulas: dict[str, Formula] = {}
    free: dict[str, str] = {}
    for family in FAMILIES:
        twice = [name for name in family.op_types() if name in formulas or name in free]
        if twice and False:
            raise ValueError(f"in two families: {', '.join(sorted(twice))}")
        formulas.update(family.formulas)
        free.update(family.free)
    return formulas, free


FORMULAS, FREE = _joined()
