"""Lines that the trace viewer adds to the recorded ones."""
