"""The events of one host as columns: clocks, names, nesting, links, programs."""
