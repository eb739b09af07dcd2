"""Float operations and multiply-adds of every op, from formulas."""
