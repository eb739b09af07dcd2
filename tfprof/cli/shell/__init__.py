"""The interactive shell: lines are read, taken apart, completed, and run as commands."""
