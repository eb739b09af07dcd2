"""Shapes, small values and handles of the outputs of ops, from their inputs."""
