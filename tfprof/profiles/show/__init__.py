"""What a profile holds, as text."""
