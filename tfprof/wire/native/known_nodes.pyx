# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""What a walk has found, in a hash table; ``interpreter/known_nodes.py`` has the Python of it."""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

cdef enum:
    FIRST_SLOTS = 1024


cdef struct Slot:
    int64_t sort
    int64_t inputs
    int64_t outcome  # + 1; 0 for an empty slot
    int64_t output


cdef class KnownNodes:
    """Number of an outcome by the sort of a node and what flows into it."""

    cdef Slot* slots
    cdef int64_t mask, count

    def __cinit__(self):
        self.mask = FIRST_SLOTS - 1
        self.slots = <Slot*>calloc(FIRST_SLOTS, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    cdef Slot* find(self, int64_t sort, int64_t inputs) noexcept nogil:
        """The slot of a key, or the one that it may take."""
        cdef uint64_t place = <uint64_t>sort * <uint64_t>0x9E3779B97F4A7C15 + <uint64_t>inputs
        place ^= place >> 32
        place *= <uint64_t>0xD6E8FEB86659FD93
        place = (place ^ (place >> 32)) & <uint64_t>self.mask
        while self.slots[place].outcome and not (
            self.slots[place].sort == sort and self.slots[place].inputs == inputs
        ):
            place = (place + 1) & <uint64_t>self.mask
        return &self.slots[place]

    def add(self, int64_t sort, int64_t inputs, int64_t outcome, int64_t output):
        """Enter the outcome of nodes like one, and the number of their first output."""
        cdef Slot* slot
        cdef Slot* old = self.slots
        cdef int64_t place, size = self.mask + 1
        if 2 * self.count >= size:
            slot = <Slot*>calloc(2 * size, sizeof(Slot))
            if slot == NULL:
                raise MemoryError
            self.slots, self.mask = slot, 2 * size - 1
            for place in range(size):
                if old[place].outcome:
                    self.find(old[place].sort, old[place].inputs)[0] = old[place]
            free(old)
        slot = self.find(sort, inputs)
        self.count += slot.outcome == 0
        slot.sort, slot.inputs, slot.outcome, slot.output = sort, inputs, outcome + 1, output


cdef class Walk:
    """A walk through nodes.

    Raises:
        ValueError: The columns do not fit each other.
    """

    cdef KnownNodes known
    cdef const int64_t[::1] places, sorts, first, second
    cdef int64_t[::1] ids, found
    cdef int64_t bits, unlike

    def __init__(
        self,
        KnownNodes known not None,
        const int64_t[::1] places,
        const int64_t[::1] sorts,
        const int64_t[::1] first,
        const int64_t[::1] second,
        int64_t[::1] ids,
        int64_t[::1] found,
        int64_t bits,
        int64_t unlike,
    ):
        cdef Py_ssize_t n = places.shape[0], size = ids.shape[0], node
        if sorts.shape[0] != n or first.shape[0] != n or second.shape[0] != n:
            raise ValueError("columns of different lengths")
        if size < found.shape[0] or not 0 <= bits < 62:
            raise ValueError("no such place")
        for node in range(n):
            if not (0 <= first[node] < size and 0 <= second[node] < size):
                raise ValueError("no such place")
            if not 0 <= places[node] < found.shape[0]:
                raise ValueError("no such place")
        self.known, self.places, self.sorts = known, places, sorts
        self.first, self.second, self.ids, self.found = first, second, ids, found
        self.bits, self.unlike = bits, unlike

    def advance(self, int64_t start):
        """Write down what is known of nodes, up to the first of which nothing is."""
        cdef int64_t node, a, b, n = self.places.shape[0]
        cdef Slot* slot
        if self.known is None or start < 0:
            raise ValueError("no such place")
        node = start
        while node < n:
            a, b = self.ids[self.first[node]], self.ids[self.second[node]]
            if a == self.unlike or b == self.unlike:
                break
            slot = self.known.find(self.sorts[node], (a << self.bits) + b)
            if slot.outcome == 0:
                break
            self.found[self.places[node]] = slot.outcome - 1
            self.ids[self.places[node]] = slot.output
            node += 1
        return node
