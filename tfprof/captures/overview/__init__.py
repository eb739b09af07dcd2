"""The overview page: what all tools say in short."""
