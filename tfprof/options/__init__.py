"""Every option, declared once, and the ways to write them down."""
