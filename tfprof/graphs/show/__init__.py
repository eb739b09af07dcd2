"""Reports on a program as text and pages."""
