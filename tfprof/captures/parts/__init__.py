"""What is left of hosts when their events are gone: facts that merge, and are sent elsewhere."""
