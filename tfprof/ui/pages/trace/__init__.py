"""The trace viewer: a trace as tracks, tiles of it for any zoom, and answers about its events."""
