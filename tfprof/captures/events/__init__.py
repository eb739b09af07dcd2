"""What the events of a captured XSpace mean: nesting, links between threads, steps, ops."""
