"""Pages in a browser: from a local server, or as one file."""
