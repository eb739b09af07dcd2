# Tables that grow while a message is walked over, and the columns that they become.

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, Py_buffer
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef enum:
    FIRST_ROWS = 64
    MOST_GROWTH = 16

ctypedef struct Table:
    int64_t n_rows
    int64_t capacity
    int64_t n_slots
    int64_t** slots


cdef int grow(Table* table, double share) noexcept nogil:
    """Make room for what is to come, if it is like the share that was read; -1 without memory."""
    cdef int64_t rows = table.n_rows, slot
    cdef int64_t capacity = FIRST_ROWS
    cdef double times
    cdef int64_t* grown
    if rows:
        times = 1.0625 / share if share > 1.0625 / MOST_GROWTH else <double>MOST_GROWTH
        capacity = <int64_t>(rows * (times if times > 1.25 else 1.25)) + FIRST_ROWS
    for slot in range(table.n_slots):
        grown = <int64_t*>realloc(table.slots[slot], capacity * sizeof(int64_t))
        if grown == NULL:
            return -1
        memset(grown + rows, 0, (capacity - rows) * sizeof(int64_t))
        table.slots[slot] = grown
    table.capacity = capacity
    return 0


cdef char* FORMAT = b"q"


cdef class Memory:
    """A column: memory that NumPy reads in place, freed with the last array on it."""

    cdef int64_t* start
    cdef Py_ssize_t size
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.start)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        self.shape[0] = self.size
        buffer.buf = self.start if self.start != NULL else <void*>self.shape
        buffer.obj = self
        buffer.len = self.size * sizeof(int64_t)
        buffer.itemsize = sizeof(int64_t)
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = FORMAT if flags & PyBUF_FORMAT else NULL
        buffer.shape = self.shape if flags & PyBUF_ND else NULL
        buffer.strides = &buffer.itemsize if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


cdef list columns_of(Table* table):
    """Hand over the columns, without the room that is not used."""
    cdef list columns = []
    cdef Memory memory
    cdef int64_t slot
    cdef int64_t* fitted
    for slot in range(table.n_slots):
        memory = Memory()
        memory.start = table.slots[slot]
        memory.size = table.n_rows
        table.slots[slot] = NULL
        if table.n_rows < table.capacity:
            fitted = <int64_t*>realloc(memory.start, (table.n_rows or 1) * sizeof(int64_t))
            if fitted != NULL:
                memory.start = fitted
        columns.append(memory)
    return columns
