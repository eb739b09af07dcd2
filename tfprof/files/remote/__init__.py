"""Files of other machines, through fsspec: named by URLs, fetched in ranges, and cached."""
