"""What programs of XLA cost, and where their values lie in memory."""
