"""A captured run and its hosts, and the tables that tools answer with."""
