"""Text for people: units, tables, pages, drawings."""
