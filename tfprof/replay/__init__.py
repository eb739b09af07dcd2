"""A captured run gone through again with other costs: how long a step takes, and what decides it."""
