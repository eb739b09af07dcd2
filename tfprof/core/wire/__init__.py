"""Wire format of protobuf: messages in a pool of our own, plans, scans, encoding."""
