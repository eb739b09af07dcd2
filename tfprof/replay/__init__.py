"""A captured run gone through again with other costs: what would a step take, and what decides it."""
