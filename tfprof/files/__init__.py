"""Files and folders: recognizing, reading and writing them."""
