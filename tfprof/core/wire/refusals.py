"""What protobuf raises for bytes that it refuses."""

from __future__ import annotations

from google.protobuf.message import DecodeError

REFUSALS = (DecodeError, RuntimeWarning, UnicodeDecodeError)
"""A RuntimeWarning, where warnings are errors, is how some releases report a stray end of a group.
Where protobuf is Python alone, a text that is not UTF-8 raises what Python raises for it."""
