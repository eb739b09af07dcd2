"""Values of small tensors: sizes, axes and conditions, as far as they follow from the graph."""

from __future__ import annotations

from tfprof.graphs.shapes import value_arithmetic, value_conditions, value_moves, value_reductions
from tfprof.graphs.shapes.rules import Rules
from tfprof.graphs.shapes.small_arrays import ValueRules

VALUES: ValueRules = Rules()
for _part in (value_moves, value_arithmetic, value_conditions, value_reductions):
    VALUES.update(_part.RULES)
