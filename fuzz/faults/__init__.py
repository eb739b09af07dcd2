"""Faults of the machine: what commands do on full disks, with few descriptors, under signals."""
