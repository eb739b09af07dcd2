"""The wire: message classes from our own descriptors, and readers of raw protobuf bytes."""
