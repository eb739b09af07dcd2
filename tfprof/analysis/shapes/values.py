"""Values of small tensors: sizes, axes and conditions, as far as they follow from the graph."""

from __future__ import annotations

from tfprof.analysis.shapes import (
    value_arithmetic,
    value_conditions,
    value_moves,
    value_reductions,
)
from tfprof.analysis.shapes.rules import Rules
from tfprof.analysis.shapes.small_arrays import ValueRules

VALUES: ValueRules = Rules()
for _part in (value_moves, value_arithmetic, value_conditions, value_reductions):
    VALUES.update(_part.RULES)
