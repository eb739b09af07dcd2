"""Steps: how they are found, and how they spend their time."""
