"""Timelines of the graph, scope and code views, for Chrome's and Perfetto's trace viewers."""
