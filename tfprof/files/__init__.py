"""Files and folders: what they are, read and written."""
