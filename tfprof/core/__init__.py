"""What everything stands on: bytes of protobuf, columns, text."""
