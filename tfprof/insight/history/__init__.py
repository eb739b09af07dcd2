"""History: key figures of many runs, when they changed, and with what."""
