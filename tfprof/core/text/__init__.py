"""Text for users: units, tables, pages, drawings."""
