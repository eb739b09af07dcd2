"""A gym of programs: drawn at random, recorded with their own clocks, and held against tfprof.

``python -m tests.truth.gym --seeds 500`` or ``nox -s truth -- --seeds 500``. A program is a term
of a grammar (``grammar``); a child process records it (``run``, ``loop``, and a module ``of_…`` for
each framework); ``truth`` is what its own clock says of it, ``claims`` what tfprof says, and
``judge`` compares the two. ``apply`` follows advice in the grammar; ``exercise`` does all of it.
"""
