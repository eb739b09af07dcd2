# cython: language_level=3, boundscheck=False, wraparound=False
# cython: freethreading_compatible=True
"""Columns in as few bytes as their values need, in one pass to look and one to write."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused Narrow:
    uint8_t
    uint16_t
    uint32_t


cdef void fill(
    Narrow* narrow, const int64_t* values, Py_ssize_t n_values, uint64_t low
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_values):
        narrow[i] = <Narrow>(<uint64_t>values[i] - low)


def narrowed(const int64_t[::1] values):
    """What the values are above the least of them.

    Returns:
        The unsigned numbers as bytes, the bytes of each (0 if all values are the same), and the
        least value; None if there are no values, or 32 bits do not hold the numbers.
    """
    cdef Py_ssize_t n_values = values.shape[0], i
    cdef int64_t low, high, value
    cdef uint64_t span
    cdef int width
    cdef bytes narrow
    cdef char* start
    if n_values == 0:
        return None
    low = high = values[0]
    with nogil:
        for i in range(n_values):
            value = values[i]
            low = value if value < low else low
            high = value if value > high else high
    span = <uint64_t>high - <uint64_t>low
    if span >> 32:
        return None
    width = 0 if span == 0 else 1 if span < 1 << 8 else 2 if span < 1 << 16 else 4
    narrow = PyBytes_FromStringAndSize(NULL, n_values * width)
    start = PyBytes_AS_STRING(narrow)
    with nogil:
        if width == 1:
            fill(<uint8_t*>start, &values[0], n_values, <uint64_t>low)
        elif width == 2:
            fill(<uint16_t*>start, &values[0], n_values, <uint64_t>low)
        elif width == 4:
            fill(<uint32_t*>start, &values[0], n_values, <uint64_t>low)
    return narrow, width, low
