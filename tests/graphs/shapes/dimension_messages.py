"""Messages of dimension numbers, as XLA writes them into attributes."""

from __future__ import annotations

Roles = tuple[int, int, tuple[int, ...]]


def dot_message(*places: tuple[int, ...]) -> bytes:
    """``DotDimensionNumbers``: contracted dimensions of both sides, those of the batch of both."""
    return b"".join(_packed(number, values) for number, values in enumerate(places, 1))


def gather_message(
    offset: tuple[int, ...], collapsed: tuple[int, ...], starts: tuple[int, ...], index_vector: int
) -> bytes:
    """``GatherDimensionNumbers``."""
    parts = [_packed(number, values) for number, values in ((1, offset), (2, collapsed))]
    return b"".join([*parts, _packed(3, starts), _number(4, index_vector)])


def conv_message(image: Roles, kernel: Roles, result: Roles) -> bytes:
    """``ConvolutionDimensionNumbers``."""
    fields = zip((image, kernel, result), ((7, 8, 11), (3, 4, 6), (9, 10, 12)), strict=True)
    return b"".join(
        _number(first, roles[0]) + _number(second, roles[1]) + _packed(spatial, roles[2])
        for roles, (first, second, spatial) in fields
    )


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3, value]) if value else b""


def _packed(field: int, values: tuple[int, ...]) -> bytes:
    return bytes([field << 3 | 2, len(values), *values]) if values else b""
