"""``flops``, ``params`` and ``summary`` for users."""
