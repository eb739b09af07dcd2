"""The ``tfprof`` command. Until one runs, its modules import nothing but click and options."""
