"""Views as text, outlines, pages and drawings."""
