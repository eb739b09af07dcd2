"""A captured run with its hosts, and the tables that tools return."""
