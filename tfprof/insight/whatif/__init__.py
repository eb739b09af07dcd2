"""A captured run gone through again with other costs: what a step takes, what decides it."""
