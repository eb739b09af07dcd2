"""Programs and their costs: graphs, shapes, float operations, parameters."""
