"""Steps over a graph: what ran, when, and with how much memory."""
