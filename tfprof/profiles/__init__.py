"""Steps over a graph: the runs of ops, their times and memory."""
