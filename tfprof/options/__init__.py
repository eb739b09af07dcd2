"""Every option, declared once, and functions to write and check options."""
