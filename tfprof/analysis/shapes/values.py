"""Values of small tensors: sizes, axes and conditions, as far as they follow from the graph."""

from __future__ import annotations

from tfprof.analysis.shapes import value_arithmetic, value_moves
from tfprof.analysis.shapes.rules import Rules
from tfprof.analysis.shapes.small_arrays import ValueRules

VALUES: ValueRules = Rules()
VALUES.update(value_moves.RULES)
VALUES.update(value_arithmetic.RULES)
