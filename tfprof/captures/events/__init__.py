"""Analysis of the events of a captured XSpace: nesting, links between threads, steps, ops."""
