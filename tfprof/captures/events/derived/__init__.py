"""Lines that the trace viewer adds to what was recorded."""
