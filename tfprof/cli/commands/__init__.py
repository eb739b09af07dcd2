"""One file per command, each with a ``command``; ``tfprof.cli.registry`` lists them."""
