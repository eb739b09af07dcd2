"""A profile as columns: ops, steps, executions and runs."""
