"""The interactive shell: reads, parses, completes and runs lines."""
