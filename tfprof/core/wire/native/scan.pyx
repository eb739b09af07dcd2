# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""The native scanner: walks serialized messages by a compiled plan, without the GIL.

Every read is checked against the end of the message that it belongs to. The walk recurses only
where the plan does; groups, which no plan contains, are skipped with a counter. Bytes that protobuf
would refuse end the scan; protobuf then reports the reason.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

include "varints.pxi"
include "scan_plan.pxi"
include "scan_tables.pxi"
include "scan_walk.pxi"


cdef int64_t* copied(const int64_t[::1] numbers) except NULL:
    cdef Py_ssize_t size = numbers.shape[0] * sizeof(int64_t)
    cdef int64_t* copy = <int64_t*>malloc(size)
    if copy == NULL:
        raise MemoryError
    memcpy(copy, &numbers[0], size)
    return copy


cdef class NativePlan:
    """A plan, ready to be scanned by.

    Args:
        actions: Seven numbers for each action.
        levels: First action, number of actions and depth of each level; the first is the root's.
        slots: How many columns each table has.

    Raises:
        ValueError: This is not a plan.
    """

    cdef int64_t* actions
    cdef int64_t* levels
    cdef int64_t* slots
    cdef Field* fields
    cdef Py_ssize_t n_tables

    def __cinit__(
        self,
        const int64_t[::1] actions,
        const int64_t[::1] levels,
        const int64_t[::1] slots,
    ):
        cdef Py_ssize_t n_levels = levels.shape[0] // SPAN_SIZE, level
        check_plan(actions, levels, slots)
        self.actions = copied(actions)
        self.levels = copied(levels)
        self.slots = copied(slots)
        self.n_tables = slots.shape[0]
        self.fields = <Field*>malloc(n_levels * SHORT_TAGS * sizeof(Field))
        if self.fields == NULL:
            raise MemoryError
        for level in range(n_levels):
            fill_fields(
                <const Action*>self.actions,
                &(<const Level*>self.levels)[level],
                &self.fields[level * SHORT_TAGS],
            )

    def __dealloc__(self):
        free(self.actions)
        free(self.levels)
        free(self.slots)
        free(self.fields)

    def scan(self, const uint8_t[::1] data):
        """Scan a message.

        Returns:
            The columns of each table; or None if the message is broken.

        Raises:
            MemoryError: There is not enough.
        """
        cdef int64_t start = 0, length = data.shape[0]
        return self.scan_rows(data, &start, &length, 1)

    def scan_each(
        self, const uint8_t[::1] data, const int64_t[::1] start, const int64_t[::1] length
    ):
        """Scan messages that stand in a buffer; the root table has a row for each.

        Args:
            data: The buffer.
            start: First byte of each message.
            length: In bytes.

        Returns:
            The columns of each table; or None if a message is broken.

        Raises:
            ValueError: A message is not in the buffer.
            MemoryError: There is not enough.
        """
        cdef Py_ssize_t i
        if start.shape[0] != length.shape[0] or not start.shape[0]:
            raise ValueError("as many lengths as starts are needed, and one at least")
        for i in range(start.shape[0]):
            if start[i] < 0 or length[i] < 0 or start[i] > data.shape[0] - length[i]:
                raise ValueError("a message is not in the buffer")
        return self.scan_rows(data, &start[0], &length[0], start.shape[0])

    cdef list scan_rows(
        self,
        const uint8_t[::1] data,
        const int64_t* start,
        const int64_t* length,
        Py_ssize_t n_rows,
    ):
        cdef uint8_t nothing = 0
        cdef Scan state
        cdef Py_ssize_t i
        cdef int64_t row
        cdef const uint8_t* at
        cdef int outcome = 0
        state.data = &data[0] if data.shape[0] else &nothing
        state.first = state.data + start[0]
        state.last = state.data + start[n_rows - 1] + length[n_rows - 1]
        state.actions = <const Action*>self.actions
        state.levels = <const Level*>self.levels
        state.fields = self.fields
        state.lacks_memory = False
        state.tables = self.new_tables()
        try:
            with nogil:
                for i in range(n_rows):
                    at = state.data + start[i]
                    row = add_row(&state, 0, 0, at)
                    if row < 0 or walk(&state, 0, 0, row, at, at + length[i]) < 0:
                        outcome = -1
                        break
            if state.lacks_memory:
                raise MemoryError
            if outcome < 0:
                return None
            return [columns_of(&state.tables[i]) for i in range(self.n_tables)]
        finally:
            self.free_tables(state.tables)

    cdef Table* new_tables(self) except NULL:
        """Tables without rows."""
        cdef Py_ssize_t i
        cdef Table* tables = <Table*>calloc(self.n_tables, sizeof(Table))
        if tables == NULL:
            raise MemoryError
        for i in range(self.n_tables):
            tables[i].n_slots = self.slots[i]
            tables[i].slots = <int64_t**>calloc(self.slots[i], sizeof(int64_t*))
            if tables[i].slots == NULL:
                self.free_tables(tables)
                raise MemoryError
        return tables

    cdef void free_tables(self, Table* tables) noexcept:
        """With the columns that were not handed over."""
        cdef Py_ssize_t i
        cdef int64_t slot
        for i in range(self.n_tables):
            if tables[i].slots != NULL:
                for slot in range(tables[i].n_slots):
                    free(tables[i].slots[slot])
                free(tables[i].slots)
        free(tables)
