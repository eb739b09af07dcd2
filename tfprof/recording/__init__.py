"""Records programs while they run: contexts, hooks and callbacks."""
