"""``flops``, ``params`` and ``summary`` for users, and their results as text."""
