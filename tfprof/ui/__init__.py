"""User interface: pages as plain data, and the front end that draws them."""
