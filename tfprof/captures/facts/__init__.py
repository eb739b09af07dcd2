"""What several tools say of a run, worked out once."""
