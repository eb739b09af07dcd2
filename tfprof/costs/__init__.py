"""What a model costs before it runs: float operations, parameters, layer by layer."""
