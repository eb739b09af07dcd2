"""Views as files: messages, pprof, timelines."""
