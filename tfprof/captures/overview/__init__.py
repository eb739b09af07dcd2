"""The overview page: a short version of the results of all tools."""
