"""The tools of captures, one module each."""
