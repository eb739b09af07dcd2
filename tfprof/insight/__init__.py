"""Questions about whole runs: differences between two, what-if, budgets."""
