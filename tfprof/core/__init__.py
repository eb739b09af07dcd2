"""The basis of all other rooms: protobuf bytes, columns, text."""
