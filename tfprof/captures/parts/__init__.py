"""The reduced data of hosts without their events: facts that can be merged, sent and stored."""
