"""The compiled versions of Python modules; ``tfprof.core.wire.compiled`` gives access to them."""
