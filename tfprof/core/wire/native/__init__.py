"""The compiled twins; ``tfprof.core.wire.compiled`` says whether they are there."""
