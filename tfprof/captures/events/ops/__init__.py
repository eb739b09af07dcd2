"""Which op ran when, on hosts and devices, and what it moved."""
