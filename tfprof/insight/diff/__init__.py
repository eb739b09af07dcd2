"""Two runs side by side: what became slower, by how much, and whether that is more than noise."""
