"""GraphDefs, SavedModels and their objects become programs."""
