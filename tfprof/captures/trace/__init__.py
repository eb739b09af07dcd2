"""The trace viewer: tracks, arguments, blocks of events, Chrome JSON."""
