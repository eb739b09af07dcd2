"""Small captures, cut out of big ones."""
