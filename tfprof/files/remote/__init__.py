"""Files of other machines, through fsspec: named by URLs, fetched in ranges, kept for a while."""
