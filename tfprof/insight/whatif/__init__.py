"""Replays a captured run with other costs: how long a step takes, and its critical path."""
