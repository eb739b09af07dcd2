"""The compiled twins; ``tfprof.wire.compiled`` says whether they are there."""
