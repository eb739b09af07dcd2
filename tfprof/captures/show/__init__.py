"""Results of tools as text and files."""
