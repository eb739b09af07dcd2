"""A program as data: nodes, functions, tensors, symbolic numbers."""
