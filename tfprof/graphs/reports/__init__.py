"""``flops``, ``params`` and ``summary``: what a program costs, as people ask for it."""
