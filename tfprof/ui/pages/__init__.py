"""Pages of a run as plain data, before the front end draws them."""
