# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The text of an outline, natively; ``tfprof.core.text.outline_text`` says what it looks like."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport fabs, floor
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    char* PyOS_double_to_string(
        double value, char format, int precision, int flags, int* kind
    ) except NULL
    void PyMem_Free(void* memory)


cdef struct Buffer:
    char* data
    Py_ssize_t size
    Py_ssize_t capacity


cdef int reserve(Buffer* buffer, Py_ssize_t size) except -1:
    """Make room for so many more bytes."""
    cdef Py_ssize_t capacity
    cdef char* grown
    if size <= buffer.capacity - buffer.size:
        return 0
    if size > (1 << 62) - buffer.size:
        raise MemoryError
    capacity = max(buffer.size + size, 2 * buffer.capacity)
    grown = <char*>realloc(buffer.data, capacity)
    if grown == NULL:
        raise MemoryError
    buffer.data = grown
    buffer.capacity = capacity
    return 0


cdef int put(Buffer* buffer, const char* data, Py_ssize_t size) except -1:
    reserve(buffer, size)
    memcpy(buffer.data + buffer.size, data, size)
    buffer.size += size
    return 0


cdef int put_text(Buffer* buffer, object text) except -1:
    cdef Py_ssize_t size
    cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
    return put(buffer, data, size)


cdef void put_digits(Buffer* buffer, uint64_t value) noexcept:
    """A number in decimal; 20 bytes must be free."""
    cdef char[20] digits
    cdef int n = 0
    while True:
        digits[19 - n] = <char>(48 + value % 10)
        n += 1
        value //= 10
        if value == 0:
            break
    memcpy(buffer.data + buffer.size, &digits[20 - n], n)
    buffer.size += n


cdef int put_hundredths(Buffer* buffer, double value) except -1:
    """A number that is not negative with two decimals, rounded as Python rounds it."""
    cdef double scaled = value * 100.0
    cdef double below = floor(scaled)
    cdef uint64_t hundredths
    cdef char* text
    # The product is off by less than this, so only numbers near the middle can be rounded wrongly.
    if value < 1e9 and fabs(scaled - below - 0.5) > 1e-3:
        hundredths = <uint64_t>below + (scaled - below > 0.5)
        reserve(buffer, 24)
        put_digits(buffer, hundredths // 100)
        buffer.data[buffer.size] = c"."
        buffer.data[buffer.size + 1] = <char>(48 + hundredths // 10 % 10)
        buffer.data[buffer.size + 2] = <char>(48 + hundredths % 10)
        buffer.size += 3
        return 0
    text = PyOS_double_to_string(value, c"f", 2, 0, NULL)
    try:
        for_text = <bytes>text
    finally:
        PyMem_Free(text)
    return put(buffer, for_text, len(for_text))


cdef class Amounts:
    """Numbers of rows as text: below 1000 as they are, else in the largest unit that fits."""

    cdef const int64_t[::1] values
    cdef list units

    def __init__(self, const int64_t[::1] values, list units):
        if not 0 < len(units) < 7:
            raise ValueError("a number has one to six units")
        self.values = values
        self.units = units

    cdef int put(self, Buffer* buffer, Py_ssize_t row) except -1:
        cdef int64_t value = self.values[row]
        cdef int64_t factor = 1
        cdef Py_ssize_t power = 0
        cdef bytes unit
        while power + 1 < len(self.units) and value >= 1000 * factor:
            factor *= 1000
            power += 1
        if power:
            put_hundredths(buffer, <double>value / <double>factor)
        else:
            reserve(buffer, 24)
            if value < 0:
                buffer.data[buffer.size] = c"-"
                buffer.size += 1
            put_digits(buffer, -<uint64_t>value if value < 0 else <uint64_t>value)
        unit = self.units[power]
        return put(buffer, unit, len(unit))


cdef class Ratios:
    """``own/total`` of rows; own is ``--`` where a row is not accounted."""

    cdef Amounts own
    cdef Amounts total
    cdef const uint8_t[::1] accounted
    cdef bytes suffix

    def __init__(
        self,
        const int64_t[::1] own,
        const int64_t[::1] total,
        const uint8_t[::1] accounted,
        list units,
        bytes suffix,
    ):
        if not own.shape[0] == total.shape[0] == accounted.shape[0]:
            raise ValueError("columns of one view differ in length")
        self.own = Amounts(own, units)
        self.total = Amounts(total, units)
        self.accounted = accounted
        self.suffix = suffix

    def __len__(self):
        return self.accounted.shape[0]

    cdef int put(self, Buffer* buffer, Py_ssize_t row) except -1:
        if self.accounted[row]:
            self.own.put(buffer, row)
        else:
            put(buffer, b"--", 2)
        put(buffer, b"/", 1)
        self.total.put(buffer, row)
        return put(buffer, self.suffix, len(self.suffix))


def outline(list names, const int64_t[::1] depth, list columns):
    """Lines of ``<indent><name> (<items>)``.

    Args:
        names: Name of each row.
        depth: Levels of each row.
        columns: Items: ``Ratios``, or a list of texts, where None leaves out the item.

    Raises:
        UnicodeEncodeError: A text has lone surrogates.
    """
    cdef Py_ssize_t n = len(names)
    cdef Py_ssize_t row
    cdef bint is_first
    cdef Buffer buffer
    if depth.shape[0] != n:
        raise ValueError("columns of one view differ in length")
    for column in columns:
        if not isinstance(column, (Ratios, list)) or len(column) != n:
            raise ValueError("columns of one view differ in length")
    buffer.data = NULL
    buffer.size = buffer.capacity = 0
    try:
        reserve(&buffer, 1)  # C takes no null pointer, not even for no bytes
        for row in range(n):
            if not 0 <= depth[row] <= n:
                raise ValueError("a tree is not as deep as that")
            reserve(&buffer, 2 * depth[row])
            memset(buffer.data + buffer.size, c" ", 2 * depth[row])
            buffer.size += 2 * depth[row]
            put_text(&buffer, names[row])
            put(&buffer, b" (", 2)
            is_first = True
            for column in columns:
                if isinstance(column, Ratios):
                    put_separator(&buffer, is_first)
                    (<Ratios>column).put(&buffer, row)
                elif (<list>column)[row] is not None:
                    put_separator(&buffer, is_first)
                    put_text(&buffer, (<list>column)[row])
                else:
                    continue
                is_first = False
            put(&buffer, b")\n", 2)
        return PyUnicode_DecodeUTF8(buffer.data, buffer.size, NULL)
    finally:
        free(buffer.data)


cdef int put_separator(Buffer* buffer, bint is_first) except -1:
    return 0 if is_first else put(buffer, b", ", 2)
