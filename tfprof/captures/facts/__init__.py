"""Facts of a run that several tools use, computed once."""
