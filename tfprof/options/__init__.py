"""Every option, declared once, and the ways to write and check options."""
