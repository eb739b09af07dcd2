"""What is there to be seen: pages as plain data, and what draws them."""
