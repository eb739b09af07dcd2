"""What a captured run (XSpace) says: planes, lines and events, and the tools that read them."""
