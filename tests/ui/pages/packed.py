"""Packed columns as lists again, as the front end unpacks them."""

import base64

import numpy as np

_TYPES = {"i32": "<i4", "f64": "<f8"}


def unpacked(packed):
    """Values of a column; unknown numbers are None."""
    if isinstance(packed, list):
        return packed
    if "texts" in packed:
        texts = packed["texts"]
        return [None if place < 0 else texts[place] for place in unpacked(packed["at"])]
    values = np.frombuffer(base64.b64decode(packed["data"]), _TYPES[packed["type"]]).tolist()
    return [None if value != value else value for value in values]
