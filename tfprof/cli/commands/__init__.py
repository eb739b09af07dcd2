"""One file per command, each with a ``command``; ``tfprof.cli.main.COMMANDS`` lists them."""
