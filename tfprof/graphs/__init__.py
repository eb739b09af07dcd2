"""What a program is and what it costs: graphs, shapes, float operations, parameters."""
